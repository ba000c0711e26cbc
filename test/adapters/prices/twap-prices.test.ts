import { describe, expect, it } from "vitest";
import { createTwapPrices } from "../../../src/adapters/prices/twap-prices.ts";
import { type Hex, toAddress } from "../../../src/domain/money/address.ts";
import { type Answers, chainWith, DEAD_CHAIN, encode, saying, USDC, usd, WETH, word } from "./fixtures.ts";

const POOL = toAddress(`0x${"22".repeat(20)}`);
const FACTORY = toAddress(`0x${"33".repeat(20)}`);
const WINDOW = 600;
/** Mean tick -196256: 3000e6 / 1e18 as token1 (USDC) in token0 (WETH). */
const TICKS = [0n, -196_256n * 600n];
const LIQUIDITY = [0n, (600n << 128n) / 10n ** 16n];

function observed(ticks: readonly bigint[] = TICKS, liquidity: readonly bigint[] = LIQUIDITY): Hex {
  return encode(["int56[]", "uint160[]"], [ticks, liquidity]);
}

function poolAnswers(change: Readonly<Record<string, Hex>> = {}): Answers {
  return {
    [POOL]: {
      "factory()": word(FACTORY),
      "fee()": word(500n),
      "slot0()": encode(["uint256[7]"], [[1n, 0n, 0n, 50n, 50n, 0n, 1n]]),
      "observe(uint32[])": observed(),
      ...change,
    },
    [FACTORY]: { "getPool(address,address,uint24)": change["getPool()"] ?? word(POOL) },
  };
}

const POOLS = new Map([
  [WETH.address, { pool: POOL, token: WETH, quote: USDC, windowSeconds: WINDOW, minLiquidityUsd: usd("200000") }],
]);

async function priceWith(change: Readonly<Record<string, Hex>>, quote = saying("1")) {
  const chain = chainWith(poolAnswers(change));
  return await createTwapPrices({ pools: POOLS, factories: [FACTORY] }, { chain, quotePrices: quote }).price(WETH);
}

describe("a pool that answers", () => {
  it("gives dollars by the quote token's, to a tenth of a dollar at this tick", async () => {
    const [atPar, below] = [await priceWith({}), await priceWith({}, saying("0.5"))];
    if ("missing" in atPar || "missing" in below) throw new Error("no price");
    expect(atPar.usd).toBeGreaterThan(usd("2999.9"));
    expect(atPar.usd).toBeLessThan(usd("3000.4"));
    expect(below.usd).toBe(atPar.usd / 2n);
  });

  it.each([
    ["what is no pool", { "factory()": "0x" as Hex }],
    ["another factory", { "factory()": word(POOL) }],
    ["a factory that knows another pool", { "getPool()": word(FACTORY) }],
    ["a factory that knows none", { "getPool()": word(0n) }],
    ["no slot", { "slot0()": "0x00" as Hex }],
    ["one observation", { "slot0()": encode(["uint256[7]"], [[1n, 0n, 0n, 1n, 1n, 0n, 1n]]) }],
    ["half of its observations", { "observe(uint32[])": encode(["int56[]"], [TICKS]) }],
    ["three ticks", { "observe(uint32[])": observed([...TICKS, 0n]) }],
    [
      "arrays that lie outside of the answer",
      { "observe(uint32[])": encode(["uint256[8]"], [Array(8).fill(2n ** 200n)]) },
    ],
    ["a tick that no pool has", { "observe(uint32[])": observed([0n, 887_273n * 600n]) }],
    ["no liquidity", { "observe(uint32[])": observed(TICKS, [0n, (600n << 128n) / 1_000n]) }],
    ["liquidity without end", { "observe(uint32[])": observed(TICKS, [5n, 5n]) }],
  ])("GRD-15 with %s gives no price", async (_name, change) => {
    expect(await priceWith(change)).toMatchObject({ missing: "invalid" });
  });

  it("gives no price when nobody answers for it, or for the quote token", async () => {
    const deps = { chain: DEAD_CHAIN, quotePrices: saying("1") };
    const dead = createTwapPrices({ pools: POOLS, factories: [FACTORY] }, deps);
    expect(await dead.price(WETH)).toMatchObject({ missing: "unreachable" });
    expect(await priceWith({}, saying({ missing: "stale", detail: "USDC" }))).toMatchObject({ missing: "stale" });
  });
});
