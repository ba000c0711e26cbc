/** Repeatable random numbers (mulberry32); the seed is printed with a failure. */
export function createRandomAmounts(seed: number) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    integer: (low: number, high: number) => low + Math.floor(next() * (high - low + 1)),
    /** spread evenly over the orders of magnitude, with random low digits */
    magnitude: (low: number, high: number) => {
      const exponent = low + next() * (high - low);
      return (
        (BigInt(Math.floor(10 ** (exponent % 6) * 1e6)) * 10n ** BigInt(Math.floor(exponent / 6) * 6)) / 1_000_000n + 1n
      );
    },
  };
}
