import type { Address } from "../../../domain/money/address.ts";
import type { Transition } from "../../../domain/run/records.ts";
import { type Run, swapOf } from "../../../domain/run/run.ts";
import { isRunEnd, type SwapState } from "../../../domain/run/states.ts";
import { OPEN_RUNS, UNSETTLED_SWAPS } from "../index-conditions.ts";
import type { Statements } from "../statements.ts";
import { decodeRun, decodeSwap, encodeSwap, type RunColumns, type SwapColumns } from "./codec.ts";
import type { EffectRows } from "./effect-rows.ts";
import { decodePrices } from "./price-codec.ts";
import type { RowStore, RunStore } from "./row-store.ts";
import { NO_RUN_MEMORY, type ReadRun, type RunMemory } from "./run-memory.ts";
import { writeStep } from "./step-rows.ts";
import { type CountedSwap, countRun, countSwap } from "./total-rows.ts";

type OtherRows =
  | WaitingRows
  | "saveRun"
  | "addStep"
  | "clearancePrices"
  | "swapState"
  | "hashOfOther"
  | "filledBeside"
  | "intendedSignature";

const SWAP_COLUMNS = [
  "id",
  "run_id",
  "position",
  "attempt",
  "state",
  "reason",
  "mode",
  "wallet",
  "recipient",
  "sell_token",
  "sell_symbol",
  "sell_decimals",
  "buy_token",
  "buy_symbol",
  "buy_decimals",
  "amount_in",
  "amount_out_min",
  "quote_id",
  "intent_id",
  "nonce",
  "deadline_seconds",
  "hash",
  "block_number",
  "sold",
  "bought",
  "block_time_seconds",
  "swap_fee",
  "affiliate_fee",
  "body",
];

const SAVE_SWAP = `INSERT INTO swaps (${SWAP_COLUMNS.join(", ")}, created_at_ms, updated_at_ms)
  VALUES (${SWAP_COLUMNS.map((name) => `@${name}`).join(", ")}, @at_ms, @at_ms)
  ON CONFLICT (id) DO UPDATE SET ${SWAP_COLUMNS.filter((name) => name !== "id")
    .map((name) => `${name} = excluded.${name}`)
    .join(", ")}, updated_at_ms = excluded.updated_at_ms`;

/** Not all columns: routes are long, and of no use to a step. */
const SWAPS_OF_RUN = `SELECT id, run_id, position, attempt, state, reason, mode, wallet, recipient, sell_token,
    sell_symbol, sell_decimals, buy_token, buy_symbol, buy_decimals, amount_in, intent_id, body
  FROM swaps WHERE run_id = ? ORDER BY position, attempt`;

/** The first condition is there for the index. */
const WITHOUT_RECEIPT = `SELECT id FROM swaps WHERE ${UNSETTLED_SWAPS}
  AND state IN ('signed', 'submitted', 'unknown')`;

/** Both parts begin with the condition of an index on what is open. */
const OPEN_WORK = `SELECT runs.id AS runId, runs.strategy, swaps.id AS swapId, swaps.state, swaps.wallet
    FROM swaps JOIN runs ON runs.id = swaps.run_id
    WHERE swaps.${UNSETTLED_SWAPS}
  UNION SELECT runs.id, runs.strategy, swaps.id, coalesce(swaps.state, runs.state), swaps.wallet
    FROM runs LEFT JOIN swaps ON swaps.run_id = runs.id
      AND swaps.state NOT IN ('final', 'skipped', 'denied', 'reverted', 'expired', 'cancelled')
    WHERE runs.${OPEN_RUNS}`;

const SIDES = "run_id, id, wallet, sell_token, recipient, buy_token";

/** Our own transactions fill nothing else; a proposal to a Safe is none. */
const FILLED_BESIDE = `SELECT run_id AS runId, id FROM (
    SELECT ${SIDES} FROM swaps WHERE hash = ?
    UNION ALL SELECT ${SIDES} FROM swaps WHERE ${UNSETTLED_SWAPS} AND hash IS NULL AND intent_id IS NULL)
  WHERE id <> ? AND ((wallet = ? AND sell_token = ?) OR (recipient = ? AND buy_token = ?) OR (recipient = ? AND buy_token = ?)
    OR (wallet = ? AND sell_token = ?))`;

