/**
 * Keccak-256 from its specification (Keccak-f[1600], rate 1088, domain byte 0x01), for tests that must not share code
 * with what they check. Slow and simple.
 */
export function keccak256(input: Uint8Array): Uint8Array {
  const rate = 136;
  const padded = new Uint8Array((Math.floor(input.length / rate) + 1) * rate);
  padded.set(input);
  padded[input.length] = 0x01;
  padded[padded.length - 1] = (padded[padded.length - 1] ?? 0) | 0x80;
  const lanes = new BigUint64Array(25);
  const blocks = new DataView(padded.buffer);
  for (let block = 0; block < padded.length; block += rate) {
    for (let lane = 0; lane < rate / 8; lane++) {
      lanes[lane] = (lanes[lane] ?? 0n) ^ blocks.getBigUint64(block + lane * 8, true);
    }
    permute(lanes);
  }
  const output = new DataView(new ArrayBuffer(32));
  for (let lane = 0; lane < 4; lane++) output.setBigUint64(lane * 8, lanes[lane] ?? 0n, true);
  return new Uint8Array(output.buffer);
}

const MASK = (1n << 64n) - 1n;

function rotate(value: bigint, by: bigint): bigint {
  return by === 0n ? value : ((value << by) | (value >> (64n - by))) & MASK;
}

/** Round constants by the linear feedback shift register x^8 + x^6 + x^5 + x^4 + 1. */
const ROUND_CONSTANTS: readonly bigint[] = (() => {
  const constants: bigint[] = [];
  let register = 1;
  for (let round = 0; round < 24; round++) {
    let constant = 0n;
    for (let bit = 0; bit < 7; bit++) {
      if ((register & 1) === 1) constant |= 1n << BigInt(2 ** bit - 1);
      register <<= 1;
      if ((register & 0x100) !== 0) register ^= 0x171;
    }
    constants.push(constant);
  }
  return constants;
})();

function permute(state: BigUint64Array): void {
  const at = (x: number, y: number): bigint => state[(x % 5) + 5 * (y % 5)] ?? 0n;
  for (const constant of ROUND_CONSTANTS) {
    const parity = [0, 1, 2, 3, 4].map((x) => at(x, 0) ^ at(x, 1) ^ at(x, 2) ^ at(x, 3) ^ at(x, 4));
    for (let x = 0; x < 5; x++) {
      const delta = (parity[(x + 4) % 5] ?? 0n) ^ rotate(parity[(x + 1) % 5] ?? 0n, 1n);
      for (let y = 0; y < 5; y++) state[x + 5 * y] = at(x, y) ^ delta;
    }
    const moved = new BigUint64Array(25);
    moved[0] = at(0, 0);
    let x = 1;
    let y = 0;
    for (let step = 0; step < 24; step++) {
      const offset = BigInt((((step + 1) * (step + 2)) / 2) % 64);
      const target = (2 * x + 3 * y) % 5;
      moved[y + 5 * target] = rotate(at(x, y), offset);
      [x, y] = [y, target];
    }
    for (let row = 0; row < 5; row++) {
      for (let column = 0; column < 5; column++) {
        const cell = (offset: number): bigint => moved[((column + offset) % 5) + 5 * row] ?? 0n;
        state[column + 5 * row] = cell(0) ^ (~cell(1) & MASK & cell(2));
      }
    }
    state[0] = (state[0] ?? 0n) ^ constant;
  }
}
