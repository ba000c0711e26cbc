import type { Hex } from "../../domain/money/address.ts";

/** A log topic, and where a block's bloom filter has it. */
export interface WatchedTopic {
  readonly topic: Hex;
  /** its three bits, counted from the filter's end: the last eleven of each of the first three pairs of its hash's bytes */
  readonly bloomPlaces: readonly [number, number, number];
}

const HEX_DIGIT_BITS = 4;

/** Whether a log with this topic may be in the block; false is certain, if the node computes blooms. */
export function mayContain(bloom: Hex, { bloomPlaces }: WatchedTopic): boolean {
  return bloomPlaces.every((place) => {
    const digit = Number.parseInt(bloom.charAt(bloom.length - 1 - Math.floor(place / HEX_DIGIT_BITS)), 16);
    return ((digit >> (place % HEX_DIGIT_BITS)) & 1) === 1;
  });
}

/** Whether the node computes blooms at all: some networks leave them empty. */
export function isComputed(bloom: Hex): boolean {
  return /[1-9a-f]/i.test(bloom.slice(2));
}
