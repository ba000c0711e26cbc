import type { Address } from "../money/address.ts";
import type { Ppm } from "../money/fraction.ts";
import type { Token } from "../money/token.ts";
import type { Schedule } from "../schedule/schedule.ts";

/** Which execution mode a strategy wants: the relayer pays (`gasless`), or our own transaction does. */
export type GaslessChoice = "prefer" | "only" | "never";

/** An operator's limits for one strategy. Never looser than the owner's policy. */
export interface StrategyLimits {
  /** largest loss between quote and fill that the signature allows */
  readonly slippage: Ppm;
  /** largest difference between execution price and spot price */
  readonly priceImpact: Ppm;
  /** largest share of the trade's value that gas and service fees may take */
  readonly maxFee: Ppm;
  /** ceiling of the fee per gas in wei, for every replacement too */
  readonly maxFeePerGas: bigint;
}

/** An affiliate of the swap and its share of the sold amount. */
export interface Affiliate {
  readonly address: Address;
  readonly fee: Ppm;
}

/** What every strategy has. `id` is the file's name and lasts for ever. */
export interface StrategyCommon {
  readonly id: string;
  /** name of the wallet in the configuration, and its address */
  readonly wallet: { readonly name: string; readonly address: Address };
  readonly schedule: Schedule;
  readonly limits: StrategyLimits;
  readonly gasless: GaslessChoice;
  readonly recipient: Address;
  readonly affiliate: Affiliate | undefined;
  readonly enableRfq: boolean;
  /** how long after the slot an attempt that signed nothing may be repeated */
  readonly retryForSeconds: number;
}

/** Dollar-cost averaging: sells a fixed amount at each slot until the budget is used up. */
export interface DcaSpec extends StrategyCommon {
  readonly kind: "dca";
  readonly sell: { readonly token: Token; readonly raw: bigint };
  readonly buy: Token;
  /** total of the sold token over the strategy's life, in its smallest unit */
  readonly budget: { readonly total: bigint } | undefined;
}

/** Keeps a mix of tokens at target weights, which sum to one whole. */
export interface RebalanceSpec extends StrategyCommon {
  readonly kind: "rebalance";
  /** the unit of account, and the token that sells bring and buys spend */
  readonly quote: Token;
  readonly targets: readonly { readonly token: Token; readonly weight: Ppm }[];
  /** how far a weight may drift before anything is traded; at least one is set */
  readonly bands: { readonly relative: Ppm | undefined; readonly absolute: Ppm | undefined };
  /** smallest trade, in the quote token's smallest unit */
  readonly trades: { readonly min: bigint };
}

/** A price in units of `per`'s quote: `raw` smallest units of `quote` for one whole token `of`. */
export interface TriggerPrice {
  readonly quote: Token;
  readonly raw: bigint;
}

/** Sells once when a price crosses a level, and again only after it was re-armed. */
export interface ThresholdSpec extends StrategyCommon {
  readonly kind: "threshold";
  /** the sold token and how much: a fixed amount, or a share of the free balance */
  readonly sell: { readonly token: Token; readonly amount: { readonly raw: bigint } | { readonly share: Ppm } };
  readonly buy: Token;
  /** the token whose price is watched: the one of the pair that is not the trigger's quote token */
  readonly watch: Token;
  readonly when: { readonly crosses: "above" | "below"; readonly price: TriggerPrice };
  readonly ifAlreadyTrue: "wait" | "fire";
  /** undefined: fires once in its life */
  readonly rearm: { readonly price: TriggerPrice; readonly cooldownSeconds: number } | undefined;
}

/** What a strategy file says, checked, with its tokens resolved. */
export type StrategySpec = DcaSpec | RebalanceSpec | ThresholdSpec;
