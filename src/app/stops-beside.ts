import { existsSync } from "node:fs";
import { systemClock } from "../adapters/clock/system-clock.ts";
import { openStore } from "../adapters/sqlite/daemon/open-store.ts";
import { besideOf } from "../config/build-paper.ts";
import type { Configuration } from "../config/configuration.ts";
import { GLOBAL_SCOPE, type ModeRow } from "../domain/run/operating-mode.ts";
import { claimDaemonDatabase, openDaemonDatabase } from "./daemon-database.ts";
import { readStops, stricterThan } from "./stops.ts";

/** Who sets modes by what money on paper came to: that says nothing of money. */
const BY_PAPER: ReadonlySet<string> = new Set(["strategy", "policy"]);

/**
 * What people stopped in the database of paper of the same main file, which trades once it is live.
 * @returns undefined where that database cannot be read
 */
export async function readStopsBeside({
  database,
  strategies,
}: Pick<Configuration, "database" | "strategies">): Promise<readonly ModeRow[] | undefined> {
  const beside = besideOf(database);
  if (!existsSync(beside)) return [];
  const rows = await readStops(beside);
  const scopes = new Set([GLOBAL_SCOPE, ...strategies.map(({ spec }) => spec.id)]);
  return rows?.filter(({ scope, setBy }) => scopes.has(scope) && !BY_PAPER.has(setBy));
}

/**
 * Writes stops into a database, made where there is none, as far as its own modes are not as strict.
 * @throws CommandFailure when a daemon has it
 */
export async function carryStops(database: string, stops: readonly ModeRow[]): Promise<void> {
  if (stops.length === 0) return;
  const claim = claimDaemonDatabase(database);
  try {
    const db = openDaemonDatabase(claim.file);
    try {
      const decide = (own: readonly ModeRow[]) => ({
        changes: stricterThan(stops, own).map((row) => ({ kind: "mode-corrected", row }) as const),
        atMs: systemClock.nowMs(),
        value: undefined,
      });
      await openStore(db).commit([{ question: { kind: "modes" } as const, decide }]);
    } finally {
      db.close();
    }
  } finally {
    claim.release();
  }
}
