import { expect, test } from "vitest";
import { holdingsOf, newestPrices, realisedOf } from "../../../src/domain/books/lot-sums.ts";
import { keepLots } from "../../../src/domain/books/lots.ts";
import { dollarsOf, ETH, opening, priced, spentGas, swapped, USDC, WETH } from "../../support/book-samples.ts";

const FIFO = { method: "fifo", orders: [] } as const;
const WHOLE = 10n ** 18n;
const buys = (day: number, usd: bigint, isPriced = true) =>
  swapped(day, {
    ...{ sold: { asset: USDC, raw: usd * 1_000_000n }, bought: { asset: WETH, raw: WHOLE }, gas: undefined },
    prices: isPriced
      ? { sold: priced(1n, day), bought: priced(usd, day), native: undefined }
      : { sold: undefined, bought: undefined, native: undefined },
  });
const sells = (day: number, usd: bigint, isPriced = true) =>
  swapped(day, {
    ...{ sold: { asset: WETH, raw: WHOLE }, bought: { asset: USDC, raw: usd * 1_000_000n }, gas: undefined },
    prices: isPriced
      ? { sold: priced(usd, day), bought: priced(1n, day), native: undefined }
      : { sold: undefined, bought: undefined, native: undefined },
  });

test("what is held is worth its newest price, and only what cost something known has a result that is not realised", () => {
  const entries = [opening(0, { held: { asset: WETH, raw: WHOLE } }), buys(1, 1_000n), buys(2, 3_000n)];
  const [held] = holdingsOf(keepLots(entries, FIFO), newestPrices(entries)).filter(({ asset }) => asset === WETH);
  expect(held).toMatchObject({
    ...{ lots: 3, raw: 3n * WHOLE, knownRaw: 2n * WHOLE, basis: dollarsOf(4_000n) },
    ...{ value: dollarsOf(9_000n), unrealised: dollarsOf(2_000n) },
  });
  const unpriced = holdingsOf(keepLots([opening(0)], FIFO), new Map());
  expect(unpriced).toMatchObject([{ value: undefined, unrealised: undefined, knownRaw: 0n }]);
});

test("results have what is known on both sides, and what is not stands apart and is counted", () => {
  const entries = [
    opening(0, { held: { asset: WETH, raw: WHOLE } }),
    ...[buys(1, 1_000n), buys(2, 1_500n), sells(3, 2_000n), sells(4, 2_500n), sells(5, 4_000n, false)],
  ];
  const [sum] = realisedOf(keepLots(entries, FIFO).disposals).filter(({ asset }) => asset === WETH);
  expect(sum).toMatchObject({
    known: { raw: WHOLE, basis: dollarsOf(1_000n), proceeds: dollarsOf(2_500n), result: dollarsOf(1_500n) },
    unknownBasis: { raw: WHOLE, proceeds: dollarsOf(2_000n), unpriced: 0n },
    unvalued: { raw: WHOLE, basis: dollarsOf(1_500n) },
  });
});

test("what left at an unknown cost and without a price is apart from what brought nothing", () => {
  const entries = [opening(0, { held: { asset: WETH, raw: 3n * WHOLE } }), sells(1, 2_000n), sells(2, 2_500n, false)];
  const [sum] = realisedOf(keepLots(entries, FIFO).disposals).filter(({ asset }) => asset === WETH);
  expect(sum?.unknownBasis).toEqual({ raw: 2n * WHOLE, proceeds: dollarsOf(2_000n), unpriced: WHOLE });
});

test("the newest price is that of the latest reading, of the coin by gas too", () => {
  const entries = [buys(1, 1_000n), spentGas(3, { price: priced(2_600n, 3) }), buys(2, 3_000n)];
  const prices = newestPrices(entries);
  expect([prices.get(WETH.address)?.usd, prices.get(ETH.address)?.usd]).toEqual([dollarsOf(3_000n), dollarsOf(2_600n)]);
});
