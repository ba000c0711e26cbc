import { type Address, toAddress } from "../../../domain/money/address.ts";
import type { SoldSince } from "../../../domain/strategy/budget.ts";
import { DAY_MS, MINUTE_MS } from "../../../domain/time/durations.ts";
import type { Statements } from "../statements.ts";

/** Every zone's midnight is the beginning of one of these. */
const QUARTER_MS = 15 * MINUTE_MS;

/** The length of the time that holds all sales. */
const EVER_MS = 0;

/** A sale that was seen to be at an instant. Amounts as decimal text. */
interface Sale {
  readonly strategy: string;
  readonly token: string;
  readonly amount: string;
  readonly usd: string;
  readonly atMs: number;
}

type Sum = Omit<Sale, "strategy" | "atMs">;

/** Counts a sale in the quarter of an hour and the day in which it was seen to be, and over the strategy's life. */
export function addSold(sql: Statements, sale: Sale, sign: bigint): void {
  const { strategy, token, amount, usd, atMs } = sale;
  for (const lengthMs of [QUARTER_MS, DAY_MS, EVER_MS]) {
    const startMs = lengthMs === EVER_MS ? 0 : atMs - (atMs % lengthMs);
    const place = [strategy, lengthMs, startMs, token] as const;
    const known = sql.get<Sum>(
      "SELECT token, amount, usd FROM sold_by_time WHERE strategy = ? AND length_ms = ? AND start_ms = ? AND token = ?",
      ...place,
    );
    sql.run(
      `INSERT INTO sold_by_time (strategy, length_ms, start_ms, token, amount, usd) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (strategy, length_ms, start_ms, token) DO UPDATE SET amount = excluded.amount, usd = excluded.usd`,
      ...place,
      (BigInt(known?.amount ?? 0) + sign * BigInt(amount)).toString(),
      (BigInt(known?.usd ?? 0) + sign * BigInt(usd)).toString(),
    );
  }
}

/**
 * What a strategy sold since an instant, by when it was seen to be, and all that it has reserved, without one swap. The
 * quarter of an hour that the instant lies in counts whole. What a person accepted counts from when he did.
 */
export function soldBySince(
  sql: Statements,
  strategy: string,
  { sinceMs, exceptSwapId }: { readonly sinceMs: number; readonly exceptSwapId: string },
): SoldSince {
  const rows = [
    ...(sinceMs <= 0 ? soldEver(sql, strategy) : soldFrom(sql, strategy, sinceMs)),
    ...sql.all<Sum>(
      `SELECT token, amount, usd FROM ledger INDEXED BY ledger_reserved_by_strategy
       WHERE strategy = ? AND state = 'reserved' AND swap_id <> ?`,
      strategy,
      exceptSwapId,
    ),
    ...accepted(sql, strategy, sinceMs),
  ];
  const sold = new Map<Address, bigint>();
  for (const { token, amount } of rows) {
    const address = toAddress(token);
    sold.set(address, (sold.get(address) ?? 0n) + BigInt(amount));
  }
  const own = spentBy(sql, { sinceMs, exceptSwapId });
  if (own !== undefined) {
    const address = toAddress(own.token);
    sold.set(address, (sold.get(address) ?? 0n) - BigInt(own.amount));
  }
  return { sold, usd: rows.reduce((sum, { usd }) => sum + BigInt(usd), 0n) - BigInt(own?.usd ?? 0) };
}

function soldEver(sql: Statements, strategy: string): readonly Sum[] {
  return sql.all<Sum>(
    "SELECT token, amount, usd FROM sold_by_time WHERE strategy = ? AND length_ms = ?",
    strategy,
    EVER_MS,
  );
}

/** Quarters of an hour up to the first whole day, and all days from there on. */
function soldFrom(sql: Statements, strategy: string, sinceMs: number): readonly Sum[] {
  const firstDayMs = Math.ceil(sinceMs / DAY_MS) * DAY_MS;
  const between = (lengthMs: number, fromMs: number, untilMs: number): readonly Sum[] =>
    sql.all<Sum>(
      `SELECT token, amount, usd FROM sold_by_time
       WHERE strategy = ? AND length_ms = ? AND start_ms >= ? AND start_ms < ?`,
      strategy,
      lengthMs,
      fromMs,
      untilMs,
    );
  return [
    ...between(QUARTER_MS, sinceMs - (sinceMs % QUARTER_MS), firstDayMs),
    ...between(DAY_MS, firstDayMs, Number.MAX_SAFE_INTEGER),
  ];
}

/** The swap that is left out, where it is among the sales: a fork may have taken it back since. */
function spentBy(
  sql: Statements,
  { sinceMs, exceptSwapId }: { readonly sinceMs: number; readonly exceptSwapId: string },
): Sum | undefined {
  if (exceptSwapId === "") return undefined;
  return sql.get<Sum>(
    "SELECT token, amount, usd FROM ledger WHERE swap_id = ? AND state = 'spent' AND settled_at_ms >= ?",
    exceptSwapId,
    sinceMs - (sinceMs % QUARTER_MS),
  );
}

/**
 * Fills that a person accepted as the strategy's own, in the time of their block, where it is known; nobody knows what they
 * were worth in dollars.
 */
function accepted(sql: Statements, strategy: string, sinceMs: number): readonly Sum[] {
  return sql.all<Sum>(
    `SELECT accepted_sales.token, amount, '0' AS usd FROM accepted_sales JOIN differences ON differences.id = difference_id
     WHERE strategy = ? AND coalesce(CAST(json_extract(facts, '$.atMs') AS INTEGER), settled_at_ms, 0) >= ?`,
    strategy,
    sinceMs,
  );
}
