import type { Address } from "../money/address.ts";
import { larger } from "../money/bigint.ts";
import { ONE_PPM, type Ppm } from "../money/fraction.ts";
import { type UsdPrice, valueDown } from "../money/price.ts";

/** Stop when the value of the wallets has fallen by more than a share from its high within a time. */
export interface DrawdownRule {
  readonly stop: Ppm;
  readonly overSeconds: number;
}

/** What all wallets together hold of a token. Amounts in its smallest unit. */
export interface Holding {
  readonly token: Address;
  readonly decimals: number;
  readonly raw: bigint;
  /** what swaps brought of it less what they took, over all time, counting what they delivered to others as brought */
  readonly net: bigint;
  readonly usd: UsdPrice;
}

/** All holdings at one instant, every one of them priced. */
export interface DrawdownSample {
  readonly atMs: number;
  readonly holdings: readonly Holding[];
  /** whose holdings they are; a sample of an older release does not know it */
  readonly wallets?: readonly Address[];
}

/** A value of the index, and when it was seen last. */
interface IndexPoint {
  readonly atMs: number;
  readonly index: bigint;
}

/**
 * The value of the wallets as an index free of deposits and withdrawals, as it is stored. `highs` fall from each to the
 * next; the first one is the high-water mark.
 */
export interface DrawdownState {
  readonly version: 1;
  readonly index: bigint;
  readonly sample: DrawdownSample;
  readonly highs: readonly IndexPoint[];
  /** it stopped the daemon, and no person has set it going again */
  readonly stopped: boolean;
}

/** Where an index begins; it is a number of its own and no amount of money. */
const BEGIN = 10n ** 18n;

/** A window is kept in so many parts at most. A high lives up to one part longer than the window: that stops earlier. */
const PARTS = 256;

/** The index at its first sample, or anew once a person has looked at the fall. */
export function beginDrawdown(sample: DrawdownSample): DrawdownState {
  return { version: 1, index: BEGIN, sample, highs: [{ atMs: sample.atMs, index: BEGIN }], stopped: false };
}

/**
 * Carries the index on to a new sample: by what prices did to the holdings of before, and by what swaps did to these and
 * to what was deposited meanwhile. What came or went by itself, without a swap of ours, changes nothing; nor does a
 * wallet that is watched from now on or no more, with all that its swaps did in earlier years.
 */
export function nextDrawdown(state: DrawdownState, sample: DrawdownSample, rule: DrawdownRule): DrawdownState {
  const { before, held, begun, done } = valuesBetween(state.sample, sample);
  const byPrices = before > 0n ? { up: held, down: before } : { up: 1n, down: 1n };
  const bySwaps = begun > 0n ? { up: done, down: begun } : { up: 1n, down: 1n };
  const index = (state.index * byPrices.up * bySwaps.up) / (byPrices.down * bySwaps.down);
  const highs = withPoint(state.highs, { atMs: sample.atMs, index }, rule.overSeconds * 1_000);
  return { ...state, index, sample, highs };
}

interface Values {
  /** the old holdings at the old prices, and at the new ones */
  readonly before: bigint;
  readonly held: bigint;
  /** at the new prices: the old holdings with deposits, and these after our swaps */
  readonly begun: bigint;
  readonly done: bigint;
}

function valuesBetween(old: DrawdownSample, now: DrawdownSample): Values {
  const known = new Map(old.holdings.map((holding) => [holding.token, holding]));
  const isSame = isOfSameWallets(old, now);
  const sum = { before: 0n, held: 0n, begun: 0n, done: 0n };
  for (const holding of now.holdings) {
    // A token that was not counted before comes in as a deposit; one that is no longer counted leaves as a withdrawal.
    const was = known.get(holding.token) ?? { ...holding, raw: 0n };
    const traded = isSame ? holding.net - was.net : 0n;
    const flow = holding.raw - was.raw - traded;
    const deposited = larger(flow, 0n);
    const worth = (raw: bigint, usd: UsdPrice): bigint => valueDown({ raw, decimals: holding.decimals }, usd);
    sum.before += worth(was.raw, was.usd);
    sum.held += worth(was.raw, holding.usd);
    sum.begun += worth(was.raw + deposited, holding.usd);
    sum.done += worth(was.raw + deposited + traded, holding.usd);
  }
  return sum;
}

function isOfSameWallets({ wallets: before }: DrawdownSample, { wallets: after }: DrawdownSample): boolean {
  if (before === undefined || after === undefined) return true;
  return before.length === after.length && after.every((wallet) => before.includes(wallet));
}

/**
 * Keeps of the highs what may still become the highest of the window: nothing older than it, nothing below a later one. A
 * high of a time to come, which a clock that ran ahead saw, counts from now on, and not until then.
 */
function withPoint(highs: readonly IndexPoint[], point: IndexPoint, overMs: number): readonly IndexPoint[] {
  const kept = highs
    .filter(({ atMs, index }) => index > point.index && atMs > point.atMs - overMs)
    .map(({ atMs, index }) => ({ atMs: Math.min(atMs, point.atMs), index }));
  const last = kept.at(-1);
  const partMs = Math.ceil(overMs / PARTS);
  if (last === undefined || Math.floor(last.atMs / partMs) !== Math.floor(point.atMs / partMs)) return [...kept, point];
  return [...kept.slice(0, -1), { ...last, atMs: point.atMs }];
}

/** How far the index is below its high, as a share of it, rounded up. */
export function fallOf({ index, highs }: DrawdownState): Ppm {
  const high = highs[0]?.index ?? index;
  return (high <= index ? 0n : ((high - index) * ONE_PPM + high - 1n) / high) as Ppm;
}

/** Whether the fall is more than the owner lets pass. Compared exactly, not as the rounded share. */
export function isBeyondStop({ index, highs }: DrawdownState, { stop }: DrawdownRule): boolean {
  const high = highs[0]?.index ?? index;
  return (high - index) * ONE_PPM > stop * high;
}
