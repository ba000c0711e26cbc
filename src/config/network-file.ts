import type { Address } from "../domain/money/address.ts";
import { type FeedFacts, HOUR, MINUTE, type Network, type TokenFacts } from "../networks/network.ts";
import type { PriceFeed } from "./configuration.ts";
import { DEFAULTS } from "./defaults.ts";
import type { PresetFile } from "./schemas/preset-schema.ts";

const MAX_MARGIN_SECONDS = 30 * MINUTE;

/** A service needs no tokens and no prices. */
interface NetworkFile extends Omit<PresetFile, "tokens" | "nativeFeed"> {
  readonly tokens?: PresetFile["tokens"] | undefined;
  readonly nativeFeed?: PresetFile["nativeFeed"] | undefined;
}

/** A network from a file with its facts. Routes may pass through all its tokens. */
export function networkFromFile(facts: NetworkFile): Network {
  const feedOf = (one: NetworkFile["nativeFeed"]): FeedFacts | undefined => {
    if (one === undefined) return undefined;
    const heartbeatSeconds = facts.heartbeatSeconds ?? HOUR;
    return typeof one === "string"
      ? { address: one, heartbeatSeconds }
      : { address: one.address, heartbeatSeconds: one.heartbeat };
  };
  const tokens = Object.entries(facts.tokens ?? {}).map(
    ([symbol, { address, decimals, feed }]): [string, TokenFacts] => {
      return [symbol, { address, decimals, feed: feedOf(feed) }];
    },
  );
  const { chainId, wrappedNative, sequencerFeed, protocols, feeTiers, dataFee, settlement, executor } = facts;
  return {
    ...{ chainId, wrappedNative, sequencerFeed, protocols, dataFee, settlement, executor, noSettlement: undefined },
    nativeSymbol: facts.nativeSymbol ?? "ETH",
    nativeFeed: feedOf(facts.nativeFeed),
    tokens: new Map(tokens),
    v3FeeTiers: feeTiers,
    confirmations: facts.confirmations ?? 1,
  };
}

/** Tokens that routes may pass through: the wrapped coin first. */
export function hubTokensOf(network: Network): readonly Address[] {
  return [...new Set([network.wrappedNative, ...[...network.tokens.values()].map(({ address }) => address)])];
}

/** A margin as long as the heartbeat, half an hour at most: a feed that is a little late is no reason to stop. */
export function priceFeedOf(feed: FeedFacts | undefined): PriceFeed | undefined {
  if (feed === undefined) return undefined;
  const marginSeconds = Math.min(Math.max(feed.heartbeatSeconds, DEFAULTS.feedMarginSeconds), MAX_MARGIN_SECONDS);
  return { ...feed, marginSeconds };
}
