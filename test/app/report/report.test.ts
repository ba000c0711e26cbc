import { expect, test } from "vitest";
import { nameAssets, TABLE_WORDS } from "../../../src/app/books/asset-names.ts";
import { assetsOf } from "../../../src/app/books/ledger-parts.ts";
import { reportPage } from "../../../src/app/report/report-page.ts";
import { againstLumpSums, costsOf, executionsOf, strategyFigures } from "../../../src/app/report/strategy-figures.ts";
import { followValue } from "../../../src/app/report/value-course.ts";
import type { Entry } from "../../../src/domain/books/entry.ts";
import { holdingsOf, newestPrices, realisedOf } from "../../../src/domain/books/lot-sums.ts";
import { keepLots } from "../../../src/domain/books/lots.ts";
import {
  addressOf,
  DAY_MS,
  dollarsOf,
  handedOn,
  MAIN,
  OTHER,
  opening,
  priced,
  START_MS,
  STRANGER,
  spentGas,
  swapped,
  USDC,
  WETH,
} from "../../support/book-samples.ts";
import { HOSTILE_NAMES } from "../../support/hostile-names.ts";

const ALL = { sinceMs: 0, isCounted: () => true };
/** Buys 0.1 WETH for 100 dollars at 1000, then 0.05 at 2000, then 0.2 at 500: each at the reference. */
const steps = [1_000n, 2_000n, 500n].map((usd, index) =>
  swapped(index + 1, {
    sold: { asset: USDC, raw: 100_000_000n },
    bought: { asset: WETH, raw: (100n * 10n ** 18n) / usd },
    prices: { sold: priced(1n), bought: priced(usd), native: priced(usd) },
    quoted: (100n * 10n ** 18n) / usd,
    gas: undefined,
  }),
);

function pageOf(entries: readonly Entry[], change: Partial<Parameters<typeof reportPage>[0]> = {}): string {
  const named = nameAssets(entries.flatMap(assetsOf), new Map(), TABLE_WORDS);
  if (!named.ok) throw new Error(named.problems.join("; "));
  const lots = keepLots(entries, { method: "fifo", orders: [] });
  return reportPage({
    ...{ world: "live", network: "base (chain 8453)", wallet: undefined, entries, notFinal: 0 },
    course: followValue(entries, ALL),
    holdings: holdingsOf(lots, newestPrices(entries)),
    realised: realisedOf(lots.disposals),
    nameOf: ({ address }) => named.names.get(address) ?? address,
    walletName: (wallet) => (wallet === MAIN ? "main" : wallet),
    ...change,
  });
}

test("value over time is what was held at each instant by the newest prices", () => {
  const { points } = followValue([opening(0), ...steps], ALL);
  expect(points.map(({ total }) => total)).toEqual([dollarsOf(1_000n), ...[1_000n, 1_100n, 875n].map(dollarsOf)]);
  expect(points.at(-1)?.byAsset).toEqual(
    new Map([
      [USDC.address, dollarsOf(700n)],
      [WETH.address, dollarsOf(175n)],
    ]),
  );
});

test("what no row saw come in is no debt of what comes later, nor of another wallet", () => {
  const sale = swapped(1, {
    ...{ sold: { asset: WETH, raw: 10n ** 18n }, bought: { asset: USDC, raw: 2_500_000_000n }, gas: undefined },
    prices: { sold: priced(2500n), bought: priced(1n), native: undefined },
  });
  const purchase = (wallet: typeof MAIN): Entry =>
    swapped(2, {
      ...{ sold: sale.bought, bought: sale.sold, gas: undefined, wallet, recipient: wallet },
      prices: { sold: priced(1n), bought: priced(2500n), native: undefined },
    });
  const total = (...entries: Entry[]) => followValue(entries, ALL).points.at(-1)?.total;
  expect(total(sale, purchase(MAIN))).toBe(dollarsOf(2_500n));
  expect(total(sale, purchase(OTHER))).toBe(dollarsOf(5_000n));
});

