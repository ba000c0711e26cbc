import type { Address, Hex } from "../../domain/money/address.ts";
import type { ReferencePrice, UsdPrice } from "../../domain/money/price.ts";
import { USD_DECIMALS } from "../../domain/money/price.ts";
import type { Token } from "../../domain/money/token.ts";
import type { Chain } from "../../ports/chain.ts";
import type { PriceMissing, PriceSource } from "../../ports/price-source.ts";

/** A price feed with Chainlink's interface, in dollars. `maxAgeSeconds` is its heartbeat plus a margin. */
export interface Feed {
  readonly address: Address;
  readonly maxAgeSeconds: number;
}

/** Selectors of Chainlink's AggregatorV3Interface: `latestRoundData()` and `decimals()`. */
const LATEST_ROUND_DATA: Hex = "0xfeaf968c";
const DECIMALS: Hex = "0x313ce567";

const WORD = 64;
const MAX_FEED_DECIMALS = 36n;

/**
 * Reference prices from on-chain feeds. An answer that is old by the chain's own time, zero, negative or out of shape is
 * no price: there is no fallback.
 * @param feeds by token address
 */
export function createFeedPrices(feeds: ReadonlyMap<Address, Feed>, chain: Chain): PriceSource {
  const decimalsOf = new Map<Address, bigint>();
  return {
    price: async (token) => {
      const feed = feeds.get(token.address);
      if (feed === undefined) {
        return { missing: "not configured", detail: `${token.symbol} has no feed: set \`feed\` in its token entry` };
      }
      try {
        return await readFeed({ token, feed, decimalsOf }, chain);
      } catch (error) {
        return { missing: "unreachable", detail: error instanceof Error ? error.message : String(error) };
      }
    },
  };
}

async function readFeed(
  asked: { token: Token; feed: Feed; decimalsOf: Map<Address, bigint> },
  chain: Chain,
): Promise<ReferencePrice | PriceMissing> {
  const { token, feed, decimalsOf } = asked;
  const decimals = decimalsOf.get(feed.address) ?? (await readDecimals(feed, chain));
  if (decimals === undefined) return invalid(token, feed, "its decimals() is no sensible number");
  decimalsOf.set(feed.address, decimals);
  const answer = await chain.call({ to: feed.address, data: LATEST_ROUND_DATA });
  if (answer === undefined || answer.length !== 2 + 5 * WORD) {
    return invalid(token, feed, "latestRoundData() did not answer five words");
  }
  const price = BigInt.asIntN(256, wordOf(answer, 1));
  const updatedAt = Number(wordOf(answer, 3));
  const { timestamp } = await chain.latest();
  if (price <= 0n) return invalid(token, feed, `it answers ${price}`);
  if (updatedAt > timestamp)
    return invalid(token, feed, `its answer is of ${updatedAt}, after the block of ${timestamp}`);
  const age = timestamp - updatedAt;
  if (age > feed.maxAgeSeconds) {
    return {
      missing: "stale",
      detail: `${token.symbol}: the feed's answer is ${age} s old, allowed are ${feed.maxAgeSeconds} s`,
    };
  }
  return { usd: scaled(price, decimals), source: `feed ${feed.address}`, atSeconds: updatedAt };
}

async function readDecimals(feed: Feed, chain: Chain): Promise<bigint | undefined> {
  const answer = await chain.call({ to: feed.address, data: DECIMALS });
  if (answer === undefined || answer.length !== 2 + WORD) return undefined;
  const decimals = BigInt(answer);
  return decimals <= MAX_FEED_DECIMALS ? decimals : undefined;
}

function wordOf(answer: Hex, index: number): bigint {
  return BigInt(`0x${answer.slice(2 + index * WORD, 2 + (index + 1) * WORD)}`);
}

function scaled(price: bigint, decimals: bigint): UsdPrice {
  const shift = BigInt(USD_DECIMALS) - decimals;
  return (shift >= 0n ? price * 10n ** shift : price / 10n ** -shift) as UsdPrice;
}

function invalid(token: Token, feed: Feed, detail: string): PriceMissing {
  return { missing: "invalid", detail: `${token.symbol}: the feed ${feed.address} is not usable: ${detail}` };
}
