import { createReadModel } from "../adapters/sqlite/daemon/read-model.ts";
import type { Configuration } from "../config/configuration.ts";
import type { Clock } from "../ports/clock.ts";
import type { ReadModel } from "../ports/read-model.ts";
import { openDatabase } from "../storage/database.ts";
import { CommandFailure } from "./exit-codes.ts";
import type { Terminal } from "./terminal.ts";

/** A node that is far away answers hundreds of calls in it. */
const BEGINS_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 250;

/** Whom strategies are asked to run of. */
export interface RunNow {
  /** has the daemon run a strategy in place of its next slot; rejects with a CommandFailure where it is refused */
  ask(strategy: string): Promise<unknown>;
  readonly terminal: Pick<Terminal, "out">;
  readonly clock: Pick<Clock, "monotonicMs" | "sleep">;
  /** aborts when the rehearsal ends: nothing is asked then */
  readonly signal: AbortSignal;
}

/**
 * A rehearsal does not wait for Monday: each strategy runs once as soon as the daemon has begun and checked its wallets,
 * before which it would refuse. What it refuses then, or after a minute, is said, and its own slots come all the same.
 */
export async function runEachOnce({ strategies, database }: Configuration, now: RunNow): Promise<void> {
  const ids = strategies.map(({ spec }) => spec.id);
  await untilBegun(ids, database, now);
  for (const id of ids) {
    if (now.signal.aborted) return;
    try {
      await now.ask(id);
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      now.terminal.out(`${id} does not run now: ${error.message}`);
    }
  }
}

async function untilBegun(ids: readonly string[], database: string, { clock, signal }: RunNow): Promise<void> {
  const untilMs = clock.monotonicMs() + BEGINS_WITHIN_MS;
  const db = openDatabase({ file: database, readonly: true });
  try {
    const reads = createReadModel(db);
    while (!signal.aborted && clock.monotonicMs() < untilMs && !(await hasBegun(ids, reads)))
      await clock.sleep(LOOK_EVERY_MS, signal);
  } finally {
    db.close();
  }
}

/** Strategies stand in the rows once the daemon has begun, and by then it is noted there which wallets are unchecked. */
async function hasBegun(ids: readonly string[], reads: ReadModel): Promise<boolean> {
  const nothingSold = { daySinceMs: 0, monthSinceMs: 0, budgets: [] };
  const { strategies, standing } = await reads.status({ strategyIds: ids, wallets: [], ...nothingSold });
  const known = new Set(strategies.map(({ id }) => id));
  const isUnchecked = standing?.differences.some(({ kind }) => kind === "unchecked") === true;
  return ids.every((id) => known.has(id)) && !isUnchecked;
}
