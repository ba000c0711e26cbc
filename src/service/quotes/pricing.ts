import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { mulDivDown, mulDivUp } from "../../domain/money/amount.ts";
import { expectedCost } from "../data-fees/data-fees.ts";
import { type Refusal, refuse } from "../errors.ts";
import type { Snapshot } from "../pools/snapshots.ts";
import type { Route } from "../routing/best-route.ts";
import type { Router } from "../routing/router.ts";
import type { TimeLimit } from "../time-limit.ts";
import { ONE, type QuoteRequest } from "./quote.ts";

/** A route with what is taken before it. */
export interface Priced {
  readonly kind: "priced";
  readonly route: Route;
  readonly amountIn: bigint;
  readonly swapFee: bigint;
  readonly affiliateFee: bigint;
  readonly gasLimit: bigint;
  readonly gasCost: bigint;
  readonly priceImpactPpm: bigint;
}

/** Gas around the pools, measured on the settlement contracts and rounded up: transaction, transfers, delivery. */
const SELF_EXECUTED_GAS = 155_000n;
/** Signature, nonce, permit and the relayer's fee are in it too. */
const GASLESS_GAS = 225_000n;
/** One more transfer, to an account that may never have had the token. */
const AFFILIATE_GAS = 40_000n;

/** The gas limit is above the estimate, because the market moves ticks between quote and execution. */
const GAS_LIMIT_PERCENT = 130n;

/** The swap fee covers this much of the expected cost: gas prices and the token's price move until the swap is mined. */
const SWAP_FEE_PERCENT = 125n;

const ONE_PPM = 1_000_000n;

interface PricingContext {
  readonly router: Router;
  readonly snapshot: Snapshot;
  readonly wrappedNative: Address;
  /** until when routes are searched; the best so far is taken then */
  readonly limit: TimeLimit;
}

/** Finds the route of a request net of all fees, which are taken from the sold token before routing. */
export async function priceRequest(request: QuoteRequest, context: PricingContext): Promise<Priced | Refusal> {
  const { router, snapshot, wrappedNative, limit } = context;
  const erc20 = (token: Address) => (token === NATIVE_TOKEN ? wrappedNative : token);
  const pair = { from: erc20(request.from), to: erc20(request.to), sources: request.sources };
  const affiliateFee = request.affiliate === undefined ? 0n : mulDivDown(request.amount, request.affiliate.share, ONE);
  const affiliateGas = affiliateFee > 0n ? AFFILIATE_GAS : 0n;
  const beforeGas = request.amount - affiliateFee;
  const first = await router.route({ ...pair, amountIn: beforeGas }, snapshot, limit);
  if (first === undefined) return refuse("NO_ROUTE", { parameter: "amount" });
  if (!request.gasless) {
    const overhead = SELF_EXECUTED_GAS + affiliateGas;
    return toPriced(first, { amountIn: beforeGas, swapFee: 0n, affiliateFee, overhead, gasless: false }, snapshot);
  }

  const overhead = GASLESS_GAS + affiliateGas;
  const cost = mulDivUp(costOf(first, { overhead, gasless: true }, snapshot), SWAP_FEE_PERCENT, 100n);
  const swapFee = await router.worthOfNative(pair.from, cost, snapshot);
  if (swapFee === undefined) return refuse("GASLESS_UNPRICED", { parameter: "fromTokenAddress" });
  const amountIn = beforeGas - swapFee;
  if (amountIn <= 0n) {
    const detail = `the gas of a gasless swap costs ${swapFee}, and ${beforeGas} is left to pay it`;
    return refuse("AMOUNT_BELOW_FEES", { parameter: "amount", detail });
  }
  // Gas was priced for this way, and one that was not searched to its end may cost more.
  const again = first.isWhole ? await router.route({ ...pair, amountIn }, snapshot, limit) : undefined;
  const route = again?.isWhole === true ? again : first.resize(amountIn);
  if (route === undefined) return refuse("NO_ROUTE", { parameter: "amount" });
  return toPriced(route, { amountIn, swapFee, affiliateFee, overhead, gasless: true }, snapshot);
}

/** What the transaction around a route adds to its pools: gas, and by its kind the data to publish. */
interface Around {
  readonly overhead: bigint;
  readonly gasless: boolean;
}

/** Wei that the transaction is expected to cost its sender, fees for data included. */
function costOf({ legs, gas }: Route, { overhead, gasless }: Around, { head, dataFees }: Snapshot): bigint {
  return expectedCost({ gasless, legs: legs.length, gas: gas + overhead }, { gasPrice: head.gasPrice, dataFees });
}

function toPriced(
  route: Route,
  { overhead, gasless, ...amounts }: Around & { amountIn: bigint; swapFee: bigint; affiliateFee: bigint },
  snapshot: Snapshot,
): Priced {
  const gas = route.gas + overhead + snapshot.dataFees.dataGas({ gasless, legs: route.legs.length });
  const lost = route.spotAmountOut - route.amountOut;
  return {
    kind: "priced",
    route,
    ...amounts,
    gasLimit: mulDivUp(gas, GAS_LIMIT_PERCENT, 100n),
    gasCost: costOf(route, { overhead, gasless }, snapshot),
    priceImpactPpm: lost > 0n ? mulDivUp(lost, ONE_PPM, route.spotAmountOut) : 0n,
  };
}
