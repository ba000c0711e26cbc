import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { type Refusal, refuse } from "../errors/errors.ts";
import { isSettled, type NetworkOptions } from "../options.ts";
import { BPS, MAX_AFFILIATE_BPS } from "../settlement/order.ts";
import { ONE, type QuoteRequest } from "./quote.ts";

/** What the settlement contract would refuse whatever the market does. */
export function checkRequest(request: QuoteRequest, network: NetworkOptions): Refusal | undefined {
  if (request.amount === 0n) return refuse("AMOUNT_ZERO", { parameter: "amount" });
  const erc20 = (token: Address) => (token === NATIVE_TOKEN ? network.wrappedNative : token);
  if (erc20(request.from) === erc20(request.to)) return refuse("TOKENS_EQUAL", { parameter: "toTokenAddress" });
  const { owner, affiliate } = request;
  if (!isSettled(network) && (owner !== undefined || request.gasless)) {
    const parameter = owner === undefined ? "gasless" : "fromAddress";
    const detail = network.noSettlement ?? `no settlement contract is configured on ${network.name}`;
    return refuse("SETTLEMENT_MISSING", { parameter, detail });
  }
  if (affiliate !== undefined && affiliate.share * BPS > MAX_AFFILIATE_BPS * ONE) {
    return refuse("AFFILIATE_FEE_TOO_HIGH", { parameter: "affiliateFee" });
  }
  if (request.gasless && request.from === NATIVE_TOKEN) {
    return refuse("GASLESS_NATIVE", { parameter: "fromTokenAddress" });
  }
  return undefined;
}

/** Whom the settlement contract would not pay. @param executor its own, which the chain may have to report first */
export function checkReceivers(
  request: QuoteRequest,
  { settlement, wrappedNative }: NetworkOptions,
  executor: Address | undefined,
): Refusal | undefined {
  const { from, to, owner, recipient, affiliate } = request;
  const forbidden = new Set([NATIVE_TOKEN, settlement, executor, wrappedNative, from, to]);
  const receivers = { fromAddress: owner, toAddress: recipient, affiliateAddress: affiliate?.address };
  for (const [parameter, receiver] of Object.entries(receivers)) {
    if (receiver !== undefined && forbidden.has(receiver)) return refuse("RECIPIENT_FORBIDDEN", { parameter });
  }
  return undefined;
}
