import type { SqlValue, Statements } from "../statements.ts";
import type { HistoryReader } from "./history-rows.ts";
import { hasTable } from "./history-swaps.ts";

export interface StrategyStatus {
  readonly id: string;
  readonly kind: string;
  readonly lastSlotMs: number;
  readonly runs: Readonly<Record<string, number>>;
  readonly memory: string;
}

/** An alert that its receiver has not taken; `given-up`: it will not be asked again. */
export interface UnsentAlert {
  readonly code: string;
  readonly subject: string;
  readonly state: "waiting" | "given-up";
  readonly attempts: number;
  /** what came of the last attempt */
  readonly outcome: string | null;
  readonly raisedAtMs: number;
}

/** A critical alert that is still true. */
export interface TrueAlert {
  readonly code: string;
  readonly subject: string;
  readonly text: string;
  readonly strategy: string | null;
  readonly raisedAtMs: number;
}

type StatusReader = Pick<
  HistoryReader,
  "strategies" | "swapStates" | "modes" | "halts" | "unsentAlerts" | "trueAlerts" | "wallets" | "lastEvent"
>;

/** The part of the reading side that tells how the daemon is. */
export function createStatusReader(sql: Statements): StatusReader {
  return {
    strategies: () =>
      sql
        .all<{ id: string; kind: string; last_slot_ms: number; memory: string }>(
          "SELECT id, kind, last_slot_ms, memory FROM strategies ORDER BY id",
        )
        .map((row) => ({
          id: row.id,
          kind: row.kind,
          lastSlotMs: row.last_slot_ms,
          memory: row.memory,
          runs: countBy(sql, "SELECT state, count(*) AS count FROM runs WHERE strategy = ? GROUP BY state", row.id),
        })),
    swapStates: () => countBy(sql, "SELECT state, count(*) AS count FROM swaps GROUP BY state"),
    modes: () =>
      sql.all(
        "SELECT scope, mode, set_by AS setBy, reason, at_ms AS atMs FROM modes WHERE mode <> 'active' ORDER BY scope",
      ),
    halts: () =>
      sql.all("SELECT account, reason, at_ms AS atMs FROM lane_halts WHERE released_at_ms IS NULL ORDER BY account"),
    unsentAlerts: () => unsentAlerts(sql),
    trueAlerts: () => trueAlerts(sql),
    wallets: () => sql.all<{ wallet: string }>("SELECT DISTINCT wallet FROM baselines").map((row) => row.wallet),
    lastEvent: () => sql.get("SELECT kind, at_ms AS atMs FROM daemon_events ORDER BY id DESC LIMIT 1"),
  };
}

function trueAlerts(sql: Statements): readonly TrueAlert[] {
  if (!hasTable(sql, "alerts")) return [];
  return sql.all(
    `SELECT code, subject, text, strategy, raised_at_ms AS raisedAtMs FROM alerts
     WHERE over_at_ms IS NULL AND severity = 'critical' ORDER BY number LIMIT 100`,
  );
}

function unsentAlerts(sql: Statements): readonly UnsentAlert[] {
  if (!hasTable(sql, "alerts")) return [];
  return sql.all(
    `SELECT code, subject, state, attempts, outcome, raised_at_ms AS raisedAtMs FROM alerts
     WHERE state = 'waiting' OR (state = 'given-up' AND over_at_ms IS NULL) ORDER BY number DESC LIMIT 1000`,
  );
}

function countBy(sql: Statements, query: string, ...values: SqlValue[]): Record<string, number> {
  return Object.fromEntries(
    sql.all<{ state: string; count: number }>(query, ...values).map((row) => [row.state, row.count]),
  );
}
