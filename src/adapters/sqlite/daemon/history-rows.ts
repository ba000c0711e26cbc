import type { SqliteDatabase } from "../../../storage/database.ts";
import { prepareStatements, type SqlValue, type Statements } from "../statements.ts";

/** A swap as the history shows it. Amounts are decimal text in the token's smallest unit. */
export interface SwapHistory {
  readonly id: string;
  readonly state: string;
  readonly reason: string | null;
  readonly mode: string | null;
  readonly sell: { readonly symbol: string; readonly address: string; readonly decimals: number };
  readonly buy: { readonly symbol: string; readonly address: string; readonly decimals: number };
  readonly amountIn: string | null;
  readonly sold: string | null;
  readonly bought: string | null;
  readonly hash: string | null;
  readonly blockNumber: number | null;
  readonly quoteId: string | null;
  readonly recipient: string;
  readonly distributions: string | null;
  readonly serviceRecord: string | null;
}

/** A run with its swaps, newest first in lists. Instants are Unix milliseconds. */
export interface RunHistory {
  readonly id: string;
  readonly strategy: string;
  readonly slotMs: number;
  readonly state: string;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly endedAtMs: number | null;
  readonly swaps: readonly SwapHistory[];
}

export interface TransitionHistory {
  readonly subject: string;
  readonly id: string;
  readonly from: string | null;
  readonly to: string;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly atMs: number;
}

export interface CheckHistory {
  readonly swapId: string;
  readonly atMs: number;
  readonly code: string;
  readonly passed: boolean;
  readonly value: string;
  readonly limit: string;
}

export interface GapHistory {
  readonly strategy: string;
  readonly firstSlotMs: number;
  readonly lastSlotMs: number;
  readonly count: number;
  readonly reason: string;
}

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

/** Reads what happened, from a database that another process may be writing. */
export interface HistoryReader {
  runs(filter: { strategy?: string; limit: number }): readonly RunHistory[];
  run(id: string): RunHistory | undefined;
  /** the run that a swap belongs to */
  runOfSwap(swapId: string): RunHistory | undefined;
  /** the run of a slot nearest before an instant */
  runAt(strategy: string, atMs: number): RunHistory | undefined;
  transitions(subjectIds: readonly string[]): readonly TransitionHistory[];
  checks(swapId: string): readonly CheckHistory[];
  gaps(strategy?: string): readonly GapHistory[];
  strategies(): readonly StrategyStatus[];
  swapStates(): Readonly<Record<string, number>>;
  modes(): readonly { scope: string; mode: string; setBy: string; reason: string; atMs: number }[];
  /** accounts that sign nothing until a person releases them */
  halts(): readonly { account: string; reason: string; atMs: number }[];
  /** alerts that wait to be sent, or were never taken and are still true, the newest first */
  unsentAlerts(): readonly UnsentAlert[];
  /** what wakes somebody up and is true now, oldest first */
  trueAlerts(): readonly TrueAlert[];
  wallets(): readonly string[];
  lastEvent(): { readonly kind: string; readonly atMs: number } | undefined;
}

interface RunRow {
  id: string;
  strategy: string;
  slot_ms: number;
  state: string;
  reason: string | null;
  detail: string | null;
  ended_at_ms: number | null;
}

