import type { Address } from "../money/address.ts";
import { smaller } from "../money/bigint.ts";
import type { Ppm } from "../money/fraction.ts";
import type { ReferencePrice } from "../money/price.ts";
import type { Token } from "../money/token.ts";
import type { Affiliate, StrategyLimits } from "../strategy/common.ts";
import type { ExecutionMode } from "./bind-swap.ts";
import type { Decoding, PinnedSettlement, ProposedTransaction } from "./decoded-swap.ts";
import { type Policy, simulationMethodsOf } from "./policy.ts";
import type { ProposalFacts } from "./proposal-checks.ts";
import type { SimulatedSwap } from "./simulation.ts";
import type { SimulationMethod } from "./simulation-method.ts";

/** What only the owner bounds. */
type OwnersLimit =
  | "maxTradeUsd"
  | "maxPerDayUsd"
  | "maxPerMonthUsd"
  | "minTradeUsd"
  | "recipients"
  | "tokens"
  | "spenders"
  | "gasReserve"
  | "referenceTolerance"
  | "maxDivergence"
  | "pegged"
  | "maxDepeg"
  | "acceptsUntriedGasless";

/** The limits that hold for one swap: of each, the stricter of the owner's and the operator's. */
export interface SwapLimits extends StrategyLimits, Pick<Policy, OwnersLimit> {
  /** how much a round trip may lose; undefined when none is asked for */
  readonly maxRoundTripLoss: Ppm | undefined;
  /** how a swap may be simulated */
  readonly trialWays: readonly SimulationMethod[];
}

/** Combines the owner's policy with a strategy's limits. A strategy can only be stricter. */
export function effectiveLimits(strategy: StrategyLimits, policy: Policy): SwapLimits {
  return {
    slippage: smaller(strategy.slippage, policy.maxSlippage),
    priceImpact: smaller(strategy.priceImpact, policy.maxPriceImpact),
    maxFee: smaller(strategy.maxFee, policy.maxFee),
    maxFeePerGas: smaller(strategy.maxFeePerGas, policy.maxFeePerGas),
    maxTradeUsd: policy.maxTradeUsd,
    maxPerDayUsd: policy.maxPerDayUsd,
    maxPerMonthUsd: policy.maxPerMonthUsd,
    minTradeUsd: policy.minTradeUsd,
    recipients: policy.recipients,
    tokens: policy.tokens,
    spenders: policy.spenders,
    gasReserve: policy.gasReserve,
    referenceTolerance: policy.referenceTolerance,
    maxDivergence: policy.maxDivergence,
    pegged: policy.pegged,
    maxDepeg: policy.maxDepeg,
    maxRoundTripLoss: policy.roundTrip?.maxLoss,
    acceptsUntriedGasless: policy.acceptsUntriedGasless,
    trialWays: simulationMethodsOf(policy),
  };
}

/**
 * How the service's contract may take the sold token on the gasless path. A signature without a nonce works as often as
 * the allowance lasts: then an allowance for several executions authorises nothing.
 */
export type Authorisation = "allowance" | "permit" | "none" | "allowance for several executions";

/** Whom the order and the permit name that would be signed. */
export interface NamedToSign {
  /** the contract of the order's domain, undefined where it names none */
  readonly verifyingContract: Address | undefined;
  /** whom the permit lets spend, undefined without a permit */
  readonly permitSpender: Address | undefined;
}

/** Why a token has no reference price. */
export interface PriceFault {
  readonly token: Address;
  readonly code: "REFERENCE_MISSING" | "REFERENCE_DIVERGES" | "SEQUENCER_DOWN";
  readonly detail: string;
}

/** What a second service would give for the very same swap, or why it does not say. */
export type SecondOutput =
  | { readonly kind: "quoted"; readonly amountOut: bigint; readonly source: string }
  | { readonly kind: "missing"; readonly detail: string };

/**
 * What selling back brings: `returned` for the part of the gross amount that `sold` counts. Impossible is a token that
 * can be bought and not sold.
 */
export type RoundTrip =
  | { readonly kind: "returned"; readonly sold: bigint; readonly returned: bigint }
  | { readonly kind: "impossible"; readonly reason: string };

