import { mulDivDown } from "../money/amount.ts";
import { ONE_PPM, type Ppm } from "../money/fraction.ts";
import { USD_DECIMALS } from "../money/price.ts";
import type { Token } from "../money/token.ts";
import type { RecordedFill, SlotPrice } from "./record.ts";

/** The same money spent in another way. Amounts in smallest units. */
export interface Purchase {
  readonly bought: bigint;
  /** of one whole bought token, in the sold one, scaled by 1e18 */
  readonly averagePrice: bigint;
}

/** What a strategy that buys one token bought, beside the same money at once, and in equal parts over all its slots. */
export interface Accumulation {
  readonly strategyId: string;
  readonly sell: Token;
  readonly buy: Token;
  readonly sold: bigint;
  readonly own: Purchase;
  readonly lumpSum: Purchase;
  readonly equalSplit: Purchase;
}

const WHOLE = 10n ** BigInt(USD_DECIMALS);

/**
 * Compares the purchases of a strategy with the two that everybody knows; both pay the pool's fee, and neither gas nor
 * impact. A strategy that did not buy one token with one other is not compared.
 */
export function accumulationOf(
  strategyId: string,
  fills: readonly RecordedFill[],
  { prices, poolFee }: { readonly prices: readonly SlotPrice[]; readonly poolFee: Ppm },
): Accumulation | undefined {
  const [first] = fills;
  const [begin] = prices;
  if (first === undefined || begin === undefined) return undefined;
  const { sell, buy } = first;
  if (fills.some((fill) => fill.sell.address !== sell.address || fill.buy.address !== buy.address)) return undefined;
  const sold = fills.reduce((sum, fill) => sum + fill.sold, 0n);
  const kept = ONE_PPM - poolFee;
  const buyAt = (raw: bigint, price: bigint): bigint => {
    const whole = mulDivDown(raw * kept, WHOLE * 10n ** BigInt(buy.decimals), price * ONE_PPM);
    return whole / 10n ** BigInt(sell.decimals);
  };
  const part = sold / BigInt(prices.length);
  const purchase = (bought: bigint): Purchase => {
    const unit = bought * 10n ** BigInt(sell.decimals);
    return { bought, averagePrice: unit === 0n ? 0n : mulDivDown(sold * WHOLE, 10n ** BigInt(buy.decimals), unit) };
  };
  return {
    ...{ strategyId, sell, buy, sold },
    own: purchase(fills.reduce((sum, fill) => sum + fill.bought, 0n)),
    lumpSum: purchase(buyAt(sold, begin.price)),
    equalSplit: purchase(prices.reduce((sum, { price }) => sum + buyAt(part, price), 0n)),
  };
}