/** Not that of a transition which went with its run. */
const NEXT_NUMBER =
  "(SELECT max(newest, ifnull((SELECT id FROM transitions ORDER BY id DESC LIMIT 1), 0)) + 1 FROM transitions_gone)";

/** Rows of runs, swaps and transitions. */
export function createRunRows(
  sql: Statements,
  memory: RunMemory = NO_RUN_MEMORY,
): Omit<RunStore, keyof EffectRows> & Pick<RowStore, OtherRows> {
  const addTransition = (transition: Transition, atMs: number): void => {
    sql.run(
      `INSERT INTO transitions (id, subject, subject_id, from_state, to_state, reason, detail, at_ms)
       VALUES (${NEXT_NUMBER}, ?, ?, ?, ?, ?, ?, ?)`,
      transition.subject,
      transition.subjectId,
      transition.from ?? null,
      transition.to,
      transition.reason ?? null,
      transition.detail ?? null,
      atMs,
    );
  };
  return {
    insertRun: (run, atMs) => {
      if (!insertRun(sql, run, atMs)) return false;
      countRun(sql, run.strategyId, { after: run.state });
      addTransition(firstTransition(run), atMs);
      return true;
    },
    run: (id) => memory.read(id, () => loadRun(sql, id)),
    saveRun: (run, transitions, atMs, before) => {
      memory.forget(run.id);
      insertNewSwaps(sql, run, { transitions, atMs });
      for (const transition of transitions) addTransition(transition, atMs);
      saveRun(sql, run, atMs, before);
    },
    addStep: (runId, step) => writeStep(sql, runId, step),
    ...createWaitingRows(sql),
    swapState: (swapId) => sql.get<{ state: SwapState }>("SELECT state FROM swaps WHERE id = ?", swapId)?.state,
    clearancePrices: (swapId) => {
      const row = sql.get<{ text: string | null }>("SELECT price_evidence AS text FROM swaps WHERE id = ?", swapId);
      return typeof row?.text === "string" ? decodePrices(row.text) : undefined;
    },
    runOfIntent: (intentId) => runOfIntent(sql, intentId),
    hashOfOther: (hash, { id, wallet, token }) =>
      sql.get(
        `SELECT 1 FROM swaps WHERE hash = ? AND id <> ? AND
           ((wallet = ? AND sell_token = ?) OR (mode = 'self-executed' AND intent_id IS NOT NULL))`,
        ...[hash, id, wallet, token],
      ) !== undefined || sql.get("SELECT 1 FROM lane_attempts WHERE hash = ?", hash) !== undefined,
    filledBeside: (id, hash, { wallet, sell, recipient, buy }) =>
      sql.all(FILLED_BESIDE, ...[hash, id, wallet, sell, recipient, buy, wallet, sell, recipient, buy]),
    intendedSignature: (digest) =>
      sql.get<{ typed_data: string }>("SELECT typed_data FROM signatures WHERE digest = ?", digest)?.typed_data,
  };
}

type WaitingRows = "dueRuns" | "hasOpenRun" | "strategiesWithOpenRun" | "unsettledSwaps" | "openWork" | "slotsWithRun";

/** What is not over. */
function createWaitingRows(sql: Statements): Pick<RowStore, WaitingRows> {
  return {
    dueRuns: (limit) =>
      sql
        .all<{ id: string }>("SELECT id FROM runs WHERE state = 'due' ORDER BY slot_ms, id LIMIT ?", limit)
        .map((row) => row.id),
    slotsWithRun: (strategyId, fromMs) =>
      sql.column<number>(
        // Few lie ahead of the last handled one.
        "SELECT slot_ms FROM runs WHERE strategy = ? AND slot_ms >= ? ORDER BY slot_ms LIMIT 1000",
        strategyId,
        fromMs,
      ),
    hasOpenRun: (strategyId) =>
      sql.get(
        // The sign keeps SQLite on the index of open runs: a strategy has had as many as the other one has entries.
        `SELECT 1 FROM runs WHERE +strategy = ? AND ${OPEN_RUNS}`,
        strategyId,
      ) !== undefined,
    strategiesWithOpenRun: () => {
      const rows = sql.all<{ strategy: string }>(`SELECT DISTINCT strategy FROM runs WHERE ${OPEN_RUNS}`);
      return new Set(rows.map((row) => row.strategy));
    },
    unsettledSwaps: () => sql.all<{ id: string }>(WITHOUT_RECEIPT).map((row) => row.id),
    openWork: () =>
      sql
        .all<{ runId: string; strategy: string; swapId: string | null; state: string; wallet: Address | null }>(
          OPEN_WORK,
        )
        .map((row) => ({ ...row, swapId: row.swapId ?? undefined, wallet: row.wallet ?? undefined })),
  };
}

