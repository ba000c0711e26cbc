import { describe, expect, it } from "vitest";
import { createFeedPrices } from "../../../src/adapters/prices/feed-prices.ts";
import { type Hex, toAddress } from "../../../src/domain/money/address.ts";
import { type Answers, chainWith, DEAD_CHAIN, encode, NOW, WETH, word } from "./fixtures.ts";

const FEED = toAddress(`0x${"22".repeat(20)}`);
const AGGREGATOR = toAddress(`0x${"33".repeat(20)}`);
const MAX_AGE = 100;
const FEEDS = new Map([[WETH.address, { address: FEED, maxAgeSeconds: MAX_AGE }]]);

interface Answer {
  readonly price?: bigint;
  readonly updatedAt?: number;
  readonly roundId?: bigint;
  readonly answeredInRound?: bigint;
  readonly decimals?: bigint;
  readonly raw?: Hex;
  /** what its aggregator shows as its bounds */
  readonly bounds?: readonly [bigint, bigint];
}

function answersOf(answer: Answer): Answers {
  const { price = 3_000n * 10n ** 8n, updatedAt = NOW - 10, decimals = 8n, raw, bounds } = answer;
  const { roundId = 7n, answeredInRound = roundId } = answer;
  const types = ["uint80", "int256", "uint256", "uint256", "uint80"];
  const round = raw ?? encode(types, [roundId, price, 0, updatedAt, answeredInRound]);
  const feed = { "latestRoundData()": round, "decimals()": word(decimals) };
  if (bounds === undefined) return { [FEED]: feed };
  return {
    [FEED]: { ...feed, "aggregator()": word(AGGREGATOR) },
    [AGGREGATOR]: { "minAnswer()": word(bounds[0]), "maxAnswer()": word(bounds[1]) },
  };
}

async function priceWith(answer: Answer) {
  return await createFeedPrices(FEEDS, chainWith(answersOf(answer))).price(WETH);
}

describe("a price feed", () => {
  it("gives dollars in 1e-18 whatever its own decimals", async () => {
    expect(await priceWith({})).toMatchObject({ usd: 3_000n * 10n ** 18n, atSeconds: NOW - 10 });
    expect(await priceWith({ decimals: 18n, price: 5n * 10n ** 17n })).toMatchObject({ usd: 5n * 10n ** 17n });
    expect(await priceWith({ decimals: 20n, price: 10n ** 20n })).toMatchObject({ usd: 10n ** 18n });
  });

  it("GRD-10 is stale one second after its heartbeat and margin, by the chain's time", async () => {
    expect(await priceWith({ updatedAt: NOW - MAX_AGE })).toHaveProperty("usd");
    expect(await priceWith({ updatedAt: NOW - MAX_AGE - 1 })).toMatchObject({ missing: "stale" });
  });

  it("GRD-10 is a price where the feed was updated in a block after the one that was read beside it", async () => {
    expect(await priceWith({ updatedAt: NOW + 1 })).toHaveProperty("usd");
    expect(await priceWith({ updatedAt: NOW + 60 })).toHaveProperty("usd");
  });

  it.each([
    ["zero", { price: 0n }],
    ["negative", { price: -1n }],
    ["of the future", { updatedAt: NOW + 61 }],
    ["of a year that no number holds", { raw: encode(["uint256[5]"], [[1, 1, 1, 2n ** 255n, 1]]) }],
    ["of a round that is not complete", { updatedAt: 0 }],
    ["carried over from a round before", { roundId: 8n, answeredInRound: 7n }],
    ["too short", { raw: "0x01" as Hex }],
    ["too long", { raw: `0x${"01".repeat(6 * 32)}` as Hex }],
    ["of absurd decimals", { decimals: 200n }],
  ])("GRD-10 is no price when its answer is %s", async (_name, answer) => {
    expect(await priceWith(answer)).toMatchObject({ missing: "invalid" });
  });

  it("GRD-10 is no price at a bound of its aggregator, where it would stay while the market goes on", async () => {
    const bounds = [10n ** 7n, 5_000n * 10n ** 8n] as const;
    expect(await priceWith({ bounds })).toHaveProperty("usd");
    for (const price of [bounds[0], bounds[1], bounds[1] + 1n]) {
      const missing = await priceWith({ bounds, price });
      expect(missing).toMatchObject({ missing: "invalid", detail: expect.stringContaining("at a bound") });
    }
    expect(await priceWith({ bounds, price: bounds[0] + 1n })).toHaveProperty("usd");
  });

  it("asks for the bounds each time, because the aggregator behind a proxy changes", async () => {
    const feeds = createFeedPrices(FEEDS, {
      ...chainWith(answersOf({})),
      call: async (request) => await current.call(request),
    });
    let current = chainWith(answersOf({}));
    expect(await feeds.price(WETH)).toHaveProperty("usd");
    current = chainWith(answersOf({ bounds: [1n, 3_000n * 10n ** 8n] }));
    expect(await feeds.price(WETH)).toMatchObject({ missing: "invalid" });
  });

  it("is no price when the node does not answer, and none when it is not configured", async () => {
    expect(await createFeedPrices(FEEDS, DEAD_CHAIN).price(WETH)).toMatchObject({ missing: "unreachable" });
    expect(await createFeedPrices(new Map(), DEAD_CHAIN).price(WETH)).toMatchObject({ missing: "not configured" });
  });
});
