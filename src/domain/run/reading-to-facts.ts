import { placeOf } from "../guard/once-mark.ts";
import type { ProposalFacts } from "../guard/proposal-checks.ts";
import { contractsFor } from "../guard/swap-contracts.ts";
import {
  type Authorisation,
  type BudgetFact,
  effectiveLimits,
  type SwapFacts,
  type SwapLimits,
} from "../guard/swap-facts.ts";
import type { TypedData } from "../guard/typed-data.ts";
import { NATIVE_TOKEN, parseAddress } from "../money/address.ts";
import { mulDivUp } from "../money/amount.ts";
import { smaller } from "../money/bigint.ts";
import { describeBoth } from "../money/for-people.ts";
import { toPpm } from "../money/fraction.ts";
import { highestOf, lowestOf } from "../money/price.ts";
import { isNative } from "../money/token.ts";
import { nameOfBound, soldWithin } from "../strategy/budget.ts";
import type { StrategyView } from "../strategy/decision.ts";
import { tradedSides } from "../strategy/strategy.ts";
import type { ClearanceReading, ProposalReading, SigningMaterial } from "./events.ts";
import { type Evidence, type LedgerEvidence, ledgerOf } from "./evidence.ts";
import { gasUsedOf } from "./gas-limit.ts";
import type { Swap } from "./run.ts";

/** Puts together what the guard checks: the request, the reading, and the rows that runs share. */
export function factsOf(swap: Swap, reading: ClearanceReading, evidence: Evidence): SwapFacts {
  if (swap.quote === undefined || swap.gross === undefined || swap.mode === undefined) {
    throw new Error(`swap ${swap.id} is checked before it is quoted`);
  }
  const ledger = ledgerOf(evidence);
  const reserved = ledger.reservedByOthers;
  const { spec } = evidence;
  const maxFeePerGas = expectedFeePerGas(reading);
  return {
    mode: swap.mode,
    limits: limitsOf(swap, evidence),
    pinned: {
      chainId: evidence.chain.chainId,
      contracts: contractsFor(evidence.service, swap.quote),
      wrappedNative: evidence.chain.wrappedNative,
    },
    owner: swap.wallet,
    ours: evidence.ours,
    recipient: swap.recipient,
    sell: swap.sell,
    buy: swap.buy,
    nativeSymbol: evidence.chain.nativeSymbol,
    floor: swap.floor === undefined ? undefined : mulDivUp(swap.gross, swap.floor.bought, swap.floor.sold),
    gross: swap.gross,
    affiliate: spec.affiliate,
    ...referenceOf(reading),
    quote: {
      amountOut: swap.quote.amountOut,
      targetAddress: swap.quote.targetAddress,
      spender: swap.quote.spender,
      priceImpact: swap.quote.priceImpactPpm === undefined ? undefined : toPpm(swap.quote.priceImpactPpm),
      expiresAtSeconds: swap.quote.expiresAtSeconds,
    },
    decoding: reading.decoding,
    transaction: reading.transaction,
    signing: reading.proposal === undefined && reading.signing ? namedToSign(reading.signing) : undefined,
    ...(reading.proposal !== undefined && { proposal: proposalFacts(swap, reading.proposal, reading.signing) }),
    signatureHasNonce: swap.mode === "gasless" && evidence.service.signatureHasNonce,
    targetKeepsNothing: evidence.service.targetKeepsNothing === true,
    nonceUsed: isNonceTaken(swap, reading, ledger),
    nowSeconds: reading.head.timestampSeconds,
    maxLifetimeSeconds: evidence.pace.maxLifetimeSeconds + blockAgeSeconds(reading, evidence),
    gas:
      swap.mode === "gasless" || reading.proposal !== undefined
        ? undefined
        : { limit: mostGas(reading), maxFeePerGas, dataFee: reading.dataFee },
    authorisation: authorisationOf(swap.gross, reading, evidence.service.signatureHasNonce),
    balances: {
      sold: reading.balance - reserved,
      native: reading.nativeBalance - (isNative(swap.sell) ? reserved : 0n),
    },
    allowanceLimit: swap.gross > reading.allowance ? swap.gross : reading.allowance,
    spentTodayUsd: ledger.spentTodayUsd,
    spentMonthUsd: ledger.spentMonthUsd,
    budget: budgetFacts(swap, evidence),
    simulation: reading.simulation.kind === "not-applicable" ? undefined : reading.simulation,
  };
}

/** Where chain and clock are further apart nothing is read. */
const MOST_AGE_SECONDS = 60;

/** Services count a deadline from now: at blocks of twelve seconds that is mostly later than the newest one. */
function blockAgeSeconds({ head }: ClearanceReading, { nowMs }: Evidence): number {
  const age = Math.floor(nowMs / 1_000) - head.timestampSeconds;
  return Math.min(Math.max(age, 0), MOST_AGE_SECONDS);
}

/** Of the swap, and what the approvals before it used when they were tried. */
function mostGas({ gasLimit, simulation, approval }: ClearanceReading): bigint {
  if (approval === undefined || simulation.kind !== "ok") return gasLimit;
  return gasLimit + simulation.gasUsed - gasUsedOf(gasLimit);
}

/** What everybody sees may lose less: no more than when that was decided, and no more than is allowed now. */
function limitsOf({ fallback }: Swap, { spec, policy, fallback: now }: Evidence): SwapLimits {
  const limits = effectiveLimits(spec.limits, policy);
  if (fallback === undefined) return limits;
  const shown = smaller(fallback.slippage, now?.slippage ?? fallback.slippage);
  return { ...limits, slippage: smaller(limits.slippage, shown) };
}

