import type { Address } from "../../../src/domain/money/address.ts";
import { isRelay } from "../world/relays.ts";
import type { SignatureBook, SignedTransaction } from "../world/signatures.ts";
import type { Rows } from "./rows.ts";
import type { Report } from "./signing.ts";

interface ShownSwap {
  readonly body: string;
  readonly amount_out_min: string | null;
  readonly before: string | null;
}

/** The swap of a transaction or of its approval, and how the last attempt at its place that signed its order ended. */
const SHOWN = `SELECT swap.body, swap.amount_out_min, (
    SELECT coalesce(nullif(state, 'skipped'), CASE WHEN reason = 'approval_failed' THEN 'cancelled' END)
    FROM swaps WHERE run_id = swap.run_id AND position = swap.position AND attempt < swap.attempt
      AND (state = 'cancelled' OR reason = 'approval_failed') LIMIT 1
  ) AS before
  FROM lane_attempts attempt JOIN swaps swap ON attempt.intent_id LIKE swap.id || '.%' WHERE attempt.raw = ?`;

export interface PrivacyOracle {
  sent(raw: string, host: string): void;
  /** so many transactions were sent to private endpoints */
  readonly count: number;
}

/**
 * Judges to whom bytes leave. What was for private endpoints, resent or raised, in this life or another one, reaches no
 * other one; at its nonce only an empty cancellation may.
 */
export function createPrivacyOracle(parts: {
  readonly book: SignatureBook;
  readonly rows: Rows;
  readonly wallet: Address;
  /** no life of this world shows anything to everybody that is not empty */
  readonly isAlwaysPrivate: boolean;
  /** the most slippage of an order that everybody sees after a private one came into no block; undefined: there is none */
  readonly mostShown: bigint | undefined;
  report: Report;
}): PrivacyOracle {
  const { book, rows, wallet, report } = parts;
  const hidden = new Set<string>();
  /** orders that were sent privately: what they do, at their nonce */
  const orders = new Set<string>();
  const isEmpty = ({ to, data, value }: SignedTransaction): boolean => to === wallet && data === "0x" && value === 0n;
  const orderOf = ({ nonce, to, data, value }: SignedTransaction): string => `${nonce} ${to} ${value} ${data}`;

  /** Whether it is an order of its own, tighter, at a place whose private one can never happen any more. */
  const isFallback = (raw: string): boolean => {
    const swap = rows.one<ShownSwap>(SHOWN, raw);
    if (parts.mostShown === undefined || swap === undefined) return false;
    const { fallback, quote } = JSON.parse(swap.body) as {
      fallback?: unknown;
      quote?: { amountOut: { $bigint: string } };
    };
    if (fallback === undefined || swap.before !== "cancelled") return false;
    const least = (BigInt(quote?.amountOut.$bigint ?? 0) * (1_000_000n - parts.mostShown)) / 1_000_000n;
    return swap.amount_out_min === null || BigInt(swap.amount_out_min) >= least;
  };
  const judgeShown = (signed: SignedTransaction): void => {
    const { raw, nonce } = signed;
    if (hidden.has(raw)) report("S17", `bytes of nonce ${nonce} that were private are shown to everybody`);
    else if (orders.has(orderOf(signed))) report("S17", `the private order of nonce ${nonce} is shown with other fees`);
    else if (parts.isAlwaysPrivate && !isFallback(raw))
      report("S17", `nonce ${nonce} is shown to everybody, and nothing is to be`);
  };
  return {
    get count() {
      return hidden.size;
    },
    sent: (raw, host) => {
      const signed = book.transactions.get(raw);
      if (signed === undefined) return;
      const written = rows.one<{ visibility: string }>("SELECT visibility FROM lane_attempts WHERE raw = ?", raw);
      const reached = isRelay(host) ? "private" : "public";
      if (written !== undefined && written.visibility !== reached)
        report("S17", `nonce ${signed.nonce} is ${written.visibility} and was sent to ${host}`);
      if (isRelay(host)) {
        hidden.add(raw);
        if (!isEmpty(signed)) orders.add(orderOf(signed));
      } else if (!isEmpty(signed) || hidden.has(raw)) judgeShown(signed);
    },
  };
}
