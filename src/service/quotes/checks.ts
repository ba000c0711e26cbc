import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { type Refusal, refuse } from "../errors.ts";
import { isSettled, type NetworkOptions } from "../options.ts";
import { ONE, type QuoteRequest } from "./quote.ts";

/** The settlement contract's own cap, `MAX_AFFILIATE_FEE_BPS`: 3 % of the gross amount. */
const MAX_AFFILIATE_SHARE = (3n * ONE) / 100n;

/** What the settlement contract would refuse whatever the market does. */
export function checkRequest(request: QuoteRequest, network: NetworkOptions): Refusal | undefined {
  if (request.amount === 0n) return refuse("AMOUNT_ZERO", { parameter: "amount" });
  const erc20 = (token: Address) => (token === NATIVE_TOKEN ? network.wrappedNative : token);
  if (erc20(request.from) === erc20(request.to)) return refuse("TOKENS_EQUAL", { parameter: "toTokenAddress" });
  const { owner, recipient, affiliate } = request;
  if (!isSettled(network) && (owner !== undefined || request.gasless)) {
    const parameter = owner === undefined ? "gasless" : "fromAddress";
    const detail = network.noSettlement ?? `no settlement contract is configured on ${network.name}`;
    return refuse("SETTLEMENT_MISSING", { parameter, detail });
  }
  const forbidden = forbiddenReceivers(request, network);
  if (owner !== undefined && forbidden.has(owner)) return refuse("RECIPIENT_FORBIDDEN", { parameter: "fromAddress" });
  if (recipient !== undefined && forbidden.has(recipient)) {
    return refuse("RECIPIENT_FORBIDDEN", { parameter: "toAddress" });
  }
  if (affiliate !== undefined && forbidden.has(affiliate.address)) {
    return refuse("RECIPIENT_FORBIDDEN", { parameter: "affiliateAddress" });
  }
  if (affiliate !== undefined && affiliate.share > MAX_AFFILIATE_SHARE) {
    return refuse("AFFILIATE_FEE_TOO_HIGH", { parameter: "affiliateFee" });
  }
  if (request.gasless && request.from === NATIVE_TOKEN) {
    return refuse("GASLESS_NATIVE", { parameter: "fromTokenAddress" });
  }
  return undefined;
}

function forbiddenReceivers(request: QuoteRequest, network: NetworkOptions): ReadonlySet<Address> {
  const { settlement, executor, wrappedNative } = network;
  const contracts = [settlement, executor].filter((contract) => contract !== undefined);
  return new Set([NATIVE_TOKEN, ...contracts, wrappedNative, request.from, request.to]);
}
