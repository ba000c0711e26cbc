import type { Address, Hex } from "../../domain/money/address.ts";
import type { ReferencePrice, UsdPrice } from "../../domain/money/price.ts";
import { USD_DECIMALS } from "../../domain/money/price.ts";
import type { Token } from "../../domain/money/token.ts";
import { formatDuration } from "../../domain/time/format-duration.ts";
import type { Chain } from "../../ports/chain.ts";
import type { PriceMissing, PriceSource } from "../../ports/price-source.ts";
import { readWords, signed } from "./contract-words.ts";
import { type FeedRound, MOST_AHEAD_SECONDS, readRound } from "./feed-round.ts";
import { unreachable } from "./unreachable.ts";

/** A price feed with Chainlink's interface, in dollars. `maxAgeSeconds` is its heartbeat plus a margin. */
export interface Feed {
  readonly address: Address;
  readonly maxAgeSeconds: number;
}

/** Selectors of Chainlink's `decimals()` and of its proxies' `aggregator()`, whose contract has `minAnswer()` and `maxAnswer()`. */
const DECIMALS: Hex = "0x313ce567";
const AGGREGATOR: Hex = "0x245a7bfc";
const MIN_ANSWER: Hex = "0x22adbc78";
const MAX_ANSWER: Hex = "0x70da2f67";

const MAX_FEED_DECIMALS = 36n;

interface Asked {
  readonly token: Token;
  readonly feed: Feed;
  readonly decimalsOf: Map<Address, bigint>;
}

/**
 * Reference prices from on-chain feeds. An answer that is old by the chain's own time, of the future, of a round that is
 * not complete, zero, negative, at a bound of its aggregator or out of shape is no price: there is no fallback.
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
        return unreachable(error);
      }
    },
  };
}

async function readFeed(asked: Asked, chain: Chain): Promise<ReferencePrice | PriceMissing> {
  const { token, feed, decimalsOf } = asked;
  const decimals = decimalsOf.get(feed.address) ?? (await readDecimals(feed, chain));
  if (decimals === undefined) return invalid(token, feed, "its decimals() is no sensible number");
  decimalsOf.set(feed.address, decimals);
  const [round, bounds, head] = await Promise.all([
    readRound(chain, feed.address),
    readBounds(feed, chain),
    chain.latest(),
  ]);
  if (round === undefined) return invalid(token, feed, "latestRoundData() did not answer five words");
  const problem = problemOf(round, bounds, head.timestamp);
  if (problem !== undefined) return invalid(token, feed, problem);
  const updatedAt = Number(round.updatedAt);
  const age = head.timestamp - updatedAt;
  if (age > feed.maxAgeSeconds) {
    return {
      missing: "stale",
      detail: `${token.symbol}: the feed's answer is ${formatDuration(age * 1_000)} old, allowed are ${formatDuration(feed.maxAgeSeconds * 1_000)}`,
    };
  }
  return { usd: scaled(round.answer, decimals), source: `feed ${feed.address}`, atSeconds: updatedAt };
}

interface Bounds {
  readonly least: bigint;
  readonly most: bigint;
}

/** What makes a round unusable, whatever its age. */
function problemOf(round: FeedRound, bounds: Bounds | undefined, nowSeconds: number): string | undefined {
  const { answer, updatedAt, roundId, answeredInRound } = round;
  if (updatedAt === 0n) return `its round ${roundId} is not complete`;
  if (answeredInRound < roundId) return `its answer is of round ${answeredInRound}, before round ${roundId}`;
  if (answer <= 0n) return `it answers ${answer}`;
  if (updatedAt > BigInt(nowSeconds + MOST_AHEAD_SECONDS))
    return `its answer is of ${updatedAt}, after the block of ${nowSeconds}`;
  if (bounds === undefined) return undefined;
  if (answer > bounds.least && answer < bounds.most) return undefined;
  return `it answers ${answer}, which is at a bound of its aggregator (${bounds.least} to ${bounds.most}), so the market may be beyond it`;
}

/**
 * The bounds of what the feed's present aggregator can report at all: beyond them it goes on answering the bound, as in
 * the crash of LUNA. Undefined for a feed that shows none. Asked each time, because a proxy's aggregator changes.
 */
async function readBounds(feed: Feed, chain: Chain): Promise<Bounds | undefined> {
  const named = await readWords(chain, { to: feed.address, data: AGGREGATOR, words: 1 });
  if (named?.[0] === undefined) return undefined;
  const aggregator = `0x${BigInt.asUintN(160, named[0]).toString(16).padStart(40, "0")}` as Address;
  const [least, most] = await Promise.all(
    [MIN_ANSWER, MAX_ANSWER].map((data) => readWords(chain, { to: aggregator, data, words: 1 })),
  );
  if (least === undefined || most === undefined) return undefined;
  return { least: signed(least[0]), most: signed(most[0]) };
}

async function readDecimals(feed: Feed, chain: Chain): Promise<bigint | undefined> {
  const words = await readWords(chain, { to: feed.address, data: DECIMALS, words: 1 });
  const decimals = words?.length === 1 ? words[0] : undefined;
  return decimals !== undefined && decimals <= MAX_FEED_DECIMALS ? decimals : undefined;
}

function scaled(price: bigint, decimals: bigint): UsdPrice {
  const shift = BigInt(USD_DECIMALS) - decimals;
  return (shift >= 0n ? price * 10n ** shift : price / 10n ** -shift) as UsdPrice;
}

function invalid(token: Token, feed: Feed, detail: string): PriceMissing {
  return { missing: "invalid", detail: `${token.symbol}: the feed ${feed.address} is not usable: ${detail}` };
}