test("what left without a known cost, or without a price, is in no result, and the page says so", () => {
  const lot = opening(0, { id: "lot.1", held: { asset: USDC, raw: 10_000_000n }, basis: dollarsOf(9n), acquiredMs: 1 });
  const sale = (change: Partial<ReturnType<typeof swapped>>): Entry =>
    swapped(1, {
      ...{
        sold: { asset: USDC, raw: 1_010_000_000n },
        bought: { asset: WETH, raw: 404n * 10n ** 15n },
        gas: undefined,
      },
      ...change,
    });
  const text = pageOf([lot, opening(0), sale({})]);
  expect(text).toContain("<td>1.00 USD and not known</td>");
  expect(text).toContain("At a cost that nobody knows left 1000 USDC for 1000.00 USD: in no result.");
  const unpriced = { sold: undefined, bought: undefined, native: undefined };
  const silent = pageOf([lot, sale({ sold: lot.held, prices: unpriced })]);
  expect(silent).toContain("<td>not known</td>");
  expect(silent).toContain("Without a price left 10 USDC, at a cost of 9.00 USD: in no result.");
});

test("what is sent away leaves the value, and what goes to a wallet of ours does not", () => {
  const value = (...entries: Entry[]) =>
    followValue([opening(0), swapped(1, { gas: undefined }), ...entries], ALL).points.at(-1)?.total;
  expect(value()).toBe(dollarsOf(1_000n));
  expect(value(handedOn(1))).toBe(dollarsOf(1_000n));
  const course = followValue(
    [opening(0), swapped(1, { gas: undefined }), handedOn(1, { recipient: STRANGER, isOwn: false })],
    {
      sinceMs: 0,
      isCounted: (wallet) => wallet === MAIN || wallet === OTHER,
    },
  );
  expect(course.points.at(-1)?.total).toBe(dollarsOf(900n));
});

test("a lot of before all else, whose day nobody knows, is held from the first day that is known, and not since 1970", () => {
  const undated = opening(0, { id: "lot.2", atMs: 0, blockNumber: 0 });
  const { points } = followValue([undated, ...steps], ALL);
  expect(points.map(({ atMs, total }) => [atMs, total])).toEqual(
    [1_000n, 1_100n, 875n].map((total, index) => [START_MS + (index + 1) * DAY_MS, dollarsOf(total)]),
  );
  const page = pageOf([undated, ...steps]);
  expect(page).not.toContain("1970");
  expect(page).toContain("2026-01-02T00:00:00Z to 2026-01-04T00:00:00Z");
  expect(pageOf([undated])).toContain("no entries");
});

test("what has no price is in no total, and named", () => {
  const odd = { address: addressOf("0dd"), symbol: "ODD", decimals: 18 };
  const { points, unpriced } = followValue(
    [opening(0, { held: { asset: odd, raw: 5n } }), swapped(1, { gas: undefined })],
    ALL,
  );
  expect([points.at(-1)?.byAsset.has(odd.address), unpriced]).toEqual([false, [odd]]);
});

test("steps are held against all at once: what is not spent yet counts, and both end at the same price", () => {
  const { found: all, unpriced: none } = againstLumpSums([opening(0), ...steps]);
  const [found, ...more] = all;
  expect([more, none]).toEqual([[], []]);
  expect(found?.points.map(({ inSteps, atOnce }) => [inSteps, atOnce])).toEqual([
    [dollarsOf(300n), dollarsOf(300n)],
    [dollarsOf(400n), dollarsOf(600n)],
    [dollarsOf(175n), dollarsOf(150n)],
  ]);
  expect(againstLumpSums(steps.slice(0, 2))).toEqual({ found: [], unpriced: [] });
});

/** Steps of a strategy; the first one has a price or none. */
function stepsOf(strategy: string, isPriced = true): Entry[] {
  const none = { sold: undefined, bought: undefined, native: undefined };
  return steps.map((step, index) => ({
    ...{ ...step, id: `${strategy}.${index}`, strategy },
    prices: isPriced || index > 0 ? step.prices : none,
  }));
}

test("steps that are in no plot are named: those beyond the eighth, and those with a swap of which no price is known", () => {
  expect(againstLumpSums(stepsOf("odd", false))).toEqual({ found: [], unpriced: ["odd"] });
  const names = Array.from({ length: 10 }, (_, index) => `plan-${index}`);
  const page = pageOf([
    ...names.flatMap((name) => stepsOf(name)),
    ...stepsOf("odd", false),
    ...stepsOf("two").slice(1),
  ]);
  expect(page).toContain("<li>Of those that buy in steps 8 are drawn, and these are not: plan-8, plan-9.</li>");
  expect(page).toContain("<li>They buy in steps and are not drawn, because a swap of theirs has no price: odd.</li>");
  expect(pageOf(stepsOf("one"))).not.toContain("not drawn");
});

