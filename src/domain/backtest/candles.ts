import type { UsdPrice } from "../money/price.ts";
import type { PriceBar } from "../strategy/decision.ts";
import { HOUR_MS } from "../time/durations.ts";

/** Prices of one stretch of time in dollars (1e-18), as exchanges report them. `atMs` is its beginning, Unix milliseconds. */
export interface Candle {
  readonly atMs: number;
  readonly open: UsdPrice;
  readonly high: UsdPrice;
  readonly low: UsdPrice;
  readonly close: UsdPrice;
}

/** Candles of one token, oldest first, each `stepMs` long; where one is missing, nothing is known of the price. */
export interface CandleSeries {
  readonly stepMs: number;
  readonly candles: readonly Candle[];
}

/**
 * How a price is thought to have gone from a candle's open to its close, of which the candle says nothing: in a straight
 * line, or by way of its extremes, the lower or the higher one first.
 */
export type CandlePath = "straight" | "low-first" | "high-first";

/** A price within a candle. `isInside`: it is neither its first moment nor all that the candle knows, so it is a guess. */
export interface PriceWithin {
  readonly usd: UsdPrice;
  readonly candle: Candle;
  readonly isInside: boolean;
}

/** The price at an instant; undefined where no candle covers it. */
export function priceWithin(series: CandleSeries, atMs: number, path: CandlePath): PriceWithin | undefined {
  const candle = candleAt(series, atMs);
  if (candle === undefined) return undefined;
  const intoMs = atMs - candle.atMs;
  const isFlat = candle.high === candle.low && candle.open === candle.close && candle.open === candle.high;
  if (intoMs === 0 || isFlat) return { usd: candle.open, candle, isInside: false };
  return { usd: along(wayOf(candle, path), intoMs, series.stepMs), candle, isInside: true };
}

/** The candle that covers an instant. */
export function candleAt({ candles, stepMs }: CandleSeries, atMs: number): Candle | undefined {
  const candle = candles[lastBefore(candles, atMs)];
  return candle === undefined || atMs >= candle.atMs + stepMs ? undefined : candle;
}

/** The position of the last candle that began at or before an instant; -1 where none did. */
function lastBefore(candles: readonly Candle[], atMs: number): number {
  let low = 0;
  let high = candles.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((candles[middle]?.atMs ?? 0) <= atMs) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function wayOf({ open, high, low, close }: Candle, path: CandlePath): readonly UsdPrice[] {
  if (path === "straight") return [open, close];
  return path === "low-first" ? [open, low, high, close] : [open, high, low, close];
}

/** A price on a way of legs that take equally long, rounded down. */
function along(way: readonly UsdPrice[], intoMs: number, stepMs: number): UsdPrice {
  const legs = way.length - 1;
  const leg = Math.min(legs - 1, Math.floor((intoMs * legs) / stepMs));
  const [from = 0n, to = 0n] = [way[leg], way[leg + 1]];
  const into = BigInt(intoMs * legs - leg * stepMs);
  return (from + ((to - from) * into) / BigInt(stepMs)) as UsdPrice;
}

/**
 * The hours of a series as strategies look back at them. An hour is known once its last candle has ended; a candle that is
 * longer than an hour counts as that hour in which it began.
 */
export function hoursOf({ candles, stepMs }: CandleSeries): readonly (PriceBar & { readonly knownMs: number })[] {
  const hours: (PriceBar & { readonly knownMs: number })[] = [];
  for (const { atMs, high, low, close } of candles) {
    const hourMs = Math.floor(atMs / HOUR_MS) * HOUR_MS;
    const last = hours.at(-1);
    const knownMs = atMs + stepMs;
    if (last?.hourMs !== hourMs) hours.push({ hourMs, high, low, close, samples: 1, knownMs });
    else
      hours[hours.length - 1] = {
        ...{ hourMs, close, knownMs, samples: last.samples + 1 },
        high: high > last.high ? high : last.high,
        low: low < last.low ? low : last.low,
      };
  }
  return hours;
}

/**
 * The hour that runs at an instant, of its candles that are over and the price of now, as a daemon that looks each minute
 * has it. Undefined where neither is known, and in its first moment, which no daemon has looked at yet.
 */
export function runningHour(
  { candles, stepMs }: CandleSeries,
  { nowMs, usd }: { readonly nowMs: number; readonly usd: UsdPrice | undefined },
): PriceBar | undefined {
  const hourMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  if (nowMs === hourMs) return undefined;
  const over = candles.slice(lastBefore(candles, hourMs - 1) + 1, lastBefore(candles, nowMs - stepMs) + 1);
  const now = usd === undefined ? [] : [{ atMs: nowMs, open: usd, high: usd, low: usd, close: usd }];
  return hoursOf({ stepMs, candles: [...over, ...now] })[0];
}
