/** A stream of numbers that its seed repeats. */
interface Random {
  /** The next number, 0 <= x < 1. */
  uniform(): number;
  /** The next number of a normal distribution with mean 0 and deviation 1. */
  normal(): number;
}

/**
 * Numbers from a 32-bit state that walks by a fixed odd step and is mixed on the way out (the construction known as
 * mulberry32): far from secret, quick, and the same everywhere.
 * @param seed any integers: together they choose the stream
 */
export function createRandom(...seed: readonly number[]): Random {
  let state = seed.reduce((mixed, part) => mix(mixed ^ mix(part | 0)), 0x9e3779b9 | 0);
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    return (mix(state) >>> 0) / 2 ** 32;
  };
  // Box and Muller's transform; one minus the number, because the logarithm of zero is none.
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return { uniform, normal };
}

function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 15), value | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return (mixed ^ (mixed >>> 14)) | 0;
}
