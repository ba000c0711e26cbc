import type { ReadWords, ViewCall, WordsAnswer } from "../../../chain/at-block/batch-reader.ts";
import type { KnownState, Pool, PoolKind, PoolState, TakeCalls } from "../pool.ts";
import { UnansweredPoolError } from "../unanswered-pool.ts";
import { type CurveFees, type CurvePosition, type CurveTerms, concentratedPoolState } from "./concentrated-pool.ts";
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

/** How the pools of a kind are asked for their curve, and what their answers say. */
export interface CurveSource {
  /** the calls for price and liquidity */
  positionCalls(pool: Pool): readonly ViewCall[];
  /**
   * Undefined: that is no pool, or one without a price.
   * `feePips` is of pools whose fee is another in each block, `fees` of those with one for each direction.
   */
  readPosition(
    answers: readonly WordsAnswer[],
    pool: Pool,
  ): { position: CurvePosition; fees?: CurveFees; feePips?: number } | undefined;
  /** the call for one word of the tick bitmap */
  wordCall(pool: Pool, position: number): ViewCall;
  tickCall(pool: Pool, tick: number): ViewCall;
  readTick(words: readonly bigint[]): TickFacts;
}

/** What a pool says of a tick: how liquidity changes there, and its two fee accumulators. */
interface TickFacts {
  readonly net: bigint;
  readonly accumulators: readonly bigint[];
}

interface Loaded {
  readonly source: CurveSource;
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

function noteTick(table: MutableTable, tick: number, { net, accumulators }: TickFacts): void {
  table.nets.set(tick, net);
  const blank = accumulators.filter((accumulator) => accumulator === 0n).length;
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

/** How kinds of pools with liquidity in price ranges are read. @param terms what a swap along their curve is bound by */
export function curveReads(
  source: CurveSource,
  terms: CurveTerms,
): Required<Pick<PoolKind, "encodeReads" | "decode" | "prepare">> {
  return {
    encodeReads: (pool, known) => encodeCurveReads(source, pool, known),
    decode: (pool, answers, context) => decodeCurve({ source, pool, terms }, answers, context),
    prepare: prepareCurve,
  };
}

/** Price and liquidity; and, where liquidity moved, what was known of the ticks. */
function encodeCurveReads(source: CurveSource, pool: Pool, known: KnownState | undefined): ViewCall[] {
  const calls = [...source.positionCalls(pool)];
  if (known === undefined) return calls;
  const plan = planOf(pool, known);
  plans.set(known, plan);
  for (const word of plan.words) calls.push(source.wordCall(pool, word));
  for (const tick of plan.ticks) calls.push(source.tickCall(pool, tick));
  return calls;
}

function decodeCurve(
  { source, pool, terms }: { readonly source: CurveSource; readonly pool: Pool; readonly terms: CurveTerms },
  answers: readonly WordsAnswer[],
  { known, read }: { readonly known: KnownState | undefined; readonly read: ReadWords },
): PoolState | undefined {
  const own = source.positionCalls(pool).length;
  const found = source.readPosition(answers.slice(0, own), pool);
  if (found === undefined) return undefined;
  const { position, fees, feePips = pool.feePips } = found;
  const table = tableOf({ source, pool }, { position, known, rest: answers.slice(own) });
  const curve = { ...position, fees, words: table.words, nets: table.nets, blanks: table.blanks };
  const behind: Loaded = { source, pool, position, table, read };
  const state = concentratedPoolState(
    feePips === pool.feePips ? pool : { ...pool, feePips },
    curve,
    (word, down) => readWords(behind, extend(pool, table, word, down)),
    terms,
  );
  loaded.set(state, behind);
  return state;
}

function tableOf(
  asked: Pick<Loaded, "source" | "pool">,
  from: { position: CurvePosition; known: KnownState | undefined; rest: readonly WordsAnswer[] },
): MutableTable {
  const { position, known, rest } = from;
  if (known === undefined) return emptyTable();
  if (!known.onlyTraded) return rereadTable(asked, plans.get(known) ?? { words: [], ticks: [] }, rest);
  const before = loaded.get(known.state);
  return before !== undefined && liquidityAgrees(before, position) ? before.table : emptyTable();
}

function rereadTable(
  { source, pool }: Pick<Loaded, "source" | "pool">,
  plan: Plan,
  answers: readonly WordsAnswer[],
): MutableTable {
  const table = emptyTable();
  for (const [index, tick] of plan.ticks.entries()) {
    const words = answers[plan.words.length + index];
    if (words !== undefined) noteTick(table, tick, source.readTick(words));
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

type CurveRead = Omit<Loaded, "position">;

/** Reads words and their ticks into the table. */
async function readWords(
  { source, pool, read, table }: CurveRead,
  positions: readonly number[],
  take?: TakeCalls,
): Promise<void> {
  take?.(positions.length);
  const fresh = await Promise.all(
    positions.map(async (position): Promise<[number, bigint]> => {
      const { to, data, words: count } = source.wordCall(pool, position);
      const words = await read(to, data, count);
      if (words === undefined) throw new UnansweredPoolError(`pool ${pool.address} did not answer for its tick bitmap`);
      return [position, words[0] ?? 0n];
    }),
  );
  const ticks = fresh
    .flatMap(([position, word]) => ticksIn(position, word, pool.tickSpacing))
    .filter((tick) => !table.nets.has(tick));
  take?.(ticks.length);
  await Promise.all(
    ticks.map(async (tick) => {
      const { to, data, words: count } = source.tickCall(pool, tick);
      const words = await read(to, data, count);
      if (words === undefined) throw new UnansweredPoolError(`pool ${pool.address} did not answer for tick ${tick}`);
      noteTick(table, tick, source.readTick(words));
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
async function prepareCurve(state: PoolState, take?: TakeCalls): Promise<void> {
  const behind = loaded.get(state);
  if (behind === undefined) return;
  const { pool, position, table } = behind;
  const { lowest, highest } = wordBounds(pool.tickSpacing);
  const from = wordOf(position.tick - FIRST_REACH_TICKS, pool.tickSpacing, true);
  const to = wordOf(position.tick + FIRST_REACH_TICKS, pool.tickSpacing, false);
  const missing = range(Math.max(from, lowest), Math.min(to, highest)).filter((word) => !table.words.has(word));
  if (missing.length > 0) await readWords(behind, missing, take);
}
