/** Gives identifiers that are unique over restarts and sort by time. */
export interface IdSource {
  newId(prefix: string): string;
  /** A random 256-bit nonce for unordered nonce bitmaps, and other unpredictable numbers. */
  randomUint256(): bigint;
}
