import type { SwapState } from "../../../domain/run/states.ts";
import { isFilled } from "../../../domain/run/states.ts";
import { DAY_MS, HOUR_MS } from "../../../domain/time/durations.ts";
import type { Statements } from "../statements.ts";
import { addSold } from "./sold-by-time.ts";

/** What is counted, see the table. */
type Kind = "sold" | "bought" | "paid" | "received" | "runs" | "swaps";

/** One running total. */
interface Total {
  readonly kind: Kind;
  readonly subject: string;
  readonly item: string;
  readonly source?: string;
}

/** A row of the ledger, as far as totals count it. */
export interface CountedMoney {
  readonly strategy: string;
  readonly token: string;
  readonly amount: string;
  readonly usd: string;
  readonly state: string;
  /** when it was spent or released; null while it is reserved */
  readonly settled_at_ms: number | null;
}

/** A swap, as far as totals count it. */
export interface CountedSwap {
  readonly id: string;
  readonly state: string;
  readonly wallet: string;
  readonly recipient: string;
  readonly sell_token: string;
  readonly buy_token: string;
  readonly sold: string | null;
  readonly bought: string | null;
}

/** The first instant at or after this one at which an hour, or a day, begins. */
function nextStart(atMs: number, lengthMs: number): number {
  return Math.ceil(atMs / lengthMs) * lengthMs;
}

/** Counts a row of the ledger that was written, in place of the one before it. */
export function countMoney(sql: Statements, before: CountedMoney | undefined, after: CountedMoney | undefined): void {
  const same = before?.strategy === after?.strategy && before?.token === after?.token;
  if (same && before !== undefined && after !== undefined) {
    const by = amountOf(after) - amountOf(before);
    add(sql, { kind: "sold", subject: after.strategy, item: after.token }, by);
  }
  for (const [row, sign] of [[before, -1n] as const, [after, 1n] as const]) {
    if (row === undefined) continue;
    if (!same) add(sql, { kind: "sold", subject: row.strategy, item: row.token }, sign * amountOf(row));
    if (row.state !== "spent" || row.settled_at_ms === null) continue;
    addUsd(sql, row.settled_at_ms, sign * BigInt(row.usd));
    addSold(sql, { ...row, atMs: row.settled_at_ms }, sign);
  }
}

function amountOf({ state, amount }: CountedMoney): bigint {
  return state === "released" ? 0n : BigInt(amount);
}

/** Counts a run's state that was written, in place of the one before it. */
export function countRun(sql: Statements, strategy: string, states: { before?: string; after: string }): void {
  if (states.before === states.after) return;
  if (states.before !== undefined) add(sql, { kind: "runs", subject: strategy, item: states.before }, -1n);
  add(sql, { kind: "runs", subject: strategy, item: states.after }, 1n);
}

/** Counts a swap of a strategy that was written, in place of the one before it. */
export function countSwap(
  sql: Statements,
  strategy: string,
  { before, after }: { before: CountedSwap | undefined; after: CountedSwap },
): void {
  if (before?.state !== after.state) {
    if (before !== undefined) add(sql, { kind: "swaps", subject: "", item: before.state }, -1n);
    add(sql, { kind: "swaps", subject: "", item: after.state }, 1n);
  }
  const old = before === undefined ? NOTHING : exchanged(before);
  const now = exchanged(after);
  const { wallet, recipient, sell_token, buy_token } = after;
  add(sql, { kind: "paid", subject: wallet, item: sell_token }, now.sold - old.sold);
  add(sql, { kind: "received", subject: recipient, item: buy_token, source: wallet }, now.bought - old.bought);
  add(sql, { kind: "bought", subject: strategy, item: buy_token }, now.bought - old.bought);
}

const NOTHING = { sold: 0n, bought: 0n } as const;

function exchanged({ state, sold, bought }: CountedSwap): { sold: bigint; bought: bigint } {
  return isFilled(state as SwapState) ? { sold: BigInt(sold ?? 0), bought: BigInt(bought ?? 0) } : NOTHING;
}

function add(sql: Statements, { kind, subject, item, source = "" }: Total, by: bigint): void {
  if (by === 0n) return;
  const known = sql.get<{ amount: string }>(
    "SELECT amount FROM totals WHERE kind = ? AND subject = ? AND item = ? AND source = ?",
    kind,
    subject,
    item,
    source,
  );
  sql.run(
    `INSERT INTO totals (kind, subject, item, source, amount) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (kind, subject, item, source) DO UPDATE SET amount = excluded.amount`,
    kind,
    subject,
    item,
    source,
    (BigInt(known?.amount ?? 0) + by).toString(),
  );
}

function addUsd(sql: Statements, atMs: number, by: bigint): void {
  if (by === 0n) return;
  const hourMs = atMs - (atMs % HOUR_MS);
  const hour = sql.get<{ usd: string }>("SELECT usd FROM sold_usd_hours WHERE hour_ms = ?", hourMs);
  sql.run(
    "INSERT INTO sold_usd_hours (hour_ms, usd) VALUES (?, ?) ON CONFLICT (hour_ms) DO UPDATE SET usd = excluded.usd",
    hourMs,
    (BigInt(hour?.usd ?? 0) + by).toString(),
  );
  const dayMs = atMs - (atMs % DAY_MS);
  const day = sql.get<{ usd: string }>("SELECT usd FROM sold_usd_days WHERE day_ms = ?", dayMs);
  sql.run(
    "INSERT INTO sold_usd_days (day_ms, usd) VALUES (?, ?) ON CONFLICT (day_ms) DO UPDATE SET usd = excluded.usd",
    dayMs,
    (BigInt(day?.usd ?? 0) + by).toString(),
  );
}

