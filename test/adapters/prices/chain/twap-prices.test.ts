import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCombinedPrices } from "../../../../src/adapters/prices/combined-prices.ts";
import { createFeedPrices } from "../../../../src/adapters/prices/feed-prices.ts";
import { whileSequencerIsUp } from "../../../../src/adapters/prices/sequencer.ts";
import type { TwapPool } from "../../../../src/adapters/prices/twap-pool.ts";
import { createTwapPrices } from "../../../../src/adapters/prices/twap-prices.ts";
import { openPrices } from "../../../../src/app/open-prices.ts";
import { createChain } from "../../../../src/chain/chain.ts";
import type { Configuration } from "../../../../src/config/configuration.ts";
import type { Address, Hex } from "../../../../src/domain/money/address.ts";
import { toPpm } from "../../../../src/domain/money/fraction.ts";
import type { Token } from "../../../../src/domain/money/token.ts";
import { Secret } from "../../../../src/net/secret.ts";
import type { Chain } from "../../../../src/ports/chain.ts";
import { loadContract, loadUniswap } from "../../../../src/sandbox/artifacts.ts";
import { sqrtRatioAtTick } from "../../../../src/service/pools/uniswap-v3/tick-math.ts";
import { startTestChain, type TestChain } from "../../../service/support/chain.ts";
import { deployExchange, type Exchange } from "../../../service/support/exchange.ts";
import { systemClock } from "../../../service/support/system-clock.ts";
import { saying, usd } from "../fixtures.ts";

const POOL = loadUniswap("UniswapV3Pool").abi;
const MINTER = loadContract("PoolMinter").abi;
const FEED = loadContract("PriceFeed");
const WINDOW = 600;

let anvil: TestChain;
let exchange: Exchange;
let chain: Chain;
let weth: Token;
let usdc: Token;
let other: Token;
let pool: Address;

/** A price of 3000e6 / 1e18 in smallest units is tick -196256, the other way round its negative. */
async function newPool(exchangeAt: Exchange, token: Token, liquidity = 10n ** 16n): Promise<Address> {
  const sign = token.address < usdc.address ? -1 : 1;
  return await exchangeAt.newPool(token.address, usdc.address, {
    ...{ fee: 500, sqrtPrice: sqrtRatioAtTick(sign * 196_256) },
    positions: [{ lower: sign * 196_260 - 6_000, upper: sign * 196_260 + 6_000, liquidity }],
  });
}

beforeAll(async () => {
  anvil = await startTestChain();
  exchange = await deployExchange(anvil);
  weth = { symbol: "WETH", address: await exchange.newToken(18), decimals: 18 };
  usdc = { symbol: "USDC", address: await exchange.newToken(6), decimals: 6 };
  other = { symbol: "OTHER", address: await exchange.newToken(18), decimals: 18 };
  pool = await newPool(exchange, weth);
  chain = createChain({ rpcUrls: [new Secret(anvil.url)], chainId: 31_337 }, { clock: systemClock });
});

afterAll(async () => {
  await anvil.stop();
});

async function send(to: Address, data: string): Promise<void> {
  await anvil.send({ to, data: data as Hex });
}

/** Trades in the pool, at an instant that lies so many seconds after the last block. */
async function tradeAfter(seconds: number, amountIn: bigint): Promise<number> {
  await anvil.rpc.call("evm_increaseTime", [seconds]);
  await send(exchange.minter, MINTER.encodeFunctionData("swapV3", [pool, weth.address < usdc.address, amountIn]));
  return (await chain.latest()).timestamp;
}

async function tickNow(): Promise<bigint> {
  const answer = await anvil.call({ to: pool, data: POOL.encodeFunctionData("slot0") as Hex });
  return BigInt(POOL.decodeFunctionResult("slot0", answer)[1]);
}

function twapOf(token: Token, change: Partial<TwapPool> = {}, factories = [v3FactoryOf(exchange)]) {
  const quote = token === usdc ? weth : usdc;
  const asked = { ...{ pool, token, quote, windowSeconds: WINDOW, minLiquidityUsd: 0n }, ...change };
  const quotePrices = saying(quote === usdc ? "1" : "3000", "quote's feed", 4_000_000_000);
  const options = { pools: new Map([[token.address, asked]]), factories };
  return createTwapPrices(options, { chain, quotePrices }).price(token);
}

