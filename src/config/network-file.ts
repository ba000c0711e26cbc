import {
  COMMON_FEES,
  emptyGasLimitOf,
  HOUR,
  type Network,
  type PriceFeed,
  type TokenFacts,
} from "../networks/network.ts";
import type { PresetFile } from "./schemas/preset-schema.ts";

/** Added to a feed's heartbeat, before its price counts as stale. */
export const FEED_MARGIN_SECONDS = 300;

/** A service needs no tokens and no prices. */
interface NetworkFile extends Omit<PresetFile, "tokens" | "nativeFeed"> {
  readonly tokens?: PresetFile["tokens"] | undefined;
  readonly nativeFeed?: PresetFile["nativeFeed"] | undefined;
}

/** A network from a file with its facts. Routes may pass through all its tokens. */
export function networkFromFile(facts: NetworkFile): Network {
  const feedOf = (one: NetworkFile["nativeFeed"]): PriceFeed | undefined => {
    if (one === undefined) return undefined;
    const { address, heartbeat, margin } = typeof one === "string" ? { address: one } : one;
    const heartbeatSeconds = heartbeat ?? facts.heartbeatSeconds ?? HOUR;
    return { address, heartbeatSeconds, marginSeconds: margin ?? FEED_MARGIN_SECONDS };
  };
  const { chainId, wrappedNative, sequencerFeed, protocols, feeTiers, dataFee, settlement, executor, router } = facts;
  const nativeFeed = feedOf(facts.nativeFeed);
  const tokens = Object.entries(facts.tokens ?? {}).map(([symbol, token]): [string, TokenFacts] => {
    const { address, decimals } = token;
    // The wrapped coin is worth the coin.
    return [
      symbol,
      { address, decimals, feed: feedOf(token.feed) ?? (address === wrappedNative ? nativeFeed : undefined) },
    ];
  });
  return {
    ...{ chainId, wrappedNative, sequencerFeed, protocols, dataFee, settlement, executor, noSettlement: undefined },
    ...{ sending: undefined, relays: [], fees: COMMON_FEES, emptyGasLimit: emptyGasLimitOf(facts) },
    nativeSymbol: facts.nativeSymbol ?? "ETH",
    nativeFeed,
    tokens: new Map(tokens),
    feeTiers,
    router,
    routerCodeHash: facts.routerCodeHash,
    furtherRouters: facts.furtherRouters ?? [],
    confirmations: facts.confirmations ?? 1,
  };
}
