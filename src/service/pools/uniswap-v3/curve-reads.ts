import type { ReadWords, ViewCall, WordsAnswer } from "../../../chain/at-block/batch-reader.ts";
import { callData, intWord, signed } from "../../../chain/at-block/words.ts";
import type { KnownState, Pool, PoolState, TakeCalls } from "../pool.ts";
import { type CurvePosition, concentratedPoolState, type LoadWord } from "./concentrated-pool.ts";
import { V3_SELECTOR } from "./selectors.ts";
import type { HopGas } from "./swap-gas.ts";
import { ticksIn, wordBounds, wordOf } from "./tick-bitmap.ts";

/** Ticks to either side of the price that are read at first: about 10 % of price. */
const FIRST_REACH_TICKS = 1_000;

/** Words to either side of the price that are asked for again when liquidity moved. */
const REMEMBERED_WORDS = 8;

/**
 * The ticks of a pool as far as they were read. Blocks between which no liquidity moved share one table: trades move
 * the price along it and change nothing in it, so what one block reads holds for the others.
 */
interface MutableTable {
  readonly words: Map<number, bigint>;
  readonly nets: Map<number, bigint>;
  readonly blanks: Map<number, number>;
  /** how many words the next extension reads; doubles each time, so that few round trips reach far */
  extension: number;
}

interface Loaded {
  readonly pool: Pool;
  readonly position: CurvePosition;
  readonly table: MutableTable;
  readonly read: ReadWords;
}

/** What lies behind the states made here: the next block starts from it. */
const loaded = new WeakMap<PoolState, Loaded>();

/** What {@link encodeCurveReads} asked for beyond price and liquidity; the table may have grown until the answers come. */
interface Plan {
  readonly words: readonly number[];
  readonly ticks: readonly number[];
}
const plans = new WeakMap<KnownState, Plan>();

function emptyTable(): MutableTable {
  return { words: new Map(), nets: new Map(), blanks: new Map(), extension: 4 };
}

function wordCall(pool: Pool, position: number): ViewCall {
  return { to: pool.address, data: callData(V3_SELECTOR.tickBitmap, intWord(position)), words: 1 };
}

function tickCall(pool: Pool, tick: number): ViewCall {
  return { to: pool.address, data: callData(V3_SELECTOR.ticks, intWord(tick)), words: 4 };
}

/** Writes down what a pool says of a tick: liquidity on it, its change, and two fee accumulators. */
function noteTick(table: MutableTable, tick: number, words: readonly bigint[]): void {
  table.nets.set(tick, signed(words[1] ?? 0n, 128));
  const blank = words.slice(2, 4).filter((accumulator) => accumulator === 0n).length;
  if (blank > 0) table.blanks.set(tick, blank);
}

/** The words near the price that were known, and their ticks, so that one round trip reads both again. */
function planOf(pool: Pool, known: KnownState): Plan {
  const before = known.onlyTraded ? undefined : loaded.get(known.state);
  if (before === undefined) return { words: [], ticks: [] };
  const center = wordOf(before.position.tick, pool.tickSpacing, true);
  const near = (word: number) => Math.abs(word - center) <= REMEMBERED_WORDS;
  return {
    words: [...before.table.words.keys()].filter(near),
    ticks: [...before.table.nets.keys()].filter((tick) => near(wordOf(tick, pool.tickSpacing, true))),
  };
}

/** Price and liquidity; and, where liquidity moved, what was known of the ticks. */
export function encodeCurveReads(pool: Pool, known: KnownState | undefined): ViewCall[] {
  const calls: ViewCall[] = [
    { to: pool.address, data: V3_SELECTOR.slot0, words: 2 },
    { to: pool.address, data: V3_SELECTOR.liquidity, words: 1 },
  ];
  if (known === undefined) return calls;
  const plan = planOf(pool, known);
  plans.set(known, plan);
  for (const word of plan.words) calls.push(wordCall(pool, word));
  for (const tick of plan.ticks) calls.push(tickCall(pool, tick));
  return calls;
}

