import fc from "fast-check";
import { expect, test } from "vitest";
import { USDC, usd, WETH } from "../../../support/builders.ts";
import { openDaemonDatabase } from "../../../support/daemon-database.ts";

const HOUR_MS = 3_600_000;
/** An instant on a whole hour. */
const NOON_MS = 1_700_006_400_000;

test("an hour's bar holds its highest, lowest and last price, by value and not by its text", () => {
  const { store } = openDaemonDatabase();
  for (const [minute, price] of [
    [0, "999"],
    [20, "1000.5"],
    [40, "98.25"],
    [59, "100"],
  ] as const) {
    store.addPriceSample(WETH.address, NOON_MS + minute * 60_000, usd(price));
  }
  expect(store.priceBars(WETH.address, NOON_MS)).toEqual([
    { hourMs: NOON_MS, high: usd("1000.5"), low: usd("98.25"), close: usd("100"), samples: 4 },
  ]);
});

test("a sample belongs to the hour that it was taken in, to the millisecond, and to its token", () => {
  const { store } = openDaemonDatabase();
  store.addPriceSample(WETH.address, NOON_MS - 1, usd("1"));
  store.addPriceSample(WETH.address, NOON_MS, usd("2"));
  store.addPriceSample(WETH.address, NOON_MS + HOUR_MS, usd("3"));
  store.addPriceSample(USDC.address, NOON_MS, usd("7"));
  expect(store.priceBars(WETH.address, 0).map(({ hourMs, close }) => [hourMs, close])).toEqual([
    [NOON_MS - HOUR_MS, usd("1")],
    [NOON_MS, usd("2")],
    [NOON_MS + HOUR_MS, usd("3")],
  ]);
  expect(store.priceBars(USDC.address, 0)).toHaveLength(1);
});

test("a look-back begins with the hour that it reaches into, and an hour in which nobody looked has no bar", () => {
  const { store } = openDaemonDatabase();
  for (const hour of [0, 1, 3]) store.addPriceSample(WETH.address, NOON_MS + hour * HOUR_MS, usd("1"));
  const hours = (sinceMs: number) =>
    store.priceBars(WETH.address, sinceMs).map(({ hourMs }) => (hourMs - NOON_MS) / HOUR_MS);
  expect(hours(NOON_MS + HOUR_MS - 1)).toEqual([0, 1, 3]);
  expect(hours(NOON_MS + HOUR_MS)).toEqual([1, 3]);
  expect(hours(NOON_MS + 2 * HOUR_MS)).toEqual([3]);
});

test("prices beyond every number type come back as they were", () => {
  const { store } = openDaemonDatabase();
  const huge = usd(`${2n ** 150n}.000000000000000001`);
  store.addPriceSample(WETH.address, NOON_MS, huge);
  store.addPriceSample(WETH.address, NOON_MS + 1, usd("0.000000000000000001"));
  expect(store.priceBars(WETH.address, NOON_MS)).toMatchObject([{ high: huge, low: 1n, close: 1n, samples: 2 }]);
});

test("pruning drops only hours that are over, and only those of its token", () => {
  const { store } = openDaemonDatabase();
  for (const token of [WETH, USDC]) {
    for (const hour of [0, 1, 2]) store.addPriceSample(token.address, NOON_MS + hour * HOUR_MS, usd("1"));
  }
  store.prunePriceBars(WETH.address, { sinceMs: NOON_MS + 2 * HOUR_MS - 1, untilMs: NOON_MS + 200 * HOUR_MS });
  expect(store.priceBars(WETH.address, 0).map(({ hourMs }) => (hourMs - NOON_MS) / HOUR_MS)).toEqual([1, 2]);
  store.prunePriceBars(WETH.address, { sinceMs: NOON_MS + 2 * HOUR_MS, untilMs: NOON_MS + 200 * HOUR_MS });
  expect(store.priceBars(WETH.address, 0).map(({ hourMs }) => (hourMs - NOON_MS) / HOUR_MS)).toEqual([2]);
  expect(store.priceBars(USDC.address, 0)).toHaveLength(3);
});

test("pruning drops the hours to come that a clock ahead left: nothing is added to them once they are there", () => {
  const { store } = openDaemonDatabase();
  for (const hour of [0, 1, 8_760]) store.addPriceSample(WETH.address, NOON_MS + hour * HOUR_MS, usd("1"));
  store.prunePriceBars(WETH.address, { sinceMs: NOON_MS, untilMs: NOON_MS + HOUR_MS });
  expect(store.priceBars(WETH.address, 0).map(({ hourMs }) => (hourMs - NOON_MS) / HOUR_MS)).toEqual([0, 1]);
});

test("bars are what an hour's samples come to, in whatever order the hours come", () => {
  const { store } = openDaemonDatabase();
  const sample = fc.record({ minute: fc.nat(60 * 5), price: fc.bigInt({ min: 1n, max: 10n ** 30n }) });
  fc.assert(
    fc.property(fc.array(sample, { minLength: 1, maxLength: 30 }), (samples) => {
      store.prunePriceBars(WETH.address, { sinceMs: NOON_MS + 100 * HOUR_MS, untilMs: NOON_MS + 200 * HOUR_MS });
      for (const { minute, price } of samples) {
        store.addPriceSample(WETH.address, NOON_MS + minute * 60_000, price as ReturnType<typeof usd>);
      }
      const bars = store.priceBars(WETH.address, 0);
      expect(bars.reduce((sum, bar) => sum + bar.samples, 0)).toBe(samples.length);
      for (const bar of bars) {
        const own = samples.filter(({ minute }) => NOON_MS + Math.floor(minute / 60) * HOUR_MS === bar.hourMs);
        const prices = own.map(({ price }) => price).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
        expect([bar.low, bar.high, bar.close]).toEqual([prices[0], prices.at(-1), own.at(-1)?.price]);
      }
    }),
    { numRuns: 50 },
  );
});
