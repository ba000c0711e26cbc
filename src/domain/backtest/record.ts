import type { Token } from "../money/token.ts";

/** What all accounts were worth at an instant, in dollars (1e-18), and what they began with would have been. */
export interface ValueSample {
  readonly atMs: number;
  readonly value: bigint;
  readonly held: bigint;
}

/** A fill with the reference prices of its decision. Amounts in smallest units, dollars scaled by 1e18. */
export interface RecordedFill {
  readonly atMs: number;
  readonly strategyId: string;
  readonly sell: Token;
  readonly buy: Token;
  readonly sold: bigint;
  readonly bought: bigint;
  readonly soldUsd: bigint;
  readonly boughtUsd: bigint;
  /** what the affiliate got of what was sold */
  readonly affiliateUsd: bigint;
  /** what the pool kept as its fee; the rest of the difference is what the trade itself moved */
  readonly feeUsd: bigint;
  readonly gasUsd: bigint;
  /** what is bought is counted as money, so that nothing is bought for it */
  readonly isExit: boolean;
}

/** How the slots of a strategy ended, by reason; `filled` and `partial` are among the words. */
export interface SlotCounts {
  readonly slots: number;
  readonly byEnd: ReadonlyMap<string, number>;
  /** it rebalances once weights leave their bands */
  readonly hasBands: boolean;
}

/** One slot of a strategy that buys one token with another: what one whole token cost then, by the reference. */
export interface SlotPrice {
  readonly atMs: number;
  /** of the bought token in the sold one, scaled by 1e18 */
  readonly price: bigint;
}

/** Everything that a backtest wrote down. */
export interface BacktestRecord {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly samples: readonly ValueSample[];
  readonly fills: readonly RecordedFill[];
  readonly slots: ReadonlyMap<string, SlotCounts>;
  readonly slotPrices: ReadonlyMap<string, readonly SlotPrice[]>;
}
