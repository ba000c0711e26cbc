import type { SqliteDatabase } from "../../../storage/database.ts";

/** Ceilings look back thirty days. */
const LOOK_BACK_MS = 31 * 86_400_000;

const IS_OPEN = "state IN ('due', 'deciding', 'executing', 'parked')";
const NONE = "false";

/** What of each table that grows is still asked about; `@since` is an instant. Every other table is copied whole. */
const RECENT: Readonly<Record<string, string>> = {
  runs: `${IS_OPEN} OR (state = 'failed' AND ended_at_ms >= @since)
    OR id IN (SELECT run_id FROM swaps WHERE state IN ('signed', 'submitted', 'mined', 'confirmed', 'unknown'))`,
  swaps: `state IN ('quoted', 'cleared', 'approving', 'signed', 'submitted', 'mined', 'confirmed', 'unknown')
    OR run_id IN (SELECT id FROM runs WHERE ${IS_OPEN})`,
  ledger: "state = 'reserved' OR reserved_at_ms >= @since",
  capabilities: "live = 1",
  lane_intents: "state IN ('planned', 'signed', 'broadcast', 'mined', 'confirmed')",
  ...{ transitions: NONE, effects: NONE, signatures: NONE, checks: NONE, gaps: NONE, requests: NONE, retries: NONE },
  ...{ daemon_events: NONE, alerts: NONE, lane_attempts: NONE, lane_signings: NONE, lane_transitions: NONE },
  ...{ lane_costs: NONE, lane_cancel_wishes: NONE },
};

interface Schema {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

/**
 * Copies what a decision asks about into an empty database: what is open, what ceilings count, all running totals and
 * memories; no history, and nothing that a lane could go on from. A copy of a year of it would take seconds, for nothing.
 */
export function copyRecent(source: SqliteDatabase, target: SqliteDatabase, nowMs: number): void {
  target.pragma("foreign_keys = OFF");
  target.transaction(() => {
    // One read transaction: a commit of the daemon in between is seen whole or not at all.
    source.transaction(() => copyAll(source, target, nowMs - LOOK_BACK_MS))();
  })();
  target.pragma("foreign_keys = ON");
}

function copyAll(source: SqliteDatabase, target: SqliteDatabase, sinceMs: number): void {
  const schema = source
    .prepare<[], Schema>(
      "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    )
    .all();
  for (const { type, name, sql } of schema) {
    if (type !== "table") continue;
    target.exec(sql);
    copyRows(source, target, { table: name, sinceMs });
  }
  // Indexes are quicker to build at once, and triggers guard what the program writes, not a copy.
  for (const { type, sql } of schema) if (type !== "table") target.exec(sql);
}

function copyRows(
  source: SqliteDatabase,
  target: SqliteDatabase,
  { table, sinceMs }: { readonly table: string; readonly sinceMs: number },
): void {
  const condition = RECENT[table] ?? "true";
  if (condition === NONE) return;
  const select = source.prepare<unknown[], Record<string, unknown>>(`SELECT * FROM "${table}" WHERE ${condition}`);
  const names = select.columns().map(({ name }) => name);
  const places = names.map(() => "?").join(", ");
  const insert = target.prepare(
    `INSERT INTO "${table}" (${names.map((name) => `"${name}"`).join(", ")}) VALUES (${places})`,
  );
  for (const row of condition.includes("@since") ? select.iterate({ since: sinceMs }) : select.iterate()) {
    insert.run(...names.map((name) => row[name]));
  }
}
