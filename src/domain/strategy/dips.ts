import { smaller } from "../money/bigint.ts";
import { formatPercent, ONE_PPM, type Ppm, toPpm } from "../money/fraction.ts";
import type { UsdPrice } from "../money/price.ts";
import type { Token } from "../money/token.ts";
import { HOUR_MS } from "../time/durations.ts";
import type { PriceBar, StrategyView } from "./decision.ts";

/** So many hours of a look-back must have a price; with fewer there is no usable history. */
const KNOWN_HOURS = toPpm(800_000);

/** Buys more when the price stands well under where it stood. */
export interface Dips {
  /** the token whose dollar price is compared */
  readonly of: Token;
  /** what it is compared with: the highest price, or the mean of the hours' closing prices */
  readonly reference: { readonly kind: "high" | "sma"; readonly seconds: number };
  /** a drop that reaches `drop` multiplies the order; of several that do, the deepest applies */
  readonly tiers: readonly { readonly drop: Ppm; readonly multiplier: Ppm }[];
  readonly maxMultiplier: Ppm | undefined;
}

/**
 * By how much an order is multiplied now, and why. Without a price, or with too little history, by one: never more is
 * bought because something is not known.
 */
export function dipMultiplier(dips: Dips, view: StrategyView): { readonly multiplier: Ppm; readonly note: string } {
  const { of, reference } = dips;
  const price = view.prices.get(of.address)?.usd;
  if (price === undefined || price <= 0n)
    return { multiplier: ONE_PPM, note: `no price of ${of.symbol}: not multiplied` };
  const bars = (view.bars.get(of.address) ?? []).filter(
    ({ hourMs }) => hourMs + HOUR_MS > view.nowMs - reference.seconds * 1_000 && hourMs <= view.nowMs,
  );
  const hours = Math.ceil((reference.seconds * 1_000) / HOUR_MS);
  const name = `${reference.kind} of ${hours} hours`;
  const before = referenceOf(bars, reference.kind);
  if (before === undefined || BigInt(bars.length) * ONE_PPM < BigInt(hours) * KNOWN_HOURS) {
    return { multiplier: ONE_PPM, note: `only ${bars.length} of ${hours} hours are known: not multiplied` };
  }
  const drop = price >= before ? 0n : ((before - price) * ONE_PPM) / before;
  const multiplier = ofTiers(dips, drop);
  return {
    multiplier,
    note: `${of.symbol} is ${formatPercent(drop)} under its ${name}: ${formatMultiple(multiplier)}`,
  };
}

/** Writes a multiple: 1.5x. */
export function formatMultiple(multiple: Ppm): string {
  return `${formatPercent(multiple / 100n).slice(0, -1)}x`;
}

function referenceOf(bars: readonly PriceBar[], kind: "high" | "sma"): UsdPrice | undefined {
  const [first, ...rest] = bars;
  if (first === undefined) return undefined;
  if (kind === "high") return rest.reduce((high, bar) => (bar.high > high ? bar.high : high), first.high);
  const sum = rest.reduce((total, bar) => total + bar.close, first.close as bigint);
  return (sum / BigInt(bars.length)) as UsdPrice;
}

function ofTiers(dips: Dips, drop: bigint): Ppm {
  const reached = dips.tiers.filter((tier) => drop >= tier.drop);
  const [first, ...rest] = reached;
  if (first === undefined) return ONE_PPM;
  const { multiplier } = rest.reduce((deepest, tier) => (tier.drop > deepest.drop ? tier : deepest), first);
  const most = dips.maxMultiplier ?? multiplier;
  return smaller(multiplier, most);
}