function v3FactoryOf(from: Exchange): Address {
  const factory = from.protocols.find(({ kind }) => kind === 2)?.factory;
  if (factory === undefined) throw new Error("no factory");
  return factory;
}

describe("a time-weighted price of a real pool", () => {
  it("GRD-15 needs a pool that remembers its whole window", async () => {
    expect(await twapOf(weth)).toMatchObject({ missing: "invalid", detail: expect.stringMatching(/1 observation,/) });
    await send(pool, POOL.encodeFunctionData("increaseObservationCardinalityNext", [8]));
    await tradeAfter(10, 10n ** 15n);
    const young = await twapOf(weth);
    expect(young).toMatchObject({ missing: "invalid", detail: expect.stringMatching(/do not reach 600 s back/) });
  });

  it("GRD-15 is the mean of the ticks by the time that each lasted, exactly, and a jump in the last block does not move it", async () => {
    await tradeAfter(WINDOW, 10n ** 15n);
    const early = await tickNow();
    const first = await tradeAfter(WINDOW, 2n * 10n ** 18n);
    const middle = await tickNow();
    const second = await tradeAfter(WINDOW / 3, 20n * 10n ** 18n);
    expect(middle).not.toBe(early);
    const late = await tickNow();
    expect(late).not.toBe(middle);
    // Of the window until now: what was before the first trade, then the middle, and nothing of the last block.
    const lasted = BigInt(second - first);
    const sum = early * (BigInt(WINDOW) - lasted) + middle * lasted;
    const mean = sum / BigInt(WINDOW) - (sum < 0n && sum % BigInt(WINDOW) !== 0n ? 1n : 0n);
    const root = sqrtRatioAtTick(Number(mean));
    const [up, down] = [root * root, 1n << 192n];
    const [quote, base] = weth.address < usdc.address ? [up, down] : [down, up];
    const expected = (10n ** 18n * quote * 10n ** 12n) / base;
    const price = await twapOf(weth);
    if ("missing" in price) throw new Error(price.detail);
    const apart = price.usd > expected ? price.usd - expected : expected - price.usd;
    expect(apart * 1_000_000_000n).toBeLessThan(expected);
    expect(price.source).toBe(`twap of ${WINDOW} s, pool ${pool}`);
    expect(price.atSeconds).toBe(second);
    // The spot price is elsewhere by now, so a mean was needed to find this.
    const spot = sqrtRatioAtTick(Number(late));
    expect(spot).not.toBe(root);
  });

  it("is the same price from the other side of the pool", async () => {
    const [inDollars, inverse] = [await twapOf(weth), await twapOf(usdc)];
    if ("missing" in inDollars || "missing" in inverse) throw new Error("no price");
    const product = (inDollars.usd * inverse.usd) / 10n ** 18n;
    const ideal = 3_000n * 10n ** 18n;
    expect(product > ideal ? product - ideal : ideal - product).toBeLessThan(ideal / 1_000_000_000n);
  });

  it("GRD-15 is none of a pool with less liquidity than asked for, by the least dollar", async () => {
    // Liquidity 1e16 at a price near 3000e6 / 1e18 holds 1e16 x sqrt(3e-9) of the quote, about 547,000 USDC.
    expect(await twapOf(weth, { minLiquidityUsd: usd("500000") })).toHaveProperty("usd");
    const missing = await twapOf(weth, { minLiquidityUsd: usd("600000") });
    expect(missing).toMatchObject({ missing: "invalid", detail: expect.stringContaining("liquidity is worth") });
  });

  it("is none of a pool of another factory, whatever it calls itself", async () => {
    const stranger = await deployExchange(anvil);
    expect(await twapOf(weth, {}, [v3FactoryOf(stranger)])).toMatchObject({
      ...{ missing: "invalid", detail: expect.stringContaining("none of the pinned ones") },
    });
  });

  it("GRD-15 is none of a pool of other tokens, and none of an address that is no pool", async () => {
    const elsewhere = await newPool(exchange, other);
    expect(await twapOf(weth, { pool: elsewhere })).toMatchObject({
      ...{ missing: "invalid", detail: expect.stringContaining("knows another pool, or none, for WETH and USDC") },
    });
    expect(await twapOf(weth, { pool: weth.address })).toMatchObject({ missing: "invalid" });
  });

  it("is none without the quote token's dollars, with the reason of those", async () => {
    const pools = new Map([
      [weth.address, { pool, token: weth, quote: usdc, windowSeconds: WINDOW, minLiquidityUsd: 0n }],
    ]);
    const quotePrices = saying({ missing: "stale", detail: "USDC: an hour old" });
    const twap = createTwapPrices({ pools, factories: [v3FactoryOf(exchange)] }, { chain, quotePrices });
    expect(await twap.price(weth)).toEqual({ missing: "stale", detail: "WETH: USDC: an hour old" });
    expect(await twap.price(usdc)).toMatchObject({ missing: "not configured" });
  });
});

