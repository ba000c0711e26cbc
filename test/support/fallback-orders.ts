/** The swap of a transaction or of its approval, and how the last attempt at its place that signed its order ended. */
export const SHOWN_ORDER = `SELECT swap.body, swap.amount_out_min, (
    SELECT coalesce(nullif(state, 'skipped'), CASE WHEN reason = 'approval_failed' THEN 'cancelled' END)
    FROM swaps WHERE run_id = swap.run_id AND position = swap.position AND attempt < swap.attempt
      AND (state = 'cancelled' OR reason = 'approval_failed') LIMIT 1
  ) AS before
  FROM lane_attempts attempt JOIN swaps swap ON attempt.intent_id LIKE swap.id || '.%' WHERE attempt.raw = ?`;

/** A row of `SHOWN_ORDER`. */
export interface ShownOrder {
  readonly body: string;
  readonly amount_out_min: string | null;
  readonly before: string | null;
}

/**
 * Whether it is an order of its own, tighter, at a place whose private one can never happen any more.
 * @param mostPpm the most slippage that such an order may have
 */
export function isFallbackOrder({ body, amount_out_min: least, before }: ShownOrder, mostPpm: bigint): boolean {
  const { fallback, quote } = JSON.parse(body) as { fallback?: unknown; quote?: { amountOut: { $bigint: string } } };
  if (fallback === undefined || before !== "cancelled") return false;
  const tightest = (BigInt(quote?.amountOut.$bigint ?? 0) * (1_000_000n - mostPpm)) / 1_000_000n;
  return least === null || BigInt(least) >= tightest;
}
