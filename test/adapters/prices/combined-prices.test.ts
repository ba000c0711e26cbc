import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCombinedPrices } from "../../../src/adapters/prices/combined-prices.ts";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { highestOf, lowestOf, type UsdPrice } from "../../../src/domain/money/price.ts";
import type { PriceSource } from "../../../src/ports/price-source.ts";
import { NOW, saying, USDC, usd, WETH } from "./fixtures.ts";

const ALL = () => true;
const TWO_PERCENT = toPpm(20_000);

async function combined(...sources: readonly PriceSource[]) {
  const covering = sources.map((prices) => ({ prices, covers: ALL }));
  return await createCombinedPrices(covering, TWO_PERCENT).price(WETH);
}

describe("several sources of one price", () => {
  it("GRD-12 agree up to the largest divergence, and one millionth of a dollar more is too much", async () => {
    expect(await combined(saying("1000"), saying("1020", "twap"))).toMatchObject({
      ...{ usd: usd("1000"), source: "feed" },
      others: [{ usd: usd("1020"), source: "twap" }],
    });
    const missing = await combined(saying("1000"), saying("1020.000001", "twap"));
    expect(missing).toMatchObject({
      missing: "divergent",
      detail: expect.stringMatching(/feed says 1000.*twap says 1020/),
    });
    expect(await combined(saying("1020.000001"), saying("1000", "twap"))).toMatchObject({ missing: "divergent" });
  });

  it("GRD-11 must all answer: none stands in for another", async () => {
    const stale = { missing: "stale", detail: "an hour old" } as const;
    expect(await combined(saying("1000"), saying(stale))).toEqual(stale);
    expect(await combined(saying(stale), saying("1000", "twap"))).toEqual(stale);
  });

  it("are as old as the oldest of them", async () => {
    expect(await combined(saying("1"), saying("1", "twap", NOW - 90))).toMatchObject({ atSeconds: NOW - 90 });
  });

  it("need not answer for tokens that they do not cover, but one must", async () => {
    const dead = saying({ missing: "unreachable", detail: "no node answered" });
    const sources = [
      { prices: saying("1000"), covers: ({ symbol }: { symbol: string }) => symbol === "WETH" },
      { prices: dead, covers: () => false },
    ];
    const prices = createCombinedPrices(sources, TWO_PERCENT);
    expect(await prices.price(WETH)).toEqual({ usd: usd("1000"), source: "feed", atSeconds: NOW });
    expect(await prices.price(USDC)).toMatchObject({ missing: "not configured" });
  });
});

it("the dearest and the cheapest of what sources say keep what the others say", () => {
  const amounts = fc.array(fc.bigInt({ min: 1n, max: 10n ** 24n }), { minLength: 1, maxLength: 4 });
  const property = fc.property(amounts, ([first = 1n, ...rest]) => {
    const others = rest.map((value, index) => ({ usd: value as UsdPrice, source: `source ${index}` }));
    const price = { usd: first as UsdPrice, source: "first", atSeconds: NOW, others };
    const all = [first, ...rest];
    for (const chosen of [highestOf(price), lowestOf(price)]) {
      const back = [chosen.usd, ...(chosen.others ?? []).map((each) => each.usd)];
      expect([...back].sort()).toEqual([...all].sort());
    }
    expect(all.every((value) => highestOf(price).usd >= value && lowestOf(price).usd <= value)).toBe(true);
  });
  fc.assert(property, { numRuns: 200 });
});
