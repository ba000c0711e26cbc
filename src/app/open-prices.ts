import { createFeedPrices, type Feed } from "../adapters/prices/feed-prices.ts";
import type { Configuration } from "../config/configuration.ts";
import type { Address } from "../domain/money/address.ts";
import type { Chain } from "../ports/chain.ts";
import type { PriceSource } from "../ports/price-source.ts";

/** The reference prices that a configuration names. */
export function openPrices(configuration: Configuration, chain: Chain): PriceSource {
  return createFeedPrices(feedsOf(configuration), chain);
}

function feedsOf(configuration: Configuration): ReadonlyMap<Address, Feed> {
  const feeds = new Map<Address, Feed>();
  for (const { token, feed } of configuration.tokens.values()) {
    if (feed === undefined) continue;
    feeds.set(token.address, { address: feed.address, maxAgeSeconds: feed.heartbeatSeconds + feed.marginSeconds });
  }
  return feeds;
}
