import { scrypt as nativeScrypt, pbkdf2 } from "node:crypto";
import { promisify } from "node:util";

/** The parameters of scrypt (RFC 7914): cost, block size, parallelism. The key derived has 32 bytes. */
export interface ScryptCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

const KEY_BYTES = 32;
const deriveKey = promisify(pbkdf2);

/** Bytes that scrypt works in: its memory, besides a few blocks. */
export function scryptMemory({ N, r, p }: ScryptCost): number {
  return 128 * r * (N + p + 2);
}

/**
 * Derives a key by scrypt. The system's own function follows RFC 7914, which wants N < 2^(16 r); keystores exist that do
 * not, the published test vector of the Web3 Secret Storage definition among them, and their keys are derived here.
 */
export async function scrypt(password: Uint8Array, salt: Uint8Array, cost: ScryptCost): Promise<Buffer> {
  if (Math.log2(cost.N) < 16 * cost.r) {
    const options = { ...cost, maxmem: 2 * scryptMemory(cost) };
    return await new Promise((resolve, reject) => {
      nativeScrypt(password, salt, KEY_BYTES, options, (error, key) => (error === null ? resolve(key) : reject(error)));
    });
  }
  return await scryptOfAnyCost(password, salt, cost);
}

/** scrypt as RFC 7914 describes it, without its bound of N. */
export async function scryptOfAnyCost(password: Uint8Array, salt: Uint8Array, cost: ScryptCost): Promise<Buffer> {
  const { N, r, p } = cost;
  const bytes = await deriveKey(password, salt, 1, p * 128 * r, "sha256");
  const words = new Int32Array(p * 32 * r);
  for (let index = 0; index < words.length; index += 1) words[index] = bytes.readInt32LE(4 * index);
  for (let block = 0; block < p; block += 1) mixRows(words.subarray(block * 32 * r, (block + 1) * 32 * r), N, r);
  for (let index = 0; index < words.length; index += 1) bytes.writeInt32LE(words[index] ?? 0, 4 * index);
  return await deriveKey(password, bytes, 1, KEY_BYTES, "sha256");
}

/** scryptROMix, in place. */
function mixRows(block: Int32Array, N: number, r: number): void {
  const size = 32 * r;
  const rows = new Int32Array(N * size);
  const scratch: Scratch = { mixed: new Int32Array(16), before: new Int32Array(16), block: new Int32Array(size) };
  for (let row = 0; row < N; row += 1) {
    rows.set(block, row * size);
    mixBlock(block, scratch, r);
  }
  for (let step = 0; step < N; step += 1) {
    const start = ((block[size - 16] ?? 0) & (N - 1)) * size;
    for (let index = 0; index < size; index += 1) block[index] = (block[index] ?? 0) ^ (rows[start + index] ?? 0);
    mixBlock(block, scratch, r);
  }
}

/** Room that is used again by each of the very many steps. */
interface Scratch {
  readonly mixed: Int32Array;
  readonly before: Int32Array;
  readonly block: Int32Array;
}

/** scryptBlockMix, in place: even pieces go to the first half, odd ones to the second. */
function mixBlock(block: Int32Array, scratch: Scratch, r: number): void {
  const { mixed } = scratch;
  for (let index = 0; index < 16; index += 1) mixed[index] = block[(2 * r - 1) * 16 + index] ?? 0;
  for (let piece = 0; piece < 2 * r; piece += 1) {
    for (let index = 0; index < 16; index += 1) mixed[index] = (mixed[index] ?? 0) ^ (block[piece * 16 + index] ?? 0);
    salsa8(mixed, scratch.before);
    scratch.block.set(mixed, ((piece >> 1) + (piece % 2) * r) * 16);
  }
  block.set(scratch.block);
}

/** Salsa20/8, in place: four times its columns, then its rows. */
function salsa8(state: Int32Array, before: Int32Array): void {
  before.set(state);
  for (let round = 0; round < 4; round += 1) {
    quarterRound(state, 0, 4, 8, 12);
    quarterRound(state, 5, 9, 13, 1);
    quarterRound(state, 10, 14, 2, 6);
    quarterRound(state, 15, 3, 7, 11);
    quarterRound(state, 0, 1, 2, 3);
    quarterRound(state, 5, 6, 7, 4);
    quarterRound(state, 10, 11, 8, 9);
    quarterRound(state, 15, 12, 13, 14);
  }
  for (let index = 0; index < 16; index += 1) state[index] = (state[index] ?? 0) + (before[index] ?? 0);
}

function quarterRound(state: Int32Array, a: number, b: number, c: number, d: number): void {
  const w = state[a] ?? 0;
  const v = state[d] ?? 0;
  const x = (state[b] ?? 0) ^ rotated(w + v, 7);
  const y = (state[c] ?? 0) ^ rotated(x + w, 9);
  const z = v ^ rotated(y + x, 13);
  state[a] = w ^ rotated(z + y, 18);
  state[b] = x;
  state[c] = y;
  state[d] = z;
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
