import type { Address } from "../../../src/domain/money/address.ts";
import type { SimChain } from "../world/chain.ts";
import type { Order } from "../world/ledger.ts";
import { tokenAt } from "../world/places.ts";
import type { Report } from "./signing.ts";

export const MAX_TRADE_DOLLARS = 6_000;
/** quotes live for a minute, and clocks differ by less than another one */
export const LONGEST_LIFE_SECONDS = 65 + 60;
/** tolerance of the policy, and what a price may move between the reading and the signature */
const LEAST_SHARE = 95n;

/** Judges what an order says, in the instant of its signature, by the chain's prices and by what the owner allowed. */
export function judgeTerms(
  order: Order,
  { chain, wallet, nowMs, report }: { chain: SimChain; wallet: Address; nowMs(): number; report: Report },
): void {
  const [from, to] = [tokenAt(order.fromAsset), tokenAt(order.toAsset)];
  if (order.recipient !== wallet) report("S15", `signed for the recipient ${order.recipient}`);
  if (from === undefined || to === undefined || from === to) {
    report("S5", `signed ${order.fromAsset} for ${order.toAsset}`);
    return;
  }
  if (order.sender !== undefined && order.nonce === 0n)
    report("S5", "signed an order with the nonce 0, by which self-executed swaps go");
  const nowSeconds = BigInt(Math.floor(nowMs() / 1_000));
  if (order.deadline > nowSeconds + BigInt(LONGEST_LIFE_SECONDS)) report("S5", `signed until ${order.deadline}`);
  const gross = order.amountIn + order.swapFee;
  const prices = chain.prices(chain.tip.number);
  const least = (prices.output(order.fromAsset, order.toAsset, gross) * LEAST_SHARE) / 100n;
  if (order.amountOutMin < least) report("S5", `signed a minimum of ${order.amountOutMin}, below ${least}`);
  const dollars = (gross * prices.dollars(from)) / 10n ** BigInt(from.decimals);
  if (dollars > BigInt(MAX_TRADE_DOLLARS) * 10n ** 8n) report("S5", `signed a trade of ${dollars} e-8 dollars`);
}
