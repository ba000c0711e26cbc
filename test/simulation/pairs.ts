import { OPEN_STATES } from "./daemon/aim.ts";
import { FAULT_NAMES } from "./faults.ts";

/** So often each fault strikes a swap in each state, in so many seeds. */
export const PAIRS_WANTED = { times: 100, inSeeds: 100_000 };

/** A pair of fault and state that comes up too rarely. */
export interface RarePair {
  readonly pair: string;
  readonly times: number;
  /** how often it would come up in as many seeds as are wanted, at this rate */
  readonly scaled: number;
}

/** Every pair of a fault and the state of a swap that has not ended. */
export function allPairs(): readonly string[] {
  return FAULT_NAMES.flatMap((name) => OPEN_STATES.map((state) => `${name} | ${state}`));
}

/** @returns what came up too rarely for its share of the wanted seeds, the rarest first */
export function rarePairs(hits: ReadonlyMap<string, number>, seeds: number): readonly RarePair[] {
  return allPairs()
    .map((pair) => {
      const times = hits.get(pair) ?? 0;
      return { pair, times, scaled: Math.floor((times * PAIRS_WANTED.inSeeds) / seeds) };
    })
    .filter(({ scaled }) => scaled < PAIRS_WANTED.times)
    .sort((left, right) => left.times - right.times);
}
