import { type CoveringSource, createCombinedPrices } from "../adapters/prices/combined-prices.ts";
import { createFeedPrices, type Feed } from "../adapters/prices/feed-prices.ts";
import { whileSequencerIsUp } from "../adapters/prices/sequencer.ts";
import type { TwapPool } from "../adapters/prices/twap-pool.ts";
import { createTwapPrices } from "../adapters/prices/twap-prices.ts";
import type { Configuration } from "../config/configuration.ts";
import type { Address } from "../domain/money/address.ts";
import type { Chain } from "../ports/chain.ts";
import type { PriceSource } from "../ports/price-source.ts";
import { uniswapV3 } from "../service/pools/uniswap-v3/kind.ts";

/** The reference prices that a configuration names: every source that covers a token must answer. */
export function openPrices(configuration: Configuration, chain: Chain): PriceSource {
  const { network, reference, policy } = configuration;
  const feeds = feedsOf(configuration);
  const feedPrices = createFeedPrices(feeds, chain);
  const sources: CoveringSource[] = [{ prices: feedPrices, covers: (token) => feeds.has(token.address) }];
  if (reference.sources.includes("twap")) {
    const pools = poolsOf(configuration);
    const factories = network.protocols.filter(({ kind }) => kind === uniswapV3.number).map(({ factory }) => factory);
    const prices = createTwapPrices({ pools, factories }, { chain, quotePrices: feedPrices });
    sources.push({ prices, covers: (token) => pools.has(token.address) });
  }
  const combined = createCombinedPrices(sources, policy.maxDivergence);
  return network.sequencer === undefined ? combined : whileSequencerIsUp(network.sequencer, combined, chain);
}

function feedsOf(configuration: Configuration): ReadonlyMap<Address, Feed> {
  const feeds = new Map<Address, Feed>();
  for (const { token, feed } of configuration.tokens.values()) {
    if (feed === undefined) continue;
    feeds.set(token.address, { address: feed.address, maxAgeSeconds: feed.heartbeatSeconds + feed.marginSeconds });
  }
  return feeds;
}

function poolsOf(configuration: Configuration): ReadonlyMap<Address, TwapPool> {
  const pools = new Map<Address, TwapPool>();
  for (const { token, twap } of configuration.tokens.values()) {
    if (twap !== undefined) pools.set(token.address, { ...twap, token });
  }
  return pools;
}