describe("feed, pool and sequencer together on one chain", () => {
  it("give a price while they agree, and say which of them does not", async () => {
    const feed = await anvil.deploy(FEED, [8, "ETH / USD", 2_900n * 10n ** 8n]);
    const sequencerFeed = await anvil.deploy(FEED, [0, "sequencer", 0n]);
    const feeds = createFeedPrices(new Map([[weth.address, { address: feed, maxAgeSeconds: 10_000 }]]), chain);
    const twap = { price: () => twapOf(weth) };
    const covers = () => true;
    const combined = createCombinedPrices(
      [
        { prices: feeds, covers },
        { prices: twap, covers },
      ],
      toPpm(20_000),
    );
    const prices = whileSequencerIsUp({ address: sequencerFeed, graceSeconds: 3_600 }, combined, chain);
    const set = async (value: bigint, at = feed) => await send(at, FEED.abi.encodeFunctionData("set", [value]));
    expect(await prices.price(weth)).toMatchObject({ missing: "sequencer down" });
    await anvil.rpc.call("evm_increaseTime", [3_601]);
    await anvil.rpc.call("evm_mine", []);
    const mean = await twapOf(weth);
    if ("missing" in mean) throw new Error(mean.detail);
    await set(mean.usd / 10n ** 10n);
    expect(await prices.price(weth)).toMatchObject({ source: `feed ${feed}`, others: [{ source: mean.source }] });
    await set((mean.usd * 103n) / 10n ** 12n);
    expect(await prices.price(weth)).toMatchObject({ missing: "divergent" });
    await set(1n, sequencerFeed);
    expect(await prices.price(weth)).toMatchObject({ missing: "sequencer down" });
  });
});

describe("the prices that a configuration names", () => {
  it("come from feed and pool where a token has both, from the feed where it has one, and from no pool unasked", async () => {
    const mean = await twapOf(weth);
    if ("missing" in mean) throw new Error(mean.detail);
    const addresses = [
      await anvil.deploy(FEED, [8, "ETH / USD", mean.usd / 10n ** 10n]),
      await anvil.deploy(FEED, [8, "USDC / USD", 10n ** 8n]),
    ];
    const [wethFeed, usdcFeed] = addresses.map((address) => ({ address, heartbeatSeconds: 600, marginSeconds: 0 }));
    const twap = { pool, windowSeconds: WINDOW, quote: usdc, minLiquidityUsd: usd("1") };
    const configured = (sources: readonly string[]) =>
      ({
        network: { protocols: exchange.protocols, sequencer: undefined },
        reference: { sources },
        policy: { maxDivergence: toPpm(20_000) },
        tokens: new Map([
          ["WETH", { token: weth, feed: wethFeed, twap }],
          ["USDC", { token: usdc, feed: usdcFeed, twap: undefined }],
        ]),
      }) as unknown as Configuration;
    const both = openPrices(configured(["feed", "twap"]), chain);
    expect(await both.price(weth)).toMatchObject({
      source: `feed ${wethFeed?.address}`,
      others: [{ source: mean.source }],
    });
    expect(await both.price(usdc)).toEqual(expect.not.objectContaining({ others: expect.anything() }));
    expect(await both.price(usdc)).toMatchObject({ usd: usd("1") });
    expect(await both.price(other)).toMatchObject({ missing: "not configured" });
    const alone = await openPrices(configured(["feed"]), chain).price(weth);
    expect(alone).toEqual(expect.not.objectContaining({ others: expect.anything() }));
  });
});
