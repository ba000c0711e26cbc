import { type Address, type Hex, NATIVE_TOKEN, toAddress } from "../../domain/money/address.ts";
import { mulDivDown, mulDivUp } from "../../domain/money/amount.ts";
import { ONE_PPM } from "../../domain/money/fraction.ts";
import { costBesideGas, expectedCost } from "../data-fees/data-fees.ts";
import { type Refusal, refuse } from "../errors/errors.ts";
import { type Gas, paidGas } from "../gas/evm-gas.ts";
import type { ExtraGas } from "../gas/extra-gas.ts";
import { routerSwapGas } from "../gas/router-gas.ts";
import { type AccountFacts, type SwapShape, safeGasLimit, swapGas } from "../gas/swap-gas.ts";
import type { NetworkOptions } from "../options.ts";
import type { Snapshot } from "../pools/snapshots.ts";
import type { FeePrices } from "../relayer/fee-prices.ts";
import { quotedFeeWorth } from "../relayer/gas-terms.ts";
import type { Route } from "../routing/best-route.ts";
import type { Router } from "../routing/router.ts";
import { SearchStoppedError } from "../routing/time-slices.ts";
import { encodeSwapWithSignature } from "../settlement/calldata.ts";
import type { SwapOrder } from "../settlement/order.ts";
import { encodeOwnSwap } from "../settlement/own-swap.ts";
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
  /** what of the used gas the chain gives back at the end */
  readonly gasRefund: bigint;
  /** wei that the swap is expected to cost, fees for data counted and what is given back taken off */
  readonly gasCost: bigint;
  /** what of it is for data, on top of gas */
  readonly dataFee: bigint;
  readonly priceImpactPpm: bigint;
}

/** An indicative quote has no owner: an address without zeros stands for one in calldata that is only counted. */
const SOMEBODY = toAddress(`0x${"11".repeat(20)}`);

interface PricingContext {
  readonly router: Pick<Router, "route">;
  /** what swap fees are worth; undefined: there are none, and nothing is gasless */
  readonly fees: Pick<FeePrices, "inToken"> | undefined;
  readonly snapshot: Snapshot;
  /** wei per gas that whoever sends the swap pays: its owner as nodes suggest, a relayer by rules of its own */
  readonly gasPrice: bigint;
  readonly network: Pick<NetworkOptions, "wrappedNative" | "settlement" | "relayer">;
  /** until when routes are searched; the best so far is taken then */
  readonly limit: TimeLimit;
  /** whether the owner of a gasless swap signs a permit with it */
  readonly hasPermit: boolean;
  /** asked for while a route is searched */
  readonly accountFacts: () => Promise<AccountFacts>;
  /** what tokens use beyond usual ones, known once the two that are sold and bought were checked; asked for likewise */
  readonly extraGas: () => Promise<(token: Address) => ExtraGas | undefined>;
  readonly isComputed: SwapShape["isComputed"];
}

/** What a request's route stands on; amounts in the sold token. */
interface Amounts {
  readonly amountIn: bigint;
  readonly swapFee: bigint;
  readonly affiliateFee: bigint;
}

/** Finds the route of a request net of all fees, which are taken from the sold token before routing. */
export async function priceRequest(request: QuoteRequest, context: PricingContext): Promise<Priced | Refusal> {
  const { router, snapshot, network, limit } = context;
  const erc20 = (token: Address) => (token === NATIVE_TOKEN ? network.wrappedNative : token);
  const pair = {
    from: erc20(request.from),
    to: erc20(request.to),
    sources: request.sources,
    sellsCoins: request.from === NATIVE_TOKEN,
  };
  const affiliateFee = request.affiliate === undefined ? 0n : mulDivDown(request.amount, request.affiliate.share, ONE);
  const beforeGas = request.amount - affiliateFee;
  const [first, facts, extraGas] = await Promise.all([
    router.route({ ...pair, amountIn: beforeGas }, snapshot, limit),
    context.accountFacts(),
    context.extraGas(),
  ]);
  if (first === undefined) return refuse("NO_ROUTE", { parameter: "amount" });
  const { hasPermit, isComputed } = context;
  const gasOf = (route: Route, amounts: Amounts) =>
    expectedGas(request, { route, amounts, network }, { facts, extraGas, hasPermit, isComputed });
  const unpaid = { amountIn: beforeGas, swapFee: 0n, affiliateFee };
  const gas = gasOf(first, unpaid);
  if (!request.gasless) return toPriced(first, { ...unpaid, gas, gasless: false }, context);

  const terms = {
    cost: costOf(first, { gas, gasless: true }, context),
    marginPpm: network.relayer?.feeMarginPpm ?? 0n,
  };
  const fee = await context.fees?.inToken(pair.from, quotedFeeWorth(terms), snapshot);
  if (fee === undefined) return refuse("GASLESS_UNAVAILABLE", { parameter: "gasless" });
  if (fee.kind === "refused") return fee;
  const swapFee = fee.amount;
  const amountIn = beforeGas - swapFee;
  if (amountIn <= 0n) {
    const detail = `the gas of a gasless swap costs ${swapFee}, and ${beforeGas} is left to pay it`;
    return refuse("AMOUNT_BELOW_FEES", { parameter: "amount", detail });
  }
  // Gas was priced for this way, and one that was not searched to its end may cost more.
  const again = first.isWhole ? await ifInTime(router.route({ ...pair, amountIn }, snapshot, limit)) : undefined;
  const route = again?.isWhole === true ? again : first.resize(amountIn);
  if (route === undefined) return refuse("NO_ROUTE", { parameter: "amount" });
  const amounts = { amountIn, swapFee, affiliateFee };
  return toPriced(route, { ...amounts, gas: gasOf(route, amounts), gasless: true }, context);
}

