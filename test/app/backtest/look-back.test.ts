import { expect, it } from "vitest";
import { createMarket } from "../../../src/adapters/backtest/market.ts";
import { createVirtualClock } from "../../../src/app/backtest/virtual-clock.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import type { UsdPrice } from "../../../src/domain/money/price.ts";

const HOUR = 3_600_000;
const TOKEN = toAddress(`0x${"5".repeat(40)}`);
const candle = (atMs: number, price: bigint) => {
  const usd = price as UsdPrice;
  return { atMs, open: usd, high: usd, low: usd, close: usd };
};

it("shows strategies that look back no candle that is not over, and only as far as they ask", () => {
  const stepMs = HOUR / 2;
  const candles = Array.from({ length: 12 }, (_, index) => candle(index * stepMs, BigInt(index + 1)));
  const clock = createVirtualClock(0);
  const market = createMarket(new Map([[TOKEN, { stepMs, candles }]]), "straight", clock);
  const hours = (sinceMs: number) => market.bars(TOKEN, sinceMs).map(({ hourMs, close }) => [hourMs / HOUR, close]);
  expect(hours(0)).toEqual([]);
  clock.set(3 * HOUR - 1);
  expect(hours(0)).toEqual([
    [0, 2n],
    [1, 4n],
  ]);
  clock.set(3 * HOUR);
  expect(hours(0)).toEqual([
    [0, 2n],
    [1, 4n],
    [2, 6n],
  ]);
  expect(hours(HOUR + 5)).toEqual([
    [1, 4n],
    [2, 6n],
  ]);
  expect(market.usd(TOKEN)).toBe(7n);
});
