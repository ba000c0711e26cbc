import type { ViewCall } from "../../../chain/at-block/batch-reader.ts";
import { addressWord, callData, intWord, type WordText } from "../../../chain/at-block/words.ts";
import { hashWords } from "../../../chain/storage/hash-words.ts";
import { type Address, type Hex, NATIVE_TOKEN } from "../../../domain/money/address.ts";
import type { Pool } from "../pool.ts";
import { V4_SELECTOR } from "./selectors.ts";

/** Where the manager keeps its pools, and what lies where in the state of one. */
const POOLS = 6;
const LIQUIDITY = 3n;
const TICKS = 4n;
const TICK_BITMAP = 5n;

/** An array in an answer is preceded by where it begins, and how long it is. */
const ARRAY_HEAD = 2;

/** What a pool without hooks is known by. */
export interface PoolKey {
  readonly token0: Address;
  readonly token1: Address;
  readonly feePips: number;
  readonly tickSpacing: number;
}

/** The identity of a pool without hooks. Formula: keccak256(currency0, currency1, fee, tickSpacing, hooks). */
export function poolIdOf({ token0, token1, feePips, tickSpacing }: PoolKey): Hex {
  const tokens = [addressWord(token0), addressWord(token1)];
  return `0x${hashWords(...tokens, intWord(feePips), intWord(tickSpacing), addressWord(NATIVE_TOKEN))}`;
}

const states = new WeakMap<Pick<Pool, "id">, bigint>();

/** The first slot of a pool's state. */
function stateOf(pool: Pick<Pool, "id" | "address">): bigint {
  const known = states.get(pool);
  if (known !== undefined) return known;
  if (pool.id === undefined) throw new Error(`a pool at ${pool.address} has no identity`);
  const state = BigInt(`0x${hashWords(pool.id.slice(2) as WordText, intWord(POOLS))}`);
  states.set(pool, state);
  return state;
}

function entryOf(mapping: bigint, key: number): WordText {
  return hashWords(intWord(key), intWord(BigInt.asUintN(256, mapping)));
}

/** Price, tick and fees in one word, and liquidity three slots on. */
export function positionCall(pool: Pick<Pool, "id" | "address">): ViewCall {
  return slotsCall(pool.address, intWord(stateOf(pool)), Number(LIQUIDITY) + 1);
}

/** A word of the tick bitmap. */
export function wordCall(pool: Pool, position: number): ViewCall {
  const data = callData(V4_SELECTOR.extsload, entryOf(stateOf(pool) + TICK_BITMAP, position));
  return { to: pool.address, data, words: 1 };
}

/** A tick's liquidity, gross and net in one word, and its two fee accumulators. */
export function tickCall(pool: Pool, tick: number): ViewCall {
  return slotsCall(pool.address, entryOf(stateOf(pool) + TICKS, tick), 3);
}

function slotsCall(to: Address, first: WordText, count: number): ViewCall {
  return { to, data: callData(V4_SELECTOR.extsloadMany, first, intWord(count)), words: ARRAY_HEAD + count };
}

/** The slots in an answer to a call for several. */
export function slotsIn(words: readonly bigint[]): readonly bigint[] {
  return words.slice(ARRAY_HEAD);
}
