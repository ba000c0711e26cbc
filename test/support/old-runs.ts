import { expect } from "vitest";
import { createHistoryReader } from "../../src/adapters/sqlite/daemon/history-rows.ts";
import type { DaemonStore } from "../../src/adapters/sqlite/daemon/store.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import type { EngineSettings } from "../../src/engine/engine-context.ts";
import type { RetentionSlice } from "../../src/ports/retention-store.ts";
import type { SqliteDatabase } from "../../src/storage/database.ts";
import { SLOT_MS, USDC, WETH } from "./builders.ts";
import type { Hear } from "./courses.ts";
import { createOutside, type Life, type Outside, openLife, turn } from "./engine-life.ts";

/** Beyond every instant of a test. */
const FAR_MS = 5_000_000_000_000;

/** Lets go of everything that is over, as if it were years ago. @returns how many runs became gaps, and were archived */
export function letAllGo(
  store: DaemonStore,
  change: Partial<RetentionSlice> = {},
): { pruned: number; archived: number } {
  const went = { pruned: 0, archived: 0 };
  let after: RetentionSlice["after"];
  do {
    const turn = { unsignedBeforeMs: FAR_MS, signedBeforeMs: FAR_MS, nowMs: FAR_MS, after, mayGoOn: () => true };
    const result = store.transaction(() => store.letGo({ ...turn, ...change }));
    went.pruned += result.pruned;
    went.archived += result.archived;
    after = result.last;
  } while (after !== undefined);
  return went;
}

/** Everything that people are notified of each run, by its id: history, moves, checks, retries. */
export function reportedOfRuns(db: SqliteDatabase): Readonly<Record<string, unknown>> {
  const reader = createHistoryReader(db);
  const ids = db.prepare<[], string>("SELECT id FROM runs ORDER BY slot_ms, id").pluck().all();
  return Object.fromEntries(
    ids.map((id) => {
      const run = reader.run(id);
      const swaps = run?.swaps.map((swap) => swap.id) ?? [];
      return [
        id,
        {
          run,
          bySwaps: swaps.map((swap) => reader.runOfSwap(swap)),
          transitions: reader.transitions([id, ...swaps]),
          checks: swaps.map((swap) => reader.checks(swap)),
          retries: reader.retries(id),
        },
      ];
    }),
  );
}

/** A slot a minute. */
export const EVERY_MINUTE = { kind: "every", seconds: 60, anchorSeconds: 0 } as const;
const SELLS_WETH = { sell: { token: WETH, raw: 10n ** 17n }, buy: USDC, schedule: EVERY_MINUTE };

/** Minutes of a strategy, with what a course brings upon its first run. */
export async function live(
  change: Record<string, unknown>,
  begin: (outside: Outside) => Hear = () => () => undefined,
  { seconds = 280, settings = {} }: { readonly seconds?: number; readonly settings?: Partial<EngineSettings> } = {},
): Promise<{ outside: Outside; life: Life }> {
  const outside = createOutside(SLOT_MS - 1_500, { ...SELLS_WETH, ...change } as Partial<StrategySpec>);
  const hear = begin(outside);
  const life: Life = openLife(outside, {
    settings,
    killAt: (label) => {
      hear(label, life);
      return false;
    },
  });
  await life.engine.start();
  await turn(outside, life, seconds);
  expect(life.errors).toEqual([]);
  return { outside, life };
}
