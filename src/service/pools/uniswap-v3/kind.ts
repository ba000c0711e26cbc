import type { Address } from "../../../domain/money/address.ts";
import type { ReadWords } from "../../chain/batch-reader.ts";
import { addressWord, callData, intWord, readAddress, SELECTOR, signed } from "../../chain/words.ts";
import { type Pool, type PoolKind, type PoolSearch, type PoolState, sortTokens } from "../pool.ts";
import { type CurveState, concentratedPoolState } from "./concentrated-pool.ts";
import { ticksIn, wordBounds, wordOf } from "./tick-bitmap.ts";

/** Ticks to either side of the price that are read at first: about 10 % of price. */
const FIRST_REACH_TICKS = 1_000;

/** The tables of loaded pools, so that the next block asks for the same words and ticks at once. */
const tables = new WeakMap<PoolState, MutableTable>();

/** Words to either side of the price that are asked for again in the next block. */
const REMEMBERED_WORDS = 8;

interface MutableTable {
  words: Map<number, bigint>;
  nets: Map<number, bigint>;
  tick: number;
  /** how many words the next extension reads; doubles each time, so that few round trips reach far */
  extension: number;
}

async function findTier(search: PoolSearch, read: ReadWords, tier: number): Promise<Pool | undefined> {
  const { factory } = search.protocol;
  const [token0, token1] = sortTokens(search.tokenA, search.tokenB);
  const poolData = callData(SELECTOR.getPool, addressWord(token0), addressWord(token1), intWord(tier));
  const [poolWords, spacingWords] = await Promise.all([
    read(factory, poolData, 1),
    read(factory, callData(SELECTOR.feeAmountTickSpacing, intWord(tier)), 1),
  ]);
  const address: Address | undefined = readAddress(poolWords?.[0]);
  const tickSpacing = Number(signed(spacingWords?.[0] ?? 0n, 24));
  if (address === undefined || tickSpacing <= 0) return undefined;
  return { kind: 2, protocol: search.protocolIndex, address, token0, token1, feePips: tier, tickSpacing };
}

async function readWords(pool: Pool, read: ReadWords, table: MutableTable, positions: readonly number[]) {
  const fresh = await Promise.all(
    positions.map(async (position): Promise<[number, bigint]> => {
      const words = await read(pool.address, callData(SELECTOR.tickBitmap, intWord(position)), 1);
      if (words === undefined) throw new Error(`pool ${pool.address} did not answer for its tick bitmap`);
      return [position, words[0] ?? 0n];
    }),
  );
  const ticks = fresh.flatMap(([position, word]) => ticksIn(position, word, pool.tickSpacing));
  const unknown = ticks.filter((tick) => !table.nets.has(tick));
  await readTicks(pool, read, table, unknown);
  // Only now: a quote in between must not see a tick without its liquidity.
  for (const [position, word] of fresh) table.words.set(position, word);
}

async function readTicks(pool: Pool, read: ReadWords, table: MutableTable, ticks: readonly number[]) {
  await Promise.all(
    ticks.map(async (tick) => {
      const words = await read(pool.address, callData(SELECTOR.ticks, intWord(tick)), 2);
      if (words === undefined) throw new Error(`pool ${pool.address} did not answer for tick ${tick}`);
      table.nets.set(tick, signed(words[1] ?? 0n, 128));
    }),
  );
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

/** The words to read next when a swap ran out at `position`: those not yet read, a doubling number of them. */
function extend(pool: Pool, table: MutableTable, position: number, down: boolean): number[] {
  const { lowest, highest } = wordBounds(pool.tickSpacing);
  const far = down ? position - table.extension + 1 : position + table.extension - 1;
  table.extension *= 2;
  const wanted = down ? range(Math.max(far, lowest), position) : range(position, Math.min(far, highest));
  return wanted.filter((word) => !table.words.has(word));
}

/** Asks for what was known of an earlier block: words near the price, and their ticks without waiting for the words. */
async function readKnown(pool: Pool, read: ReadWords, table: MutableTable, known: MutableTable): Promise<void> {
  const center = wordOf(known.tick, pool.tickSpacing, true);
  const near = (word: number) => Math.abs(word - center) <= REMEMBERED_WORDS;
  const ticks = [...known.nets.keys()].filter((tick) => near(wordOf(tick, pool.tickSpacing, true)));
  const words = [...known.words.keys()].filter(near);
  await Promise.all([readTicks(pool, read, table, ticks), readWords(pool, read, table, words)]);
}

/** The words around a tick that are read at first. */
function firstWords(tick: number, spacing: number): number[] {
  const { lowest, highest } = wordBounds(spacing);
  const from = wordOf(tick - FIRST_REACH_TICKS, spacing, true);
  const to = wordOf(tick + FIRST_REACH_TICKS, spacing, false);
  return range(Math.max(from, lowest), Math.min(to, highest));
}

/**
 * Reads price, liquidity and the ticks around the price. What was known of an earlier block is asked for together with
 * the price, so that in steady state one round trip is enough.
 */
async function loadCurve(pool: Pool, read: ReadWords, previous: PoolState | undefined): Promise<PoolState | undefined> {
  const known = previous === undefined ? undefined : tables.get(previous);
  const table: MutableTable = { words: new Map(), nets: new Map(), tick: 0, extension: 4 };
  const [slot, liquidityWords] = await Promise.all([
    read(pool.address, SELECTOR.slot0, 2),
    read(pool.address, SELECTOR.liquidity, 1),
    known === undefined ? undefined : readKnown(pool, read, table, known),
  ]);
  const price = slot?.[0] ?? 0n;
  if (slot === undefined || liquidityWords === undefined || price === 0n) return undefined;
  const tick = Number(signed(slot[1] ?? 0n, 24));
  table.tick = tick;
  const missing = firstWords(tick, pool.tickSpacing).filter((word) => !table.words.has(word));
  if (missing.length > 0) await readWords(pool, read, table, missing);
  const curve: CurveState = { price, tick, liquidity: liquidityWords[0] ?? 0n, words: table.words, nets: table.nets };
  const state = concentratedPoolState(pool, curve, (position, down) =>
    readWords(pool, read, table, extend(pool, table, position, down)),
  );
  tables.set(state, table);
  return state;
}

/** Pools of a Uniswap V3 style factory: one for each fee tier, liquidity in price ranges. */
export const uniswapV3: PoolKind = {
  source: "uniswap-v3",
  async find(search, read) {
    const pools = await Promise.all(search.feeTiers.map((tier) => findTier(search, read, tier)));
    return pools.filter((pool) => pool !== undefined);
  },
  load: loadCurve,
};
