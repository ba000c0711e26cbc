import {
  type CandlePath,
  type CandleSeries,
  candleAt,
  hoursOf,
  type PriceWithin,
  priceWithin,
  runningHour,
} from "../../domain/backtest/candles.ts";
import type { Address } from "../../domain/money/address.ts";
import type { UsdPrice } from "../../domain/money/price.ts";
import type { Token } from "../../domain/money/token.ts";
import type { PriceBar } from "../../domain/strategy/decision.ts";
import { HOUR_MS } from "../../domain/time/durations.ts";
import type { Clock } from "../../ports/clock.ts";
import type { PriceSource } from "../../ports/price-source.ts";

/** The prices of a backtest at the instant of its clock. */
export interface Market extends PriceSource {
  /** undefined where the files say nothing of the instant */
  usd(token: Address): UsdPrice | undefined;
  /** Whether the price of a token now is a guess within one of its candles. */
  isGuess(token: Address): boolean;
  /** What else the price may be within this candle: its other extreme. Undefined where it is no guess. */
  otherExtreme(token: Address): UsdPrice | undefined;
  /** The hours that are known now, from an instant on, as strategies look back at them. */
  bars(token: Address, sinceMs: number): readonly PriceBar[];
}

type Hours = readonly (PriceBar & { readonly knownMs: number })[];

/** Makes the market of series by token. Tokens of one address each; a coin and its wrapped token share a series. */
export function createMarket(
  series: ReadonlyMap<Address, CandleSeries>,
  path: CandlePath,
  clock: Pick<Clock, "nowMs">,
): Market {
  const hours = new Map<Address, Hours>();
  const hoursBy = (token: Address, own: CandleSeries): Hours => {
    const known = hours.get(token) ?? hoursOf(own);
    hours.set(token, known);
    return known;
  };
  /** Of one instant, which is asked about many times. */
  const found = new Map<Address, PriceWithin | undefined>();
  let foundMs = Number.NaN;
  const now = (token: Address): PriceWithin | undefined => {
    const nowMs = clock.nowMs();
    if (foundMs !== nowMs) found.clear();
    foundMs = nowMs;
    if (!found.has(token)) {
      const own = series.get(token);
      found.set(token, own && priceWithin(own, nowMs, path));
    }
    return found.get(token);
  };
  return {
    usd: (token) => now(token)?.usd,
    isGuess: (token) => now(token)?.isInside === true,
    otherExtreme: (token) => {
      const own = series.get(token);
      if (own === undefined || path === "straight") return undefined;
      const candle = now(token)?.isInside === true ? candleAt(own, clock.nowMs()) : undefined;
      return candle && (path === "low-first" ? candle.high : candle.low);
    },
    price: async (token: Token) => {
      const usd = now(token.address)?.usd;
      const atSeconds = Math.floor(clock.nowMs() / 1_000);
      if (usd !== undefined && usd > 0n) return { usd, source: "file", atSeconds };
      const detail = `the price files have no candle of ${token.symbol} at this instant`;
      return { missing: "stale", detail };
    },
    bars: (token, sinceMs) => {
      const own = series.get(token);
      if (own === undefined) return [];
      const known = hoursBy(token, own);
      const nowMs = clock.nowMs();
      const [fromMs, runsSinceMs] = [hourOf(sinceMs), hourOf(nowMs)];
      const over = known.slice(
        firstAt(known, ({ hourMs }) => hourMs >= fromMs),
        firstAt(known, ({ hourMs, knownMs }) => knownMs > nowMs || hourMs >= runsSinceMs),
      );
      const running = runningHour(own, { nowMs, usd: now(token)?.usd });
      return running === undefined ? over : [...over, running];
    },
  };
}

function hourOf(atMs: number): number {
  return Math.floor(atMs / HOUR_MS) * HOUR_MS;
}

/** The first position at which something is true that stays true from there on. */
function firstAt(hours: Hours, isTrue: (hour: Hours[number]) => boolean): number {
  let low = 0;
  let high = hours.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const hour = hours[middle];
    if (hour !== undefined && isTrue(hour)) high = middle;
    else low = middle + 1;
  }
  return low;
}