/** Bounds that the sold token counts in: what a strategy sells of what it bought is no spending. */
function budgetFacts({ sell }: Swap, evidence: Evidence): readonly BudgetFact[] {
  const { budget } = evidence.spec;
  const inDollars = budget?.inDollars === true;
  const [token] = tradedSides(evidence.spec).sells;
  if (budget === undefined || token === undefined || !(inDollars || token.address === sell.address)) return [];
  return (ledgerOf(evidence).budget ?? []).map((count) => ({
    ...nameOfBound(count.bound),
    sold: soldWithin(count, inDollars ? "USD" : token),
    most: count.most,
    inDollars,
  }));
}

function proposalFacts(swap: Swap, proposal: ProposalReading, signing: SigningMaterial | undefined): ProposalFacts {
  const place = placeOf(swap);
  const typedData = signing?.swap.typedData;
  if (proposal.kind === "built") return { ...proposal, place, problem: undefined, typedData };
  return {
    version: undefined,
    problem: proposal.problem,
    nextNonce: 0n,
    typedData: undefined,
    isAllowed: false,
    place,
  };
}

/** Read from the very text that would be hashed and signed. */
function namedToSign({ swap, permit }: SigningMaterial): SwapFacts["signing"] {
  const order = JSON.parse(swap.typedData) as Partial<TypedData>;
  const allowed = permit && (JSON.parse(permit.typedData) as Partial<TypedData>);
  return {
    verifyingContract: parseAddress(order.domain?.verifyingContract),
    permitSpender: parseAddress(allowed?.message?.spender),
  };
}

/**
 * Of several sources the one that protects more: the dearest for what is sold and for gas, the cheapest for what is
 * bought. The dearest also counts most against the caps.
 */
function referenceOf(
  reading: ClearanceReading,
): Pick<SwapFacts, "prices" | "priceFaults" | "secondOutput" | "roundTrip"> {
  const { sellPrice, buyPrice, nativePrice, priceFaults, secondOutput, roundTrip } = reading;
  const sold = sellPrice === undefined ? undefined : highestOf(sellPrice);
  const bought = buyPrice === undefined ? undefined : lowestOf(buyPrice);
  const native = nativePrice === undefined ? undefined : highestOf(nativePrice);
  return { prices: { sold, bought, native }, priceFaults, secondOutput, roundTrip };
}

/** Each token's price by its own first source, as a decision sees it. */
export function pricesRead({ sell, buy }: Swap, reading: ClearanceReading): StrategyView["prices"] {
  const { sellPrice, buyPrice, nativePrice } = reading;
  const read = [
    [NATIVE_TOKEN, nativePrice],
    [sell.address, sellPrice],
    [buy.address, buyPrice],
  ] as const;
  return new Map(read.flatMap(([address, price]) => (price === undefined ? [] : [[address, price] as const])));
}

/** One nonce in two swaps, or a used one, could make one fill count for another swap. */
function isNonceTaken(swap: Swap, reading: ClearanceReading, ledger: LedgerEvidence): boolean | undefined {
  if (!reading.decoding.ok || reading.decoding.swap.nonce === undefined || swap.mode !== "gasless") return undefined;
  return reading.nonceUsed === true || ledger.isNonceOfOther;
}

/**
 * Why the allowance that an order without a nonce would be signed alongside may turn out to be a higher one: as often as it
 * lasts, and once more by a permit, the same order can be executed.
 */
export function unsettledAllowance(swap: Swap, { allowance, standing }: ClearanceReading): string | undefined {
  const { gross } = swap;
  if (standing === undefined || gross === undefined) return undefined;
  if (executionsOf(standing.highest, gross) === executionsOf(allowance, gross)) return undefined;
  const [newest, highest] = describeBoth(allowance, standing.highest, swap.sell);
  return `the allowance is ${newest} by the newest answer, and ${highest} by another node or in the final block: until they agree the order could be executed more than once`;
}

/** Why the fill of an order without a nonce could be mixed up with what left the wallet before, if it were signed now. */
export function olderOutflow({ sell }: Swap, { inTheWay }: ClearanceReading): string | undefined {
  if (inTheWay === undefined) return undefined;
  const { hash, block, finalized } = inTheWay;
  return `${sell.symbol} left the wallet in block ${block}, transaction ${hash}, and no row knows why; block ${finalized} is the newest final one: until that one is final a fork may put it beside this order's fill, which has no nonce to tell them apart`;
}

/** How often an allowance lets an order be executed; two stands for more. */
function executionsOf(allowance: bigint, gross: bigint): 0 | 1 | 2 {
  if (allowance >= 2n * gross) return 2;
  return allowance >= gross ? 1 : 0;
}

function authorisationOf(gross: bigint, reading: ClearanceReading, signatureHasNonce: boolean): Authorisation {
  const executions = executionsOf(reading.allowance, gross);
  if (!signatureHasNonce && executions === 2) return "allowance for several executions";
  if (executions > 0) return "allowance";
  return reading.signing?.permit === undefined ? "none" : "permit";
}

/** The fee per gas that the next blocks will ask for: twice the base fee leaves room for six full blocks. */
function expectedFeePerGas(reading: ClearanceReading): bigint {
  return 2n * reading.head.baseFeePerGas + reading.priorityFee;
}