/** One bound of the strategy's budget: what other swaps of it sold within it, and the most. */
export interface BudgetFact {
  /** which one it is, for people: `sold this week` */
  readonly subject: string;
  /** its key in the strategy's file */
  readonly key: string;
  readonly sold: bigint;
  readonly most: bigint;
  /** dollars (1e-18), else the sold token */
  readonly inDollars: boolean;
}

/** All that is known at the moment before signing. Amounts in the smallest unit of their token; wei for gas. */
export interface SwapFacts {
  readonly mode: ExecutionMode;
  readonly limits: SwapLimits;
  readonly pinned: PinnedSettlement;
  readonly owner: Address;
  /** every account of ours, the owner among them */
  readonly ours: readonly Address[];
  readonly recipient: Address;
  readonly sell: Token;
  readonly buy: Token;
  /** how people call the coin that pays for gas */
  readonly nativeSymbol: string;
  /** the least output that the strategy itself asks for, undefined when only the limits bind */
  readonly floor: bigint | undefined;
  /** all that may leave the owner, fees included */
  readonly gross: bigint;
  readonly affiliate: Affiliate | undefined;
  readonly prices: {
    readonly sold: ReferencePrice | undefined;
    readonly bought: ReferencePrice | undefined;
    readonly native: ReferencePrice | undefined;
  };
  /** why one of them is missing */
  readonly priceFaults: readonly PriceFault[];
  /** undefined where no second service is configured */
  readonly secondOutput: SecondOutput | undefined;
  /** undefined where no round trip is asked for */
  readonly roundTrip: RoundTrip | undefined;
  readonly quote: {
    readonly amountOut: bigint;
    /** undefined where the service names no target with its quotes: then the transaction alone does */
    readonly targetAddress: Address | undefined;
    /** whom the service wants to be approved, where it names one besides the target */
    readonly spender?: Address | undefined;
    readonly priceImpact: Ppm | undefined;
    readonly expiresAtSeconds: number | undefined;
  };
  /** the pinned decoder's reading of the typed data (gasless) or of the calldata (self-executed) */
  readonly decoding: Decoding;
  /** the transaction as proposed; undefined on the gasless path */
  readonly transaction: ProposedTransaction | undefined;
  /** where the owner is a Safe: what its owners would be asked for. They pay for gas then */
  readonly proposal?: ProposalFacts | undefined;
  /** whom the messages name that would be signed; undefined where there are none, as on our own transaction */
  readonly signing: NamedToSign | undefined;
  readonly signatureHasNonce: boolean;
  /** nothing of the swap may stay in the contract that is called */
  readonly targetKeepsNothing?: boolean | undefined;
  /**
   * Whether the decoded nonce is used on the chain or stands in another swap of the owner; two swaps with one nonce could
   * be taken for each other's fill. Absent where nonces are not looked up.
   */
  readonly nonceUsed?: boolean | undefined;
  /** Unix seconds of chain time */
  readonly nowSeconds: number;
  readonly maxLifetimeSeconds: number;
  /** what our own transaction may cost at most; undefined on the gasless path and for a Safe */
  readonly gas: GasFacts | undefined;
  readonly authorisation: Authorisation;
  /** free balances of the owner */
  readonly balances: { readonly sold: bigint; readonly native: bigint };
  /** largest allowance of the sold token for the spender that the simulation may leave behind */
  readonly allowanceLimit: bigint;
  /** value of the trades of the last 24 hours so far, reservations included, in dollars (1e-18) */
  readonly spentTodayUsd: bigint;
  /** the same of the last 30 days; only checked when there is a cap */
  readonly spentMonthUsd: bigint;
  /** bounds of the strategy's own budget that the sold token counts in */
  readonly budget?: readonly BudgetFact[] | undefined;
  /** undefined when it was not done: a gasless order of a service that gives no route has none */
  readonly simulation: SimulatedSwap | undefined;
}

/** What the swap's transaction may cost, with the approvals before it; wei. */
export interface GasFacts {
  /** gas of all of them */
  readonly limit: bigint;
  readonly maxFeePerGas: bigint;
  /** what a rollup charges for their data on top of that; undefined: nothing */
  readonly dataFee?: bigint | undefined;
}

/** Whether the owner's own native coins pay for the swap's gas. */
export function paysGas({ mode, proposal }: Pick<SwapFacts, "mode" | "proposal">): boolean {
  return mode === "self-executed" && proposal === undefined;
}