/** Opens the reading side on an open database. */
export function createHistoryReader(db: SqliteDatabase): HistoryReader {
  const sql = prepareStatements(db);
  const runsWhere = (condition: string, ...values: SqlValue[]): readonly RunHistory[] =>
    sql.all<RunRow>(`SELECT * FROM runs WHERE ${condition}`, ...values).map((row) => withSwaps(sql, row));
  return {
    runs: ({ strategy, limit }) =>
      strategy === undefined
        ? runsWhere("true ORDER BY slot_ms DESC, id DESC LIMIT ?", limit)
        : runsWhere("strategy = ? ORDER BY slot_ms DESC, id DESC LIMIT ?", strategy, limit),
    run: (id) => runsWhere("id = ?", id)[0],
    runOfSwap: (swapId) => runsWhere("id = (SELECT run_id FROM swaps WHERE id = ?)", swapId)[0],
    runAt: (strategy, atMs) =>
      runsWhere("strategy = ? AND slot_ms <= ? ORDER BY slot_ms DESC LIMIT 1", strategy, atMs)[0],
    transitions: (subjectIds) =>
      sql.all<TransitionHistory>(
        `SELECT subject, subject_id AS id, from_state AS "from", to_state AS "to", reason, detail, at_ms AS atMs
         FROM transitions WHERE subject_id IN (SELECT value FROM json_each(?)) ORDER BY transitions.id`,
        JSON.stringify(subjectIds),
      ),
    checks: (swapId) =>
      sql
        .all<Omit<CheckHistory, "passed"> & { passed: number }>(
          `SELECT swap_id AS swapId, at_ms AS atMs, code, passed, value, bound AS "limit" FROM checks
           WHERE swap_id = ? AND at_ms = (SELECT max(at_ms) FROM checks WHERE swap_id = ?) ORDER BY position`,
          swapId,
          swapId,
        )
        .map((row) => ({ ...row, passed: row.passed === 1 })),
    gaps: (strategy) =>
      sql.all<GapHistory>(
        `SELECT strategy, first_slot_ms AS firstSlotMs, last_slot_ms AS lastSlotMs, count, reason FROM gaps
         WHERE ? IS NULL OR strategy = ? ORDER BY first_slot_ms DESC LIMIT 1000`,
        strategy ?? null,
        strategy ?? null,
      ),
    ...createStatusReader(sql),
  };
}

type StatusReader = Pick<
  HistoryReader,
  "strategies" | "swapStates" | "modes" | "halts" | "unsentAlerts" | "trueAlerts" | "wallets" | "lastEvent"
>;

function createStatusReader(sql: Statements): StatusReader {
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

/** A database that no daemon of this release has opened yet has no such table. */
function hasAlerts(sql: Statements): boolean {
  return sql.get("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'alerts'") !== undefined;
}

function trueAlerts(sql: Statements): readonly TrueAlert[] {
  if (!hasAlerts(sql)) return [];
  return sql.all(
    `SELECT code, subject, text, strategy, raised_at_ms AS raisedAtMs FROM alerts
     WHERE over_at_ms IS NULL AND severity = 'critical' ORDER BY number LIMIT 100`,
  );
}

function unsentAlerts(sql: Statements): readonly UnsentAlert[] {
  if (!hasAlerts(sql)) return [];
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

interface SwapRow {
  id: string;
  state: string;
  reason: string | null;
  mode: string | null;
  sell_symbol: string;
  sell_token: string;
  sell_decimals: number;
  buy_symbol: string;
  buy_token: string;
  buy_decimals: number;
  amount_in: string | null;
  sold: string | null;
  bought: string | null;
  hash: string | null;
  block_number: number | null;
  quote_id: string | null;
  recipient: string;
  distributions: string | null;
  service_record: string | null;
}

function withSwaps(sql: Statements, run: RunRow): RunHistory {
  const swaps = sql.all<SwapRow>("SELECT * FROM swaps WHERE run_id = ? ORDER BY position, attempt", run.id);
  return {
    id: run.id,
    strategy: run.strategy,
    slotMs: run.slot_ms,
    state: run.state,
    reason: run.reason,
    detail: run.detail,
    endedAtMs: run.ended_at_ms,
    swaps: swaps.map((row) => ({
      id: row.id,
      state: row.state,
      reason: row.reason,
      mode: row.mode,
      sell: { symbol: row.sell_symbol, address: row.sell_token, decimals: row.sell_decimals },
      buy: { symbol: row.buy_symbol, address: row.buy_token, decimals: row.buy_decimals },
      amountIn: row.amount_in,
      sold: row.sold,
      bought: row.bought,
      hash: row.hash,
      blockNumber: row.block_number,
      quoteId: row.quote_id,
      recipient: row.recipient,
      distributions: row.distributions,
      serviceRecord: row.service_record,
    })),
  };
}