test("execution is in parts of a million against reference and quote, and costs have what was priced", () => {
  const worse = swapped(4, {
    bought: { asset: WETH, raw: 39_600_000_000_000_000n },
    fees: { service: 1_000_000n, affiliate: 500_000n },
  });
  expect(executionsOf([worse])).toMatchObject([{ reference: -10_000n, quote: -10_000n }]);
  expect(costsOf([worse, spentGas(5), spentGas(6, { price: undefined })]).map(({ fees, gas }) => [fees, gas])).toEqual([
    [15n * 10n ** 17n, 25n * 10n ** 16n],
    [0n, 125n * 10n ** 15n],
    [0n, 0n],
  ]);
  expect(strategyFigures([worse, ...steps])).toMatchObject([{ strategy: "weekly-eth", swaps: 4, reference: 0n }]);
});

test("the result of what was sold whole is told, though nothing of it is held", () => {
  const bought = swapped(1, { gas: undefined });
  const sold = swapped(2, {
    sold: bought.bought,
    bought: { asset: USDC, raw: 130_000_000n },
    prices: { sold: priced(3_250n), bought: priced(1n), native: priced(3_250n) },
    gas: undefined,
  });
  const rows = [...pageOf([opening(0), bought, sold]).matchAll(/<tr><th scope="row">WETH<\/th>(.*?)<\/tr>/g)];
  const cells = rows.map(([, row = ""]) => [...row.matchAll(/<td>(.*?)<\/td>/g)].map(([, cell]) => cell));
  expect(cells).toEqual([["0", "-", "-", "-", "30.00 USD"]]);
});

test("of several wallets it is told which one holds what, and of one it needs no word", () => {
  const entries = [
    opening(0),
    opening(0, { id: "opening.other", wallet: OTHER, held: { asset: USDC, raw: 5_000_000n } }),
  ];
  const rows = [...pageOf(entries).matchAll(/<tr><th scope="row">USDC<\/th><td>(.*?)<\/td><td>(.*?)<\/td>/g)];
  expect(rows.map(([, wallet, amount]) => [wallet, amount])).toEqual([
    ["main", "1000"],
    [OTHER, "5"],
  ]);
  expect(pageOf([opening(0)])).not.toContain(">Wallet<");
});

test("the page needs nothing else, and runs nothing", () => {
  const page = pageOf([opening(0), ...steps, spentGas(5)]);
  expect(page).toContain("default-src 'none'");
  expect(page).not.toMatch(/<script|<iframe|<object|javascript:|\son\w+=/i);
  expect([...page.matchAll(/(?:src|href|url)\s*[=(]\s*["']?([^"')\s>]*)/g)].map(([, target]) => target)).toEqual([
    "data:,",
  ]);
  expect(page).not.toContain("http://");
  expect(page).not.toContain("https://");
  expect(page.match(/<svg /g)?.length).toBeGreaterThan(4);
  expect(page).not.toMatch(/NaN|Infinity|undefined/);
  for (const part of ["Weights", "In steps, or at once", "Against the reference", "Fees and gas", "No tax advice"])
    expect(page).toContain(part);
});

test("hostile names of strategies and tokens are text", () => {
  const names = [
    ...HOSTILE_NAMES,
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><h1>",
    "</svg>",
  ];
  const entries = names.flatMap((name, index) => {
    const asset = { address: addressOf(`bad${index.toString(16)}`), symbol: name, decimals: 18 };
    return [1, 2, 3].map((step) =>
      swapped(index * 3 + step, { id: `${index}.${step}`, bought: { asset, raw: 10n ** 18n }, strategy: name }),
    );
  });
  const page = pageOf(entries, { wallet: "<b>main", network: "<i>net" });
  expect(page).not.toMatch(/<script|<img|<b>main|<i>net/i);
  expect(page.match(/<\/style>/g)).toHaveLength(1);
  expect(page.match(/<h1>/g)).toHaveLength(1);
  expect(page.match(/<svg /g)?.length).toBe(page.match(/<\/svg>/g)?.length);
});

test("a book of a sandbox or on paper says so, an empty one too, and one without entries is a page", () => {
  expect(pageOf(steps, { world: "paper" })).toContain("PAPER: nothing of it is real money");
  expect(pageOf([])).toContain("no entries");
  expect(pageOf(steps)).not.toContain("real money");
});