/** @returns false when the slot has its run already */
function insertRun(sql: Statements, run: Run, atMs: number): boolean {
  const inserted = sql.run(
    `INSERT INTO runs (id, strategy, slot_ms, slots, state, reason, detail, spec_hash, window_ends_ms, created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (strategy, slot_ms) DO NOTHING`,
    run.id,
    run.strategyId,
    run.slotMs,
    run.slots,
    run.state,
    run.reason ?? null,
    run.detail ?? null,
    run.specHash,
    run.windowEndsMs,
    atMs,
  );
  return inserted > 0;
}

function firstTransition(run: Run): Transition {
  return { subject: "run", subjectId: run.id, from: undefined, to: run.state, reason: run.reason, detail: run.detail };
}

/** About; the bodies are what may be long. */
const CHARACTERS_OF_COLUMNS = 1_000;

function loadRun(sql: Statements, id: string): ReadRun | undefined {
  const row = sql.get<RunColumns & { readonly archive?: number | null }>("SELECT * FROM runs WHERE id = ?", id);
  if (row === undefined) return undefined;
  // An archived run has its end: it is asked for by its name alone, and its swaps are no rows any more that a step could read.
  const swaps = typeof row.archive === "number" ? [] : sql.all<SwapColumns>(SWAPS_OF_RUN, id);
  const length = swaps.reduce((sum, { body }) => sum + body.length, CHARACTERS_OF_COLUMNS);
  return { run: decodeRun(row, swaps.map(decodeSwap)), length };
}

/** As they began: what became of them in the same step is in the transitions, which are written before the states. */
function insertNewSwaps(
  sql: Statements,
  run: Run,
  step: { readonly transitions: readonly Transition[]; readonly atMs: number },
): void {
  for (const { subject, subjectId, from, to } of step.transitions) {
    if (subject !== "swap" || from !== undefined) continue;
    saveSwap(sql, run, { columns: { ...encodeSwap(swapOf(run, subjectId)), state: to }, atMs: step.atMs });
  }
}

const COUNTED = "SELECT id, state, wallet, recipient, sell_token, buy_token, sold, bought FROM swaps WHERE id = ?";

/** Writes a swap's row, and what totals count of it. */
function saveSwap(
  sql: Statements,
  run: Run,
  { columns, atMs }: { readonly columns: ReturnType<typeof encodeSwap>; readonly atMs: number },
): void {
  countSwap(sql, run.strategyId, { before: sql.get<CountedSwap>(COUNTED, columns.id), after: columns });
  sql.named(SAVE_SWAP, { ...columns, at_ms: atMs });
}

function saveRun(sql: Statements, run: Run, atMs: number, before: Run | undefined): void {
  const known = sql.get<{ state: string }>("SELECT state FROM runs WHERE id = ?", run.id)?.state;
  if (known !== undefined) countRun(sql, run.strategyId, { before: known, after: run.state });
  // A run that has ended is saved again while its swaps become final: the instant of its end stays.
  sql.run(
    "UPDATE runs SET state = ?, reason = ?, detail = ?, retries = ?, ended_at_ms = iif(?, coalesce(ended_at_ms, ?), NULL) WHERE id = ?",
    run.state,
    run.reason ?? null,
    run.detail ?? null,
    run.retries,
    isRunEnd(run.state) ? 1 : 0,
    atMs,
    run.id,
  );
  for (const swap of run.swaps) {
    if (before?.swaps.includes(swap) !== true) saveSwap(sql, run, { columns: encodeSwap(swap), atMs });
  }
}

/** Intents are named after their swap: `<swap>.swap`, `<swap>.approve1`, `<swap>.revoke1`. */
function runOfIntent(sql: Statements, intentId: string): { runId: string; swapId: string } | undefined {
  const swapId = intentId.slice(0, intentId.lastIndexOf("."));
  const row = sql.get<{ run_id: string }>("SELECT run_id FROM swaps WHERE id = ?", swapId);
  return row === undefined ? undefined : { runId: row.run_id, swapId };
}
