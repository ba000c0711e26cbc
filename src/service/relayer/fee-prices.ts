import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { mulDivDown, mulDivUp } from "../../domain/money/amount.ts";
import { type Refusal, refuse } from "../errors/errors.ts";
import { type DollarFeed, NATIVE_DECIMALS, type NetworkOptions } from "../options.ts";
import { SELECTOR } from "../pools/selectors.ts";
import type { Snapshot } from "../pools/snapshots.ts";
import { type FeedPrice, MAX_DECIMALS, readFeed } from "../tokens/token-facts.ts";

/**
 * What swap fees are worth. Their tokens are those that the operator lists with a price feed, and the wrapped native
 * token: the price of a pool is whatever its liquidity providers make it.
 */
export interface FeePrices {
  /** besides the wrapped native token, all that pay fees */
  readonly tokens: readonly Address[];
  /** Why no swap fee is taken in a token; undefined: it is. */
  refusal(token: Address): Refusal | undefined;
  /** How much of a token is worth so much of the native one, rounded up. @throws RpcError */
  inToken(token: Address, wei: bigint, snapshot: Snapshot): Promise<Worth | Refusal>;
  /** How much of the native token, in wei, so much of a token is worth, rounded down. @throws RpcError */
  inNative(token: Address, amount: bigint, snapshot: Snapshot): Promise<Worth | Refusal>;
}

interface Worth {
  readonly kind: "priced";
  readonly amount: bigint;
}

/** So many wei are worth so much of a token, both in the smallest unit. */
interface Rate {
  readonly kind: "rate";
  readonly wei: bigint;
  readonly ofToken: bigint;
}

export function createFeePrices({
  listedTokens,
  wrappedNative,
}: Pick<NetworkOptions, "listedTokens" | "wrappedNative">): FeePrices {
  const feeds = new Map(listedTokens.flatMap(({ address, feed }) => (feed === undefined ? [] : [[address, feed]])));
  const nativeFeed = feeds.get(NATIVE_TOKEN) ?? feeds.get(wrappedNative);

  function refusal(token: Address): Refusal | undefined {
    if (token === wrappedNative || (feeds.has(token) && nativeFeed !== undefined)) return undefined;
    return refuse("GASLESS_FEE_TOKEN", { parameter: "fromTokenAddress" });
  }

  async function rateOf(token: Address, snapshot: Snapshot): Promise<Rate | Refusal> {
    const refused = refusal(token);
    if (refused !== undefined) return refused;
    if (token === wrappedNative) return { kind: "rate", wei: 1n, ofToken: 1n };
    const [price, nativePrice, decimals] = await Promise.all([
      priceOf(feeds.get(token), snapshot),
      priceOf(nativeFeed, snapshot),
      snapshot.readKept(token, SELECTOR.decimals, 1),
    ]);
    const places = decimals?.[0];
    if (price === undefined || nativePrice === undefined || places === undefined || places > MAX_DECIMALS) {
      return refuse("GASLESS_UNPRICED", { parameter: "fromTokenAddress" });
    }
    const wei = price.answer * 10n ** BigInt(NATIVE_DECIMALS + nativePrice.decimals);
    return { kind: "rate", wei, ofToken: nativePrice.answer * 10n ** (BigInt(price.decimals) + places) };
  }

  return {
    tokens: nativeFeed === undefined ? [] : [...feeds.keys()].filter((token) => token !== NATIVE_TOKEN),
    refusal,
    async inToken(token, wei, snapshot) {
      const rate = await rateOf(token, snapshot);
      return rate.kind === "refused" ? rate : { kind: "priced", amount: mulDivUp(wei, rate.ofToken, rate.wei) };
    },
    async inNative(token, amount, snapshot) {
      const rate = await rateOf(token, snapshot);
      return rate.kind === "refused" ? rate : { kind: "priced", amount: mulDivDown(amount, rate.wei, rate.ofToken) };
    },
  };
}

function priceOf(feed: DollarFeed | undefined, { readKept, head }: Snapshot): Promise<FeedPrice | undefined> {
  return readFeed(feed, { read: readKept, timestamp: head.timestamp });
}