/** Undefined where there is no time or no room for another search: the route that is known is valid without it. */
async function ifInTime(search: Promise<Route | undefined>): Promise<Route | undefined> {
  try {
    return await search;
  } catch (error) {
    if (error instanceof SearchStoppedError) return undefined;
    throw error;
  }
}

/** As many bytes of calldata as the real ones: what is not known yet has no zeros in it. */
const UNKNOWN_WORD: Hex = `0x${"ff".repeat(32)}`;
const UNKNOWN_SIGNATURE: Hex = `0x${"ff".repeat(65)}`;
const UNKNOWN_SECONDS = 0x6fffffffn;

function expectedGas(
  request: QuoteRequest,
  { route, amounts, network }: { route: Route; amounts: Amounts; network: PricingContext["network"] },
  known: Pick<SwapShape, "facts" | "extraGas" | "hasPermit" | "isComputed">,
): Gas {
  const { from, to, gasless } = request;
  const owner = request.owner ?? SOMEBODY;
  const hasAffiliate = amounts.affiliateFee > 0n;
  const order: SwapOrder = {
    recipient: request.recipient ?? owner,
    fromAsset: from,
    toAsset: to,
    deadline: UNKNOWN_SECONDS,
    amountOutMin: route.amountOut,
    ...amounts,
    nonce: gasless ? BigInt(UNKNOWN_WORD) : 0n,
    affiliate: hasAffiliate ? (request.affiliate?.address ?? owner) : NATIVE_TOKEN,
  };
  const permit = { value: request.amount, deadline: UNKNOWN_SECONDS, v: 27, r: UNKNOWN_WORD, s: UNKNOWN_WORD };
  const signed = { owner, order, signature: UNKNOWN_SIGNATURE, permit: known.hasPermit ? permit : undefined };
  const data = gasless ? encodeSwapWithSignature(signed, route.hops) : encodeOwnSwap(order, route, network);
  const { facts } = known;
  const allowance = (route.router && facts.allowances?.get(route.router)) ?? facts.allowance;
  const swap = { route, fromAsset: from, toAsset: to, gasless, hasAffiliate, data };
  const shape = { ...swap, ...known, facts: { ...facts, allowance } };
  return network.settlement === undefined ? routerSwapGas(shape) : swapGas(shape);
}

/** A transaction as far as its cost depends on it: its gas, and by its kind the data to publish. */
interface Sent {
  readonly gas: Gas;
  readonly gasless: boolean;
}

/** What gas and data cost. */
type Market = Pick<PricingContext, "snapshot" | "gasPrice">;

const sizeOf = ({ hops }: Route, { gas, gasless }: Sent) => ({ gasless, hops: hops.length, gas: paidGas(gas) });

/** Wei that the transaction is expected to cost its sender, fees for data included. */
function costOf(route: Route, sent: Sent, { snapshot, gasPrice }: Market): bigint {
  return expectedCost(sizeOf(route, sent), { gasPrice, dataFees: snapshot.dataFees });
}

function toPriced(route: Route, { gas, gasless, ...amounts }: Amounts & Sent, market: Market): Priced {
  const { dataFees } = market.snapshot;
  const dataGas = dataFees.dataGas({ gasless, hops: route.hops.length });
  const lost = route.spotAmountOut - route.amountOut;
  return {
    kind: "priced",
    route,
    ...amounts,
    gasLimit: safeGasLimit(gas.used + dataGas, route),
    gasRefund: gas.used - paidGas(gas),
    gasCost: costOf(route, { gas, gasless }, market),
    dataFee: costBesideGas(sizeOf(route, { gas, gasless }), dataFees),
    priceImpactPpm: lost > 0n ? mulDivUp(lost, ONE_PPM, route.spotAmountOut) : 0n,
  };
}