export function decodeCurve(
  pool: Pool,
  answers: readonly WordsAnswer[],
  { known, read }: { readonly known: KnownState | undefined; readonly read: ReadWords },
  hopGas?: HopGas,
): PoolState | undefined {
  const [slot, liquidityWords, ...rest] = answers;
  const price = slot?.[0] ?? 0n;
  if (slot === undefined || liquidityWords === undefined || price === 0n) return undefined;
  const position = { price, tick: Number(signed(slot[1] ?? 0n, 24)), liquidity: liquidityWords[0] ?? 0n };
  const table = tableOf(pool, { position, known, rest });
  const curve = { ...position, words: table.words, nets: table.nets, blanks: table.blanks };
  const load: LoadWord = (word, down) => readWords({ pool, read, table }, extend(pool, table, word, down));
  const state = concentratedPoolState(pool, curve, load, hopGas);
  loaded.set(state, { pool, position, table, read });
  return state;
}

function tableOf(
  pool: Pool,
  from: { position: CurvePosition; known: KnownState | undefined; rest: readonly WordsAnswer[] },
): MutableTable {
  const { position, known, rest } = from;
  if (known === undefined) return emptyTable();
  if (!known.onlyTraded) return rereadTable(pool, plans.get(known) ?? { words: [], ticks: [] }, rest);
  const before = loaded.get(known.state);
  return before !== undefined && liquidityAgrees(before, position) ? before.table : emptyTable();
}

function rereadTable(pool: Pool, plan: Plan, answers: readonly WordsAnswer[]): MutableTable {
  const table = emptyTable();
  for (const [index, tick] of plan.ticks.entries()) {
    const words = answers[plan.words.length + index];
    if (words !== undefined) noteTick(table, tick, words);
  }
  for (const [index, position] of plan.words.entries()) {
    const word = answers[index]?.[0];
    // A word with a tick that is new in it stays unread until a quote asks for it.
    if (word === undefined || !ticksIn(position, word, pool.tickSpacing).every((tick) => table.nets.has(tick)))
      continue;
    table.words.set(position, word);
  }
  return table;
}

/**
 * Whether the liquidity at the new price is what the table says it must be after that move. It is not when the node
 * showed nothing of liquidity that moved; then the table is not used.
 */
function liquidityAgrees({ pool, position, table }: Loaded, next: CurvePosition): boolean {
  const [low, high] = position.tick < next.tick ? [position.tick, next.tick] : [next.tick, position.tick];
  const { tickSpacing } = pool;
  const between = range(wordOf(low, tickSpacing, true), wordOf(high, tickSpacing, true));
  if (low !== high && !between.every((word) => table.words.has(word))) return false;
  let crossed = 0n;
  for (const [tick, net] of table.nets) {
    if (tick <= low || tick > high) continue;
    crossed += net;
    table.blanks.delete(tick);
  }
  return next.liquidity === position.liquidity + (position.tick < next.tick ? crossed : -crossed);
}

type CurveRead = Pick<Loaded, "pool" | "read" | "table">;

/** Reads words and their ticks into the table. */
async function readWords(
  { pool, read, table }: CurveRead,
  positions: readonly number[],
  take?: TakeCalls,
): Promise<void> {
  take?.(positions.length);
  const fresh = await Promise.all(
    positions.map(async (position): Promise<[number, bigint]> => {
      const { to, data } = wordCall(pool, position);
      const words = await read(to, data, 1);
      if (words === undefined) throw new Error(`pool ${pool.address} did not answer for its tick bitmap`);
      return [position, words[0] ?? 0n];
    }),
  );
  const ticks = fresh
    .flatMap(([position, word]) => ticksIn(position, word, pool.tickSpacing))
    .filter((tick) => !table.nets.has(tick));
  take?.(ticks.length);
  await Promise.all(
    ticks.map(async (tick) => {
      const { to, data } = tickCall(pool, tick);
      const words = await read(to, data, 4);
      if (words === undefined) throw new Error(`pool ${pool.address} did not answer for tick ${tick}`);
      noteTick(table, tick, words);
    }),
  );
  // Only now: a quote in between must not see a tick without its liquidity.
  for (const [position, word] of fresh) table.words.set(position, word);
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

/** Reads the words around the price, as far as they are not known. */
export async function prepareCurve(state: PoolState, take?: TakeCalls): Promise<void> {
  const behind = loaded.get(state);
  if (behind === undefined) return;
  const { pool, position, table } = behind;
  const { lowest, highest } = wordBounds(pool.tickSpacing);
  const from = wordOf(position.tick - FIRST_REACH_TICKS, pool.tickSpacing, true);
  const to = wordOf(position.tick + FIRST_REACH_TICKS, pool.tickSpacing, false);
  const missing = range(Math.max(from, lowest), Math.min(to, highest)).filter((word) => !table.words.has(word));
  if (missing.length > 0) await readWords(behind, missing, take);
}
