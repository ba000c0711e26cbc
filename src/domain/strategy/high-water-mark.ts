import type { PairPrice } from "./pair-price.ts";
import type { Holding, Rise } from "./threshold-memory.ts";

/** So many prices above the high-water mark are kept at once; of more, those nearest to a lower one are dropped. */
const MOST_RISES = 256;

/** One check of the price, as a high-water mark sees it. */
export interface HeldSample {
  readonly nowMs: number;
  readonly price: PairPrice;
  /** too much time passed since the check before: it is not known what the price did meanwhile */
  readonly isBlind: boolean;
}

/**
 * What the checks so far say of prices above the high-water mark: for each price that the last checks never fell below,
 * since when and in how many checks. A price that held since an earlier check holds since then also where later prices
 * were higher.
 * @param above only prices above this can still raise the high-water mark; undefined: all
 * @returns from the lowest price, which held longest, to the newest
 */
export function risesAfter(before: readonly Rise[], sample: HeldSample, above: bigint | undefined): readonly Rise[] {
  // What was seen by a clock that ran ahead holds from now on.
  const timed = before.map((rise) => (rise.sinceMs > sample.nowMs ? { ...rise, sinceMs: sample.nowMs } : rise));
  const known = sample.isBlind ? [] : timed;
  const lower = known.filter(({ price }) => BigInt(price) < sample.price);
  // Prices that were not below this one hold no longer, and what held with them holds at this price now.
  const oldest = known.find(({ price }) => BigInt(price) >= sample.price);
  const longer = lower.map((rise) => ({ ...rise, samples: rise.samples + 1 }));
  const here: Holding =
    oldest === undefined
      ? { sinceMs: sample.nowMs, samples: 1 }
      : { sinceMs: oldest.sinceMs, samples: oldest.samples + 1 };
  const rises = [...longer, { price: sample.price.toString(), ...here }];
  return thinned(above === undefined ? rises : rises.filter(({ price }) => BigInt(price) > above));
}

/** The highest price that held for so long and in so many checks; undefined where none did. */
export function highestHeld(
  rises: readonly Rise[],
  needed: { readonly forSeconds: number; readonly samples: number },
  nowMs: number,
): bigint | undefined {
  const held = rises.findLast(
    ({ sinceMs, samples }) => samples >= needed.samples && nowMs - sinceMs >= needed.forSeconds * 1_000,
  );
  return held === undefined ? undefined : BigInt(held.price);
}

/** Without it a lower price is the high-water mark for a moment, until the next one is held: the difference is the least there is. */
function thinned(rises: readonly Rise[]): readonly Rise[] {
  if (rises.length <= MOST_RISES) return rises;
  let [nearest, least] = [1, undefined as bigint | undefined];
  for (let index = 1; index < rises.length - 1; index += 1) {
    const gap = BigInt(rises[index]?.price ?? 0) - BigInt(rises[index - 1]?.price ?? 0);
    if (least === undefined || gap < least) [nearest, least] = [index, gap];
  }
  return rises.filter((_, index) => index !== nearest);
}
