import { MAX_TICK, MIN_TICK } from "./tick-math.ts";

/** The initialised ticks of a pool, as far as they were read. */
export interface TickTable {
  /** bitmap words by their position; bit b of word w stands for tick (w * 256 + b) * spacing */
  readonly words: ReadonlyMap<number, bigint>;
  /** change of liquidity when the price crosses the tick upwards, by tick */
  readonly nets: ReadonlyMap<number, bigint>;
}

/** A search for the next tick ends at the word's edge, as in the pools: a step of the curve is never longer. */
export type NextTick =
  | { readonly kind: "tick"; readonly tick: number; readonly initialized: boolean }
  | { readonly kind: "unread"; readonly word: number };

const BITS = 256n;

/** The word in which a search from this tick looks. Upwards it starts at the next usable tick. */
export function wordOf(tick: number, spacing: number, down: boolean): number {
  return (Math.floor(tick / spacing) + (down ? 0 : 1)) >> 8;
}

/** The positions of the lowest and the highest word a pool of this spacing can use. */
export function wordBounds(spacing: number): { readonly lowest: number; readonly highest: number } {
  return { lowest: Math.trunc(MIN_TICK / spacing) >> 8, highest: Math.trunc(MAX_TICK / spacing) >> 8 };
}

/** The ticks whose bits are set in a word. */
export function ticksIn(position: number, word: bigint, spacing: number): number[] {
  const ticks: number[] = [];
  for (let bit = 0; bit < 256; bit += 1) {
    if ((word >> BigInt(bit)) & 1n) ticks.push((position * 256 + bit) * spacing);
  }
  return ticks;
}

/** The next initialised tick at or below (down) or above (up) the given one within one word, else the word's edge. */
export function nextTick(table: TickTable, from: { tick: number; spacing: number; down: boolean }): NextTick {
  const { tick, spacing, down } = from;
  const compressed = Math.floor(tick / spacing) + (down ? 0 : 1);
  const position = compressed >> 8;
  const word = table.words.get(position);
  if (word === undefined) return { kind: "unread", word: position };
  const bit = compressed & 255;
  const masked = down ? word & ((1n << BigInt(bit + 1)) - 1n) : (word >> BigInt(bit)) << BigInt(bit);
  const initialized = masked !== 0n;
  const edge = down ? 0 : 255;
  const found = initialized ? (down ? highestBit(masked) : lowestBit(masked)) : edge;
  const next = (position * 256 + found) * spacing;
  return { kind: "tick", tick: Math.min(Math.max(next, MIN_TICK), MAX_TICK), initialized };
}

function highestBit(value: bigint): number {
  let bit = 0;
  let rest = value;
  for (let width = BITS / 2n; width > 0n; width /= 2n) {
    if (rest >> width > 0n) {
      rest >>= width;
      bit += Number(width);
    }
  }
  return bit;
}

function lowestBit(value: bigint): number {
  return highestBit(value & -value);
}