/** The last instant that a date can know. */
const LAST_MS = 8.64e15;

/** Lets the sales that are settled after an instant count from another one on. @returns how many, and the latest one's instant */
export function settleAnew(
  sql: Statements,
  { afterMs, atMs }: { readonly afterMs: number; readonly atMs: number },
): { readonly count: number; readonly latestMs: number } {
  const rows = settledAfter(sql, afterMs);
  for (const row of rows) {
    sql.run("UPDATE ledger SET settled_at_ms = ? WHERE swap_id = ?", atMs, row.swap_id);
    countMoney(sql, row, { ...row, settled_at_ms: atMs });
  }
  return changeOf(rows);
}

/** The sales that are settled after an instant: how many, and the latest one's instant. */
export function salesAhead(sql: Statements, afterMs: number): { readonly count: number; readonly latestMs: number } {
  return changeOf(settledAfter(sql, afterMs));
}

type SettledRow = CountedMoney & { readonly swap_id: string; readonly settled_at_ms: number };

function settledAfter(sql: Statements, afterMs: number): readonly SettledRow[] {
  return sql.all<SettledRow>(
    `SELECT swap_id, strategy, token, amount, usd, state, settled_at_ms FROM ledger
     WHERE state = 'spent' AND settled_at_ms > ? AND settled_at_ms < ?`,
    afterMs,
    LAST_MS,
  );
}

function changeOf(rows: readonly SettledRow[]): { readonly count: number; readonly latestMs: number } {
  return { count: rows.length, latestMs: rows.reduce((latest, row) => Math.max(latest, row.settled_at_ms), 0) };
}

/** A subject's totals of a kind: of each item, from all sources together. */
export function totalsOf(sql: Statements, kind: Kind, subject: string): ReadonlyMap<string, bigint> {
  const rows = sql.all<{ item: string; amount: string }>(
    "SELECT item, amount FROM totals WHERE kind = ? AND subject = ?",
    kind,
    subject,
  );
  const totals = new Map<string, bigint>();
  for (const { item, amount } of rows) totals.set(item, (totals.get(item) ?? 0n) + BigInt(amount));
  return totals;
}

/** The same of all subjects that have any, in one question: of thousands each by itself would take longer than all. */
export function totalsOfEach(sql: Statements, kind: Kind): ReadonlyMap<string, ReadonlyMap<string, bigint>> {
  const rows = sql.all<{ subject: string; item: string; amount: string }>(
    "SELECT subject, item, amount FROM totals WHERE kind = ?",
    kind,
  );
  const bySubject = new Map<string, Map<string, bigint>>();
  for (const { subject, item, amount } of rows) {
    const totals = bySubject.get(subject) ?? new Map<string, bigint>();
    bySubject.set(subject, totals.set(item, (totals.get(item) ?? 0n) + BigInt(amount)));
  }
  return bySubject;
}

/** How many runs of a strategy sold something. */
export function tradedRuns(sql: Statements, strategy: string): number {
  const runs = totalsOf(sql, "runs", strategy);
  return Number((runs.get("filled") ?? 0n) + (runs.get("partial") ?? 0n));
}

/** What swaps of wallets brought of a token, by wallet and recipient: as many rows as there are pairs. */
export function receivedOf(
  sql: Statements,
  token: string,
): readonly { readonly recipient: string; readonly wallet: string; readonly amount: bigint }[] {
  return sql
    .all<{ recipient: string; wallet: string; amount: string }>(
      "SELECT subject AS recipient, source AS wallet, amount FROM totals WHERE kind = 'received' AND item = ?",
      token,
    )
    .map((row) => ({ ...row, amount: BigInt(row.amount) }));
}

/**
 * Dollars (1e-18) sold since an instant and all that are reserved, without one swap: the rest of the hour that the instant
 * lies in from the rows, the rest of its day from the hours, and all that follows from the days. What is sold counts from
 * when it was seen to be: a swap may have been planned days before.
 */
export function soldUsdSince(sql: Statements, sinceMs: number, exceptSwapId: string): bigint {
  const fullHourMs = nextStart(sinceMs, HOUR_MS);
  const fullDayMs = nextStart(sinceMs, DAY_MS);
  const days = sql.column<string>("SELECT usd FROM sold_usd_days WHERE day_ms >= ?", fullDayMs);
  const hours = sql.column<string>(
    "SELECT usd FROM sold_usd_hours WHERE hour_ms >= ? AND hour_ms < ?",
    fullHourMs,
    fullDayMs,
  );
  const begun = sql.column<string>(
    "SELECT usd FROM ledger WHERE state = 'spent' AND settled_at_ms >= ? AND settled_at_ms < ?",
    sinceMs,
    fullHourMs,
  );
  const reserved = sql.column<string>("SELECT usd FROM ledger WHERE state = 'reserved'");
  const own = sql.get<CountedMoney>("SELECT * FROM ledger WHERE swap_id = ?", exceptSwapId);
  const isSold = own?.state === "spent" && own.settled_at_ms !== null && own.settled_at_ms >= sinceMs;
  let total = own !== undefined && (isSold || own.state === "reserved") ? -BigInt(own.usd) : 0n;
  for (const rows of [days, hours, begun, reserved]) for (const usd of rows) total += BigInt(usd);
  return total;
}
