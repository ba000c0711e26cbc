import type { HaltHistory } from "../../../ports/history.ts";
import type { ChannelStatus, ModeStatus, StrategyStatus, UnsentAlert } from "../../../ports/read-model.ts";
import type { AlertCount, OpenAlert, TrueAlert } from "../../../ports/true-alerts.ts";
import { hasTable, type Statements } from "../statements.ts";
import { totalsOf, totalsOfEach } from "./total-rows.ts";

/** Reports how the daemon is. */
export interface StatusReader {
  strategies(): readonly StrategyStatus[];
  swapStates(): Readonly<Record<string, number>>;
  modes(): readonly ModeStatus[];
  /** accounts that sign nothing until a person releases them */
  halts(): readonly HaltHistory[];
  /** alerts that wait to be sent, or were never taken and are still true, the newest first */
  unsentAlerts(): readonly UnsentAlert[];
  /** channels as the newest start found them, by name */
  channels(): readonly ChannelStatus[];
  /** critical alerts that are true now, oldest first */
  trueAlerts(): readonly TrueAlert[];
  /** what is true now, whatever its severity: what is critical first, then oldest first; at most a hundred */
  openAlerts(): readonly OpenAlert[];
  /** how much of each kind is true now */
  alertCounts(): readonly AlertCount[];
  wallets(): readonly string[];
  /** what the wall clock last did, in words; undefined where none of the last events is of it */
  lastClockJump(): { readonly text: string; readonly atMs: number } | undefined;
  /** the mode with which the newest life began; undefined once it wrote that it stopped, as a killed one never does */
  startedMode(): string | undefined;
  lastEvent(): { readonly kind: string; readonly detail: string; readonly atMs: number } | undefined;
}

/** Opens the part of the reading side that reports how the daemon is. */
export function createStatusReader(sql: Statements): StatusReader {
  return {
    strategies: () => {
      const runsOf = runsByStrategy(sql);
      return sql
        .all<{ id: string; kind: string; last_slot_ms: number; memory: string }>(
          "SELECT id, kind, last_slot_ms, memory FROM strategies ORDER BY id",
        )
        .map((row) => ({
          id: row.id,
          kind: row.kind,
          lastSlotMs: row.last_slot_ms,
          memory: row.memory,
          runs: runsOf(row.id),
        }));
    },
    swapStates: () => (hasTable(sql, "totals") ? byState(totalsOf(sql, "swaps", "")) : countRows(sql, "swaps", "")),
    modes: () =>
      sql.all(
        "SELECT scope, mode, set_by AS setBy, reason, at_ms AS atMs FROM modes WHERE mode <> 'active' ORDER BY scope",
      ),
    halts: () =>
      sql.all("SELECT account, reason, at_ms AS atMs FROM lane_halts WHERE released_at_ms IS NULL ORDER BY account"),
    unsentAlerts: () => unsentAlerts(sql),
    channels: () => channels(sql),
    trueAlerts: () => trueAlerts(sql),
    openAlerts: () => openAlerts(sql),
    alertCounts: () => alertCounts(sql),
    lastClockJump: () => sql.get(LAST_CLOCK_JUMP),
    wallets: () => sql.all<{ wallet: string }>("SELECT DISTINCT wallet FROM baselines").map((row) => row.wallet),
    startedMode: () => {
      const newest = sql.get<{ kind: string; detail: string }>(
        "SELECT kind, detail FROM daemon_events WHERE kind IN ('started', 'stopped') ORDER BY id DESC LIMIT 1",
      );
      return newest?.kind === "started" ? newest.detail : undefined;
    },
    lastEvent: () => sql.get("SELECT kind, detail, at_ms AS atMs FROM daemon_events ORDER BY id DESC LIMIT 1"),
  };
}

/** Among the last thousand events: the table grows with every start, and most databases know no jump. */
const LAST_CLOCK_JUMP = `SELECT detail AS text, at_ms AS atMs FROM daemon_events WHERE kind = 'clock-jump'
  AND id > (SELECT id FROM daemon_events ORDER BY id DESC LIMIT 1) - 1000 ORDER BY id DESC LIMIT 1`;

