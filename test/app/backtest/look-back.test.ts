import { expect, it } from "vitest";
import { createMarket } from "../../../src/adapters/backtest/market.ts";
import { createVirtualClock } from "../../../src/app/backtest/virtual-clock.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import type { UsdPrice } from "../../../src/domain/money/price.ts";
import { backtestHome, csvOf, flat, played } from "./support/home.ts";

const HOUR = 3_600_000;
const TOKEN = toAddress(`0x${"5".repeat(40)}`);
const candle = (atMs: number, [low, high, close]: readonly [bigint, bigint, bigint]) => ({
  ...{ atMs, open: close as UsdPrice, high: high as UsdPrice, low: low as UsdPrice, close: close as UsdPrice },
});

/** Candles of half an hour around 101, 102, and so on, of one series; the last one of a gap is missing. */
function marketOf(missing: readonly number[] = []) {
  const stepMs = HOUR / 2;
  const candles = Array.from({ length: 12 }, (_, index) => {
    const close = 101n + BigInt(index);
    return candle(index * stepMs, [close - 50n, close + 50n, close]);
  }).filter((_, index) => !missing.includes(index));
  const clock = createVirtualClock(0);
  const market = createMarket(new Map([[TOKEN, { stepMs, candles }]]), "straight", clock);
  const bars = (sinceMs: number) =>
    market.bars(TOKEN, sinceMs).map(({ hourMs, high, low, close }) => [hourMs / HOUR, high, low, close]);
  return { clock, market, bars };
}

it("shows strategies that look back no candle that is not over, and only as far as they ask", () => {
  const { clock, market, bars } = marketOf();
  const [first, second, third] = [
    [0, 152n, 51n, 102n],
    [1, 154n, 53n, 104n],
    [2, 156n, 55n, 106n],
  ];
  expect(bars(0)).toEqual([]);
  clock.set(2 * HOUR);
  expect(bars(0)).toEqual([first, second]);
  clock.set(3 * HOUR);
  expect(bars(0)).toEqual([first, second, third]);
  expect(bars(HOUR + 5)).toEqual([second, third]);
  expect(market.usd(TOKEN)).toBe(107n);
});

it("shows of the hour that runs its candles that are over and the price of now, and nothing that comes", () => {
  const { clock, bars } = marketOf();
  clock.set(2 * HOUR + 1);
  // the candle at 2:00 reaches from 55 to 155, and none of it is known but where it stands
  expect(bars(2 * HOUR)).toEqual([[2, 105n, 105n, 105n]]);
  clock.set(2.5 * HOUR);
  expect(bars(2 * HOUR)).toEqual([[2, 155n, 55n, 106n]]);
  clock.set(3 * HOUR - 1);
  expect(bars(HOUR).map(([hour]) => hour)).toEqual([1, 2]);
  expect(bars(2 * HOUR)).toEqual([[2, 155n, 55n, 106n]]);
});

it("shows an hour that runs into a gap of the prices once, by what is known of it", () => {
  const { clock, bars } = marketOf([3, 4, 5]);
  clock.set(2 * HOUR - 1);
  expect(bars(HOUR)).toEqual([[1, 153n, 53n, 103n]]);
  clock.set(3 * HOUR - 1);
  expect(bars(HOUR)).toEqual([[1, 153n, 53n, 103n]]);
});

it("a dip under a high of the hour that runs is bought as the daemon buys it", async () => {
  const strategy = `kind: dca
wallet: main
sell: "100 USDC"
buy: WETH
schedule: { every: 1d, anchor: 2025-01-02T10:45Z }
dips: { reference: { high: 12h }, tiers: [{ drop: 10%, multiply: 2x }] }
`;
  // A day and ten hours at 2,000, half an hour at 2,500, and 2,000 again.
  const prices = csvOf([...flat(2_000, 136), ...flat(2_500, 2), ...flat(2_000, 6)]);
  const { fills } = await played(backtestHome({ strategy, prices }));
  expect(fills.map(({ at, sold }) => [at.slice(0, 16), Number(sold) / 1e6])).toEqual([["2025-01-02T10:45", 200]]);
});
