import type { Address } from "../../domain/money/address.ts";
import { larger } from "../../domain/money/bigint.ts";
import { formatDuration } from "../../domain/time/format-duration.ts";
import type { Chain } from "../../ports/chain.ts";
import type { PriceMissing, PriceSource } from "../../ports/price-source.ts";
import { MOST_AHEAD_SECONDS, readRound } from "./feed-round.ts";
import { unreachable } from "./unreachable.ts";

/** The feed that says whether a rollup's sequencer is up, and how long after its return prices are still not used. */
export interface SequencerFeed {
  readonly address: Address;
  readonly graceSeconds: number;
}

const UP = 0n;
const DOWN = 1n;

/**
 * Prices of a rollup, for as long as its sequencer is up. While it is down only insiders can trade, and when
 * it comes back the first blocks carry prices of before. The feed's answer 0 is up and 1 is down, `startedAt` is the
 * instant of the change and 0 for a round that is none (Chainlink, "L2 Sequencer Uptime Feeds").
 */
export function whileSequencerIsUp(sequencer: SequencerFeed, prices: PriceSource, chain: Chain): PriceSource {
  return {
    price: async (token) => (await problemOf(sequencer, chain)) ?? (await prices.price(token)),
  };
}

async function problemOf(sequencer: SequencerFeed, chain: Chain): Promise<PriceMissing | undefined> {
  try {
    return await readStatus(sequencer, chain);
  } catch (error) {
    const { missing, detail } = unreachable(error);
    return { missing, detail: `the sequencer's feed: ${detail}` };
  }
}

async function readStatus(sequencer: SequencerFeed, chain: Chain): Promise<PriceMissing | undefined> {
  const { address, graceSeconds } = sequencer;
  const [round, { timestamp }] = await Promise.all([readRound(chain, address), chain.latest()]);
  const unusable = (detail: string): PriceMissing => ({
    missing: "invalid",
    detail: `the sequencer's feed ${address} is not usable: ${detail}`,
  });
  if (round === undefined) return unusable("latestRoundData() did not answer five words");
  const { answer, startedAt } = round;
  const seconds = larger(BigInt(timestamp) - startedAt, 0n);
  const since = formatDuration(Number(seconds) * 1_000);
  if (answer === DOWN) return { missing: "sequencer down", detail: `the sequencer is down for ${since}` };
  if (answer !== UP) return unusable(`it answers ${answer}`);
  if (startedAt === 0n) return unusable("its round is not complete");
  if (startedAt > BigInt(timestamp + MOST_AHEAD_SECONDS))
    return unusable(`it changed at ${startedAt}, after the block of ${timestamp}`);
  if (seconds > BigInt(graceSeconds)) return undefined;
  const detail = `the sequencer is back for ${since} only; prices are used after ${formatDuration(graceSeconds * 1_000)}`;
  return { missing: "sequencer down", detail };
}
