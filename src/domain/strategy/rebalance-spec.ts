import type { Ppm } from "../money/fraction.ts";
import type { UsdPrice } from "../money/price.ts";
import type { Token } from "../money/token.ts";
import type { StrategyCommon } from "./common.ts";
import type { WatchedHolder } from "./decision.ts";

/** How far a weight may drift: in points of weight, in relation to its target, or both. */
export interface Band {
  readonly absolute: Ppm | undefined;
  readonly relative: Ppm | undefined;
}

/** One token of the mix with the bands that hold for it. */
export interface RebalanceTarget {
  readonly token: Token;
  readonly weight: Ppm;
  /** sell all of it; its weight is zero */
  readonly exit: boolean;
  readonly soft: Band | undefined;
  readonly hard: Band | undefined;
  /** the same coin in its other form: it counts, one for one, and is never traded; absent: the token alone */
  readonly with?: readonly Token[] | undefined;
}

/** When a weight outside its band is traded. */
export interface BandRules {
  /** with both measures in one band: whether `any` of them suffices, or `all` must be exceeded */
  readonly trigger: "any" | "all";
  readonly soft: { readonly forSeconds: number; readonly cooldownSeconds: number };
  readonly hard: { readonly forSeconds: number };
  /** longer than this without a check, and a confirmation begins anew */
  readonly maxGapSeconds: number;
}

/** Where a rebalance stops. */
export type Destination =
  /** at the targets, all of them */
  | { readonly to: "target" }
  /** inside the band of each weight that left it, this share of the band's width away from its edge */
  | { readonly to: "edge"; readonly inward: Ppm }
  /** this share of the way to the targets */
  | { readonly to: "fraction"; readonly share: Ppm };

/** How a rebalance trades. */
export interface RebalanceTrades {
  /** smallest trade, in the quote token's smallest unit */
  readonly min: bigint;
  /** most of one token that one rebalance sells or buys, in dollars: what the owner's policy lets through */
  readonly maxUsd: UsdPrice | undefined;
  readonly maxTurnover: { readonly perDay: Ppm | undefined; readonly perRun: Ppm | undefined };
  /** over `via`: all sells before all buys, or each buy right behind the sell that pays for it */
  readonly order: "sells-first" | "pair-by-pair";
  /** a token that every swap goes over; undefined swaps directly */
  readonly via: Token | undefined;
  /** how long a buy that spends what a sell brought may be tried */
  readonly legTimeoutSeconds: number;
  /** after a sell without its buy: wait for a person, or go on buying at the next slots */
  readonly onIncomplete: "hold" | "retry";
}

/** What of the mix lies elsewhere: it counts for the weights, and is never traded. */
export interface ExternalHoldings {
  /** looked at in the same block as the wallet */
  readonly watched: readonly WatchedHolder[];
  /** amounts as the file says them, in the token's smallest unit */
  readonly stated: readonly { readonly token: Token; readonly raw: bigint }[];
}

/** Keeps a mix of tokens at target weights, which sum to one whole. */
export interface RebalanceSpec extends StrategyCommon {
  readonly kind: "rebalance";
  /** the unit of account */
  readonly quote: Token;
  readonly targets: readonly RebalanceTarget[];
  /** `none`: trades at every slot */
  readonly bands: BandRules | "none";
  readonly destination: Destination;
  readonly trades: RebalanceTrades;
  /** so much of a token of the mix is set aside */
  readonly cash: { readonly token: Token; readonly min: bigint } | undefined;
  readonly onDeposit: "buy-underweight" | "ignore";
  /** absent: all of the mix is in the wallet */
  readonly external?: ExternalHoldings | undefined;
}
