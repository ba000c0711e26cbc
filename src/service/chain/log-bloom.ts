import { keccak256 } from "ethers";
import type { Hex } from "../../domain/money/address.ts";

/** Bits of a value in a block's bloom filter of logs, as places from its end. Emptied when full. */
const knownPlaces = new Map<Hex, readonly number[]>();
const MAX_KNOWN = 20_000;

const BLOOM_BITS = 2_048;
const HEX_DIGIT_BITS = 4;

function placesOf(value: Hex): readonly number[] {
  const known = knownPlaces.get(value);
  if (known !== undefined) return known;
  const digest = keccak256(value);
  // Eleven bits each of the first three pairs of bytes.
  const places = [2, 6, 10].map((at) => Number.parseInt(digest.slice(at, at + 4), 16) % BLOOM_BITS);
  if (knownPlaces.size >= MAX_KNOWN) knownPlaces.clear();
  knownPlaces.set(value, places);
  return places;
}

/** Whether a log with this address or topic may be in the block; false is certain, if the node computes blooms. */
export function mayContain(bloom: Hex, value: Hex): boolean {
  return placesOf(value).every((place) => {
    const digit = Number.parseInt(bloom.charAt(bloom.length - 1 - Math.floor(place / HEX_DIGIT_BITS)), 16);
    return ((digit >> (place % HEX_DIGIT_BITS)) & 1) === 1;
  });
}

/** Whether the node computes blooms at all: some networks leave them empty. */
export function isComputed(bloom: Hex): boolean {
  return /[1-9a-f]/i.test(bloom.slice(2));
}
