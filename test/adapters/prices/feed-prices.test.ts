import { AbiCoder } from "ethers";
import { describe, expect, it } from "vitest";
import { createFeedPrices } from "../../../src/adapters/prices/feed-prices.ts";
import { type Hex, toAddress } from "../../../src/domain/money/address.ts";
import type { Chain } from "../../../src/ports/chain.ts";

const TOKEN = { symbol: "WETH", address: toAddress(`0x${"11".repeat(20)}`), decimals: 18 };
const FEED = toAddress(`0x${"22".repeat(20)}`);
const NOW = 1_800_000_000;
const MAX_AGE = 100;

interface Answer {
  readonly price?: bigint;
  readonly updatedAt?: number;
  readonly decimals?: bigint;
  readonly raw?: Hex;
}

/** A chain on which only the feed answers. */
function chainWith({ price = 3_000n * 10n ** 8n, updatedAt = NOW - 10, decimals = 8n, raw }: Answer): Chain {
  const coder = AbiCoder.defaultAbiCoder();
  const round = coder.encode(["uint80", "int256", "uint256", "uint256", "uint80"], [1, price, 0, updatedAt, 1]) as Hex;
  const calls: Record<string, Hex> = {
    "0xfeaf968c": raw ?? round,
    "0x313ce567": coder.encode(["uint256"], [decimals]) as Hex,
  };
  return {
    call: async ({ data }: { data: Hex }) => calls[data],
    latest: async () => ({ number: 1, hash: "0x00", timestamp: NOW, baseFeePerGas: 1n }),
  } as unknown as Chain;
}

async function priceWith(answer: Answer) {
  const feeds = new Map([[TOKEN.address, { address: FEED, maxAgeSeconds: MAX_AGE }]]);
  return await createFeedPrices(feeds, chainWith(answer)).price(TOKEN);
}

describe("a price feed", () => {
  it("gives dollars in 1e-18 whatever its own decimals", async () => {
    expect(await priceWith({})).toMatchObject({ usd: 3_000n * 10n ** 18n, atSeconds: NOW - 10 });
    expect(await priceWith({ decimals: 18n, price: 5n * 10n ** 17n })).toMatchObject({ usd: 5n * 10n ** 17n });
    expect(await priceWith({ decimals: 20n, price: 10n ** 20n })).toMatchObject({ usd: 10n ** 18n });
  });

  it("is stale one second after its heartbeat and margin, by the chain's time", async () => {
    expect(await priceWith({ updatedAt: NOW - MAX_AGE })).toHaveProperty("usd");
    expect(await priceWith({ updatedAt: NOW - MAX_AGE - 1 })).toMatchObject({ missing: "stale" });
  });

  it.each([
    ["zero", { price: 0n }],
    ["negative", { price: -1n }],
    ["of the future", { updatedAt: NOW + 1 }],
    ["too short", { raw: "0x01" as Hex }],
    ["of absurd decimals", { decimals: 200n }],
  ])("is no price when its answer is %s", async (_name, answer) => {
    expect(await priceWith(answer)).toMatchObject({ missing: "invalid" });
  });

  it("is no price when the node does not answer, and none when it is not configured", async () => {
    const broken = {
      call: async () => {
        throw new Error("no node answered");
      },
    } as unknown as Chain;
    const feeds = new Map([[TOKEN.address, { address: FEED, maxAgeSeconds: MAX_AGE }]]);
    expect(await createFeedPrices(feeds, broken).price(TOKEN)).toMatchObject({ missing: "unreachable" });
    expect(await createFeedPrices(new Map(), broken).price(TOKEN)).toMatchObject({ missing: "not configured" });
  });
});
