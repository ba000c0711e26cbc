/** One source's price of a token: dollars scaled by 1e18 as text, and Unix seconds by the source's own clock. */
export interface PriceHistory {
  readonly usd: string;
  readonly source: string;
  readonly atSeconds: number;
}

/** What a swap was worth when it was cleared for signing. */
export interface PricesHistory {
  readonly readAtMs: number;
  readonly sold: PriceHistory | null;
  readonly bought: PriceHistory | null;
  readonly native: PriceHistory | null;
  /** absent in rows of before it was kept */
  readonly expected?: ExpectedHistory;
}

/** What a swap would come to by its quote, as decimal text: smallest units, gas in wei, impact in parts per million. */
export interface ExpectedHistory {
  readonly bought: string;
  readonly amountOutMin: string;
  readonly swapFee: string;
  readonly affiliateFee: string;
  readonly gasCost: string;
  readonly priceImpact?: string;
}

/** What a transaction of the account cost, for a swap: the swap itself, an approval, a revocation, or what failed of them. */
export interface CostHistory {
  readonly purpose: string;
  /** `cancel`: the nonce was taken by an empty transaction to oneself */
  readonly kind: string;
  /** `private`: it was sent to endpoints for private sending alone */
  readonly visibility: string;
  readonly hash: string;
  readonly succeeded: boolean;
  readonly blockNumber: number;
  readonly blockTimeSeconds: number;
  readonly gasUsed: string;
  /** wei per gas, decimal text */
  readonly gasPrice: string;
  /** wei that a rollup charged on top of gas; null: its receipt reports none */
  readonly dataFee: string | null;
}

/** A swap as the history shows it. Amounts are decimal text in the token's smallest unit. */
export interface SwapHistory {
  readonly id: string;
  readonly state: string;
  readonly reason: string | null;
  readonly mode: string | null;
  readonly wallet: string;
  readonly sell: { readonly symbol: string; readonly address: string; readonly decimals: number };
  readonly buy: { readonly symbol: string; readonly address: string; readonly decimals: number };
  readonly gross: string | null;
  readonly sold: string | null;
  readonly bought: string | null;
  readonly hash: string | null;
  readonly blockNumber: number | null;
  readonly blockTimeSeconds: number | null;
  /** what the service kept for itself and its relayer, and what the affiliate got: of the sold token */
  readonly fees: { readonly swap: string | null; readonly affiliate: string | null };
  readonly prices: PricesHistory | null;
  readonly costs: readonly CostHistory[];
  readonly quoteId: string | null;
  readonly recipient: string;
  /** what was signed: its nonce, and until when it can be filled; null before a signature */
  readonly nonce: string | null;
  readonly deadlineSeconds: number | null;
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

/** A move of a run or of one of its swaps. */
export interface TransitionHistory {
  readonly subject: string;
  readonly id: string;
  readonly from: string | null;
  readonly to: string;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly atMs: number;
}

/** Slots of a strategy of which no run is kept, one after the other. */
export interface GapHistory {
  readonly strategy: string;
  readonly firstSlotMs: number;
  readonly lastSlotMs: number;
  readonly count: number;
  readonly reason: string;
  /** how the runs of these slots ended, of which this is what is kept; null: the slots got no run */
  readonly state: string | null;
}

/** A check as it was made, for the question why. */
export interface CheckHistory {
  readonly swapId: string;
  readonly atMs: number;
  readonly code: string;
  readonly passed: boolean;
  readonly value: string;
  readonly limit: string;
}

/** Why a run asked again: so often in a row for one reason, with the words of the last time. */
export interface RetryHistory {
  /** null before the run had swaps */
  readonly swapId: string | null;
  readonly reason: string;
  readonly detail: string;
  readonly count: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  readonly nextAtMs: number;
}

/** One signed version of a transaction, as it is shown. Fees are decimal text in wei per gas, instants Unix milliseconds. */
export interface AttemptHistory {
  readonly hash: string;
  readonly kind: string;
  /** `private`: it is sent to endpoints for private sending alone */
  readonly visibility: string;
  readonly state: string;
  readonly maxFeePerGas: string;
  readonly maxPriorityFeePerGas: string;
  readonly signedAtMs: number;
}

/** What must happen with one nonce, as it is shown. */
export interface IntentHistory {
  readonly id: string;
  readonly account: string;
  readonly purpose: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly nonce: number | null;
  readonly to: string;
  readonly value: string;
  readonly maxFeePerGasCap: string;
  readonly createdAtMs: number;
  readonly minedBlockNumber: number | null;
  /** who asked for its cancellation */
  readonly cancelledBy: string | null;
  readonly attempts: readonly AttemptHistory[];
}

/** An account that signs nothing until a person releases it. */
export interface HaltHistory {
  readonly account: string;
  readonly reason: string;
  readonly atMs: number;
}
