import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { type Refusal, refuse } from "../errors/errors.ts";
import { isSettled, type NetworkOptions, spendersOf } from "../options.ts";
import { BPS, MAX_AFFILIATE_BPS } from "../settlement/order.ts";
import { ROUTER_SENTINELS } from "../settlement/router-calldata.ts";
import { ONE, type QuoteRequest } from "./quote.ts";

/** What the settlement contract would refuse whatever the market does. */
export function checkRequest(request: QuoteRequest, network: NetworkOptions): Refusal | undefined {
  if (request.amount === 0n) return refuse("AMOUNT_ZERO", { parameter: "amount" });
  const erc20 = (token: Address) => (token === NATIVE_TOKEN ? network.wrappedNative : token);
  if (erc20(request.from) === erc20(request.to)) return refuse("TOKENS_EQUAL", { parameter: "toTokenAddress" });
  const refused = isSettled(network) ? undefined : withoutSettlement(request, network);
  if (refused !== undefined) return refused;
  const { affiliate } = request;
  if (affiliate !== undefined && affiliate.share * BPS > MAX_AFFILIATE_BPS * ONE) {
    return refuse("AFFILIATE_FEE_TOO_HIGH", { parameter: "affiliateFee" });
  }
  if (request.gasless && request.from === NATIVE_TOKEN) {
    return refuse("GASLESS_NATIVE", { parameter: "fromTokenAddress" });
  }
  return undefined;
}

/** What only a settlement of ours can do; and without a public router nobody can execute anything. */
function withoutSettlement({ owner, gasless, affiliate }: QuoteRequest, network: NetworkOptions): Refusal | undefined {
  const { name, router, noSettlement } = network;
  if (router === undefined) {
    if (owner === undefined && !gasless) return undefined;
    const parameter = owner === undefined ? "gasless" : "fromAddress";
    const detail = noSettlement ?? `no settlement contract is configured on ${name}`;
    return refuse("SETTLEMENT_MISSING", { parameter, detail });
  }
  const detail = `swaps on ${name} settle through the public router ${spendersOf(network).join(" or ")}`;
  if (gasless)
    return refuse("GASLESS_UNAVAILABLE", { parameter: "gasless", detail: `${detail}, which takes no orders` });
  if (affiliate === undefined) return undefined;
  return refuse("AFFILIATE_UNAVAILABLE", { parameter: "affiliateAddress", detail });
}

/** Whom the settlement contract or the router would not pay, or would take for somebody else. @param executor its own, which the chain may have to report first */
export function checkReceivers(
  request: QuoteRequest,
  network: NetworkOptions,
  executor: Address | undefined,
): Refusal | undefined {
  const { from, to, owner, recipient, affiliate } = request;
  const sentinels = isSettled(network) ? [] : ROUTER_SENTINELS;
  const contracts = [...spendersOf(network), executor, network.wrappedNative];
  const forbidden = new Set([NATIVE_TOKEN, ...sentinels, ...contracts, from, to]);
  const receivers = { fromAddress: owner, toAddress: recipient, affiliateAddress: affiliate?.address };
  for (const [parameter, receiver] of Object.entries(receivers)) {
    if (receiver !== undefined && forbidden.has(receiver)) return refuse("RECIPIENT_FORBIDDEN", { parameter });
  }
  return undefined;
}
