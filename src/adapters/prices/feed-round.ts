import type { Address, Hex } from "../../domain/money/address.ts";
import type { Chain } from "../../ports/chain.ts";
import { readWords, signed } from "./contract-words.ts";

/** `latestRoundData()` of Chainlink's AggregatorV3Interface, which sequencer feeds have too. */
const LATEST_ROUND_DATA: Hex = "0xfeaf968c";
const WORDS = 5;

/**
 * A round may be newer than the block that is read at the same time: one comes in between, or another endpoint, some blocks
 * behind, gives the block. More seconds than this are no such race.
 */
export const MOST_AHEAD_SECONDS = 60;

/** A feed's last round. Times are Unix seconds. */
export interface FeedRound {
  readonly roundId: bigint;
  readonly answer: bigint;
  readonly startedAt: bigint;
  readonly updatedAt: bigint;
  readonly answeredInRound: bigint;
}

/** @returns undefined when the feed does not answer exactly the five words of a round */
export async function readRound(chain: Chain, feed: Address): Promise<FeedRound | undefined> {
  const words = await readWords(chain, { to: feed, data: LATEST_ROUND_DATA, words: WORDS });
  if (words === undefined || words.length !== WORDS) return undefined;
  const [roundId = 0n, answer, startedAt = 0n, updatedAt = 0n, answeredInRound = 0n] = words;
  return { roundId, answer: signed(answer), startedAt, updatedAt, answeredInRound };
}