/** What is critical first: a list has an end, and hundreds of warnings must not push it out. */
function openAlerts(sql: Statements): readonly OpenAlert[] {
  if (!hasTable(sql, "alerts")) return [];
  return sql.all(
    `SELECT severity, code, subject, text, strategy, raised_at_ms AS raisedAtMs FROM alerts
     WHERE over_at_ms IS NULL ORDER BY severity = 'critical' DESC, number LIMIT 100`,
  );
}

function alertCounts(sql: Statements): readonly AlertCount[] {
  if (!hasTable(sql, "alerts")) return [];
  return sql.all(
    `SELECT severity, code, count(*) AS count FROM alerts WHERE over_at_ms IS NULL
     GROUP BY severity, code ORDER BY severity, code`,
  );
}

function trueAlerts(sql: Statements): readonly TrueAlert[] {
  if (!hasTable(sql, "alerts")) return [];
  return sql.all(
    `SELECT code, subject, text, strategy, raised_at_ms AS raisedAtMs FROM alerts
     WHERE over_at_ms IS NULL AND severity = 'critical' ORDER BY number LIMIT 100`,
  );
}

const UNSENT = "state = 'waiting' OR (state = 'given-up' AND over_at_ms IS NULL) ORDER BY number DESC LIMIT 1000";

function unsentAlerts(sql: Statements): readonly UnsentAlert[] {
  if (!hasTable(sql, "alerts")) return [];
  // A database that no daemon of this release has opened yet knows one channel.
  const from = hasTable(sql, "alert_deliveries")
    ? `SELECT channel, tells, code, alerts.subject, state, attempts, outcome, raised_at_ms, over_at_ms, sent.number
       FROM alert_deliveries AS sent JOIN alerts ON alerts.number = sent.alert`
    : "SELECT 'webhook' AS channel, 'begin' AS tells, * FROM alerts";
  return sql.all(
    `SELECT channel, tells, code, subject, state, attempts, outcome, raised_at_ms AS raisedAtMs
     FROM (${from}) WHERE ${UNSENT}`,
  );
}

function channels(sql: Statements): readonly ChannelStatus[] {
  if (!hasTable(sql, "alert_channels")) return [];
  return sql
    .all<Omit<ChannelStatus, "isBehind"> & { attempts: number | null }>(
      `SELECT name, count(waits.number) AS waiting, min(raised_at_ms) AS sinceMs, max(attempts) AS attempts,
         (SELECT outcome FROM alert_deliveries WHERE channel = name AND state <> 'sent' AND outcome IS NOT NULL
          ORDER BY number DESC LIMIT 1) AS outcome
       FROM alert_channels LEFT JOIN alert_deliveries AS waits ON waits.channel = name AND waits.state = 'waiting'
         LEFT JOIN alerts ON alerts.number = waits.alert
       GROUP BY name ORDER BY name`,
    )
    .map(({ attempts, ...channel }) => ({ ...channel, isBehind: (attempts ?? 0) > 0 }));
}

/** How many runs of a strategy are in which state. */
function runsByStrategy(sql: Statements): (strategy: string) => Record<string, number> {
  if (!hasTable(sql, "totals")) return (strategy) => countRows(sql, "runs", strategy);
  const totals = totalsOfEach(sql, "runs");
  return (strategy) => byState(totals.get(strategy) ?? new Map());
}

function byState(totals: ReadonlyMap<string, bigint>): Record<string, number> {
  const states = [...totals].filter(([, count]) => count !== 0n).sort();
  return Object.fromEntries(states.map(([state, count]) => [state, Number(count)]));
}

/** The same of a database that no daemon of this release has opened yet. */
function countRows(sql: Statements, kind: "runs" | "swaps", subject: string): Record<string, number> {
  const rows =
    kind === "swaps"
      ? sql.all<StateCount>("SELECT state, count(*) AS count FROM swaps GROUP BY state")
      : sql.all<StateCount>("SELECT state, count(*) AS count FROM runs WHERE strategy = ? GROUP BY state", subject);
  return Object.fromEntries(rows.map((row) => [row.state, row.count]));
}

interface StateCount {
  readonly state: string;
  readonly count: number;
}
