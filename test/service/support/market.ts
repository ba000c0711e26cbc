import { type Address, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import type { ListedToken, NetworkOptions, ServiceOptions } from "../../../src/service/options.ts";
import type { Protocol } from "../../../src/service/pools/pool.ts";
import { sqrtRatioAtTick } from "../../../src/service/pools/uniswap-v3/tick-math.ts";
import type { TestChain } from "./chain.ts";
import { deployExchange, type Exchange, FEE_TIERS } from "./exchange.ts";

/** A small market: one native coin is worth about 3000 dollars. */
export interface Market extends Exchange {
  readonly weth: Address;
  /** 6 decimals, EIP-2612 */
  readonly usdc: Address;
  /** 18 decimals, Dai's own permit */
  readonly dai: Address;
  /** 6 decimals, no permit */
  readonly usdt: Address;
  /** traded nowhere */
  readonly orphan: Address;
  /** Chainlink's interface, in dollars with 8 places */
  readonly feeds: { readonly native: Address; readonly usdc: Address };
}

const E18 = 10n ** 18n;
const E8 = 10n ** 8n;
const E6 = 10n ** 6n;

/** Feeds of tests are set once; their chains may live as long as they like. */
const FEED_MAX_AGE_SECONDS = 10 * 365 * 86_400;

/**
 * @param others factories of further kinds of pools, none of which is made here
 * @param knowsCodes whether the executor is told by what code factories create pools
 */
export async function deployMarket(
  chain: TestChain,
  others: readonly Protocol[] = [],
  knowsCodes = true,
): Promise<Market> {
  const exchange = await deployExchange(chain, others, knowsCodes);
  const weth = exchange.wrappedNative;
  await chain.send({ to: weth, data: "0xd0e30db0", value: 3_000n * E18 });
  await exchange.approve(weth, exchange.minter);
  await exchange.approve(weth, exchange.settlement);
  const usdc = await exchange.newToken(6);
  const dai = await exchange.newToken(18, "DaiPermitToken");
  const usdt = await exchange.newToken(6, "UsdtLikeToken");
  const orphan = await exchange.newToken(18);
  await exchange.newPair(weth, usdc, { amountA: 500n * E18, amountB: 1_500_000n * E6 });
  await exchange.newPair(weth, dai, { amountA: 500n * E18, amountB: 1_500_000n * E18 });
  await exchange.newPair(weth, usdt, { amountA: 200n * E18, amountB: 600_000n * E6 });
  // Price of token1 in token0, both in smallest units: 3000e6 / 1e18 is tick -196256, the other way round its negative.
  const center = (weth < usdc ? -1 : 1) * 196_260;
  const sqrtPrice = sqrtRatioAtTick(weth < usdc ? -196_256 : 196_256);
  const positions = [
    { lower: center - 60_000, upper: center + 60_000, liquidity: 10n ** 15n },
    { lower: center - 600, upper: center + 600, liquidity: 10n ** 16n },
  ];
  await exchange.newPool(weth, usdc, { fee: 500, sqrtPrice, positions });
  return { ...exchange, weth, usdc, dai, usdt, orphan, feeds: await deployFeeds(chain) };
}

/** Feeds of a market in which a native coin is worth 3,000 dollars. */
export async function deployFeeds(chain: TestChain): Promise<Market["feeds"]> {
  const feed = (name: string, price: bigint) => chain.deploy(loadContract("PriceFeed"), [8, name, price]);
  return { native: await feed("ETH / USD", 3_000n * E8), usdc: await feed("USDC / USD", E8) };
}

/** Lets the dollars of a market meet directly: two of them in pools of every kind, the others in stable pools alone. */
export async function addStablePools(market: Market): Promise<void> {
  const { usdc, usdt, dai } = market;
  const stable = { amplification: 400, fee: 1_234_567 };
  await market.newPair(usdc, usdt, { amountA: 200_000n * E6, amountB: 200_000n * E6 });
  const positions = [{ lower: -100, upper: 100, liquidity: 10n ** 14n }];
  await market.newPool(usdc, usdt, { fee: 100, sqrtPrice: sqrtRatioAtTick(0), positions });
  await market.newStablePool(usdc, usdt, { ...stable, amountA: 400_000n * E6, amountB: 500_000n * E6 });
  await market.newStablePool(dai, usdc, { ...stable, amountA: 300_000n * E18, amountB: 250_000n * E6 });
  await market.newStablePool(dai, usdc, { amplification: 60, fee: 4e6, amountA: 90_000n * E18, amountB: 90_000n * E6 });
}

function listed(address: Address, feed: Address): ListedToken {
  return { address, feed: { address: feed, maxAgeSeconds: FEED_MAX_AGE_SECONDS } };
}

/** Options of a service for this one market; what a test cares about goes into `changes`, of the network into `network`. */
export function serviceOptions(
  chain: TestChain,
  market: Market,
  { network, ...changes }: Partial<ServiceOptions> & { database: string; network?: Partial<NetworkOptions> },
): ServiceOptions {
  return {
    listen: { host: "127.0.0.1", port: 0 },
    networks: [
      {
        name: "testnet",
        chainId: 31_337,
        rpcUrls: [chain.url],
        nativeSymbol: "ETH",
        wrappedNative: market.weth,
        listedTokens: [
          listed(NATIVE_TOKEN, market.feeds.native),
          listed(market.weth, market.feeds.native),
          listed(market.usdc, market.feeds.usdc),
          listed(market.dai, market.feeds.usdc),
          listed(market.usdt, market.feeds.usdc),
        ],
        hubTokens: [market.weth, market.usdc],
        settlement: market.settlement,
        executor: market.executor,
        protocols: market.protocols,
        feeTiers: FEE_TIERS,
        confirmations: 1,
        ...network,
      },
    ],
    quoteLifetimeSeconds: 20,
    permitLifetimeSeconds: 60,
    limits: { keyless: 1_000, keyed: 2_000 },
    apiKeys: ["test-key"],
    ...changes,
  };
}
