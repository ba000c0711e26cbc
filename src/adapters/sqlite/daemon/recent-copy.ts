import { CEILING_WINDOWS_MS } from "../../../domain/guard/policy.ts";
import { DAY_MS, HOUR_MS } from "../../../domain/time/durations.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";
import { BUSY_SWAPS, OPEN_INTENTS, OPEN_RUNS, UNSETTLED_SWAPS } from "../index-conditions.ts";

const NONE = "false";

/**
 * What of each table that grows is still asked about, found by an index. Every other table is copied whole. What ceilings
 * count is in sums by the hour and day, but for the rest of the hour in which their windows begin.
 */
const RECENT: Readonly<Record<string, string>> = {
  runs: `id IN (
    SELECT id FROM runs WHERE ${OPEN_RUNS}
    UNION ALL SELECT runs.id FROM strategies CROSS JOIN runs ON runs.strategy = strategies.id
      WHERE runs.state = 'failed' AND runs.ended_at_ms >= @failedMs
    UNION ALL SELECT run_id FROM swaps WHERE ${UNSETTLED_SWAPS})`,
  swaps: `id IN (
    SELECT id FROM swaps WHERE ${UNSETTLED_SWAPS}
    UNION ALL SELECT id FROM swaps WHERE ${BUSY_SWAPS}
    UNION ALL SELECT swaps.id FROM runs JOIN swaps ON swaps.run_id = runs.id WHERE runs.${OPEN_RUNS})`,
  ledger: `swap_id IN (
    SELECT swap_id FROM ledger WHERE state = 'reserved'
    UNION ALL SELECT swap_id FROM ledger WHERE state = 'spent' AND settled_at_ms >= @monthMs AND settled_at_ms < @monthEdgeMs
    UNION ALL SELECT swap_id FROM ledger WHERE state = 'spent' AND settled_at_ms >= @dayMs AND settled_at_ms < @dayEdgeMs)`,
  capabilities: "live = 1",
  lane_intents: OPEN_INTENTS,
  ...{ transitions: NONE, effects: NONE, signatures: NONE, checks: NONE, gaps: NONE, requests: NONE, retries: NONE },
  ...{
    daemon_events: NONE,
    alerts: NONE,
    alert_deliveries: NONE,
    lane_attempts: NONE,
    lane_signings: NONE,
    lane_transitions: NONE,
  },
  ...{ lane_costs: NONE, lane_cancel_wishes: NONE, steps: NONE, step_settings: NONE, archives: NONE },
  archive_bases: NONE,
  paper_transactions: "block IS NULL",
};

/** Work on the copy may take time: the windows move on meanwhile. */
const EDGE_MS = 3 * HOUR_MS;
/** Failures are counted within what the policy says. */
const FAILURES_MS = 31 * DAY_MS;

/** The values that the conditions name. */
function edgesOf(nowMs: number): Readonly<Record<string, number>> {
  const { day, month } = CEILING_WINDOWS_MS;
  const [dayMs, monthMs] = [nowMs - day, nowMs - month];
  return { dayMs, monthMs, failedMs: nowMs - FAILURES_MS, dayEdgeMs: dayMs + EDGE_MS, monthEdgeMs: monthMs + EDGE_MS };
}

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
    source.transaction(() => copyAll(source, target, edgesOf(nowMs)))();
  })();
  target.pragma("foreign_keys = ON");
}

function copyAll(source: SqliteDatabase, target: SqliteDatabase, edges: Readonly<Record<string, number>>): void {
  const schema = source
    .prepare<[], Schema>(
      "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    )
    .all();
  for (const { type, name, sql } of schema) {
    if (type !== "table") continue;
    target.exec(sql);
    copyRows(source, target, { table: name, edges });
  }
  // Indexes are quicker to build at once, and triggers guard what the program writes, not a copy.
  for (const { type, sql } of schema) if (type !== "table") target.exec(sql);
}

function copyRows(
  source: SqliteDatabase,
  target: SqliteDatabase,
  { table, edges }: { readonly table: string; readonly edges: Readonly<Record<string, number>> },
): void {
  const condition = RECENT[table] ?? "true";
  if (condition === NONE) return;
  const select = source.prepare<unknown[], Record<string, unknown>>(`SELECT * FROM "${table}" WHERE ${condition}`);
  const names = select.columns().map(({ name }) => name);
  const places = names.map(() => "?").join(", ");
  const insert = target.prepare(
    `INSERT INTO "${table}" (${names.map((name) => `"${name}"`).join(", ")}) VALUES (${places})`,
  );
  const values = Object.fromEntries(Object.entries(edges).filter(([name]) => condition.includes(`@${name}`)));
  for (const row of Object.keys(values).length === 0 ? select.iterate() : select.iterate(values)) {
    insert.run(...names.map((name) => row[name]));
  }
}
