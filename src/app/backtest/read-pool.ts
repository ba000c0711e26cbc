import { join } from "node:path";
import type { Configuration } from "../../config/configuration.ts";
import type { Candle } from "../../domain/backtest/candles.ts";
import { ChainReadError } from "../../domain/chain-read-error.ts";
import { type Address, type Hex, parseAddress } from "../../domain/money/address.ts";
import type { UsdPrice } from "../../domain/money/price.ts";
import type { Token } from "../../domain/money/token.ts";
import { DAY_MS } from "../../domain/time/durations.ts";
import type { Chain } from "../../ports/chain.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { formatInstant } from "../terminal.ts";
import { priceAfter } from "./pool-events.ts";
import { openPieces, PIECE_BLOCKS, type PoolPiece, type PoolPrice, pieceOf } from "./pool-pieces.ts";
import type { ReadySeries } from "./price-files.ts";

/** What is to be read of a pool. */
export interface PoolQuestion {
  readonly pool: string;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly stepMs: number;
  /** where what was read is kept */
  readonly folder: string;
  /** hears how far it is, from 0 to 1 */
  progress?(share: number): void;
}

type Reads = Pick<Chain, "finalized" | "block" | "call" | "logs">;

const TOKENS: readonly Hex[] = ["0x0dfe1681", "0xd21220a7"];
/** stable() of Solidly and its likes; other pools have no such function. */
const STABLE: Hex = "0x22be3de1";

/**
 * Reads the prices of a pool from the events of its swaps, as the user's own node serves them, up to the finalised block.
 * What was read is kept, so that a second call, and one after a kill, asks for what is new alone.
 * @throws CommandFailure where the address is no pool of configured tokens, or the node does not serve the range
 */
export async function readPool(chain: Reads, configuration: Configuration, asked: PoolQuestion): Promise<ReadySeries> {
  const pool = parseAddress(asked.pool);
  if (pool === undefined) throw new CommandFailure(EXIT.usage, `--from-pool ${asked.pool}: write the pool's address`);
  try {
    return await read(chain, configuration, { ...asked, pool });
  } catch (error) {
    if (!(error instanceof ChainReadError)) throw error;
    throw new CommandFailure(
      EXIT.tryAgain,
      `the pool could not be read to its end: ${error.message}; what was read is kept, so the same command goes on from there (old blocks need a node that keeps their logs)`,
    );
  }
}

async function read(
  chain: Reads,
  configuration: Configuration,
  { pool, fromMs, untilMs, stepMs, folder, progress }: PoolQuestion & { readonly pool: Address },
): Promise<ReadySeries> {
  const [first, second] = await tokensOf(chain, configuration, pool);
  await refuseStable(chain, pool);
  const last = await chain.finalized();
  if (last.timestamp * 1_000 <= fromMs)
    throw new CommandFailure(
      EXIT.usage,
      `the newest final block is of ${formatInstant(last.timestamp * 1_000)}, before --from`,
    );
  const firstBlock = await blockAt(chain, fromMs, last.number);
  const lastBlock = untilMs >= last.timestamp * 1_000 ? last.number : await blockAt(chain, untilMs, last.number);
  // Prices are kept in whole tokens: those of other decimals are others.
  const decimals = `${first.decimals}-${second.decimals}`;
  const file = join(folder, `${configuration.network.chainId}-${pool}-${decimals}.jsonl`);
  const pieces = openPieces(file);
  const prices: PoolPrice[] = [];
  let swaps = 0;
  for (let from = firstBlock - (firstBlock % PIECE_BLOCKS); from <= lastBlock; from += PIECE_BLOCKS) {
    const to = Math.min(from + PIECE_BLOCKS - 1, last.number);
    const known = pieces.known(from);
    const found = known ?? (await readPiece(chain, { pool, from, to, first, second }));
    // A node that keeps no logs of old blocks may answer that there are none: only an older swap shows that it has these.
    const isWhole = to === from + PIECE_BLOCKS - 1 && swaps > 0;
    if (known === undefined && isWhole) pieces.keep(from, found);
    prices.push(...found.prices);
    swaps += found.swaps;
    progress?.((to - firstBlock) / Math.max(1, lastBlock - firstBlock));
  }
  const candles = candlesOf(prices, { fromMs, untilMs: Math.min(untilMs, last.timestamp * 1_000), stepMs });
  if (candles.length < 2)
    throw new CommandFailure(
      EXIT.no,
      `the pool ${pool} had no event that says a price in blocks ${firstBlock} to ${lastBlock}: is it the right one, and of a kind that is read (docs/BACKTEST.md)?`,
    );
  const range = `pool ${pool}: ${swaps} swaps of blocks ${firstBlock} to ${lastBlock}; times of blocks are interpolated within ${PIECE_BLOCKS} of them; read pieces are kept in ${file}`;
  const notes = [range, ...lateStart(candles, { fromMs, stepMs })];
  return oriented({ first, second, candles, stepMs, notes }, configuration);
}

/** A pool that is younger than what was asked for looks like one whose old logs the node does not keep. */
function lateStart(
  [first]: readonly Candle[],
  { fromMs, stepMs }: { readonly fromMs: number; readonly stepMs: number },
): readonly string[] {
  if (first === undefined || first.atMs - fromMs < DAY_MS + stepMs) return [];
  return [
    `no swap before ${formatInstant(first.atMs)}: the pool is younger than --from, or the node keeps no logs of older blocks`,
  ];
}

async function tokensOf(chain: Reads, { tokens }: Configuration, pool: Address): Promise<readonly [Token, Token]> {
  const known = [...tokens.values()].map(({ token }) => token);
  const found: Token[] = [];
  for (const data of TOKENS) {
    const answer = await chain.call({ to: pool, data });
    const address = answer?.length === 66 ? parseAddress(`0x${answer.slice(26)}`) : undefined;
    if (address === undefined)
      throw new CommandFailure(EXIT.no, `${pool} is no pool of two tokens: it does not say which ones they are`);
    const token = known.find((one) => one.address === address);
    if (token === undefined)
      throw new CommandFailure(
        EXIT.no,
        `the pool ${pool} trades ${address}, which is no token of the configuration: add it there`,
      );
    found.push(token);
  }
  const [first, second] = found;
  if (first === undefined || second === undefined) throw new Error("a pool has two tokens");
  return [first, second];
}

/** What a stable pool holds of both is no price: its curve is another one. */
async function refuseStable(chain: Reads, pool: Address): Promise<void> {
  const answer = await chain.call({ to: pool, data: STABLE });
  if (answer === undefined || answer.length !== 66 || BigInt(answer) !== 1n) return;
  throw new CommandFailure(
    EXIT.no,
    `the pool ${pool} is a stable one, whose events say no price: name another pool of these tokens, or a file with --prices`,
  );
}

/** The first block that is not before an instant. */
async function blockAt(chain: Reads, atMs: number, newest: number): Promise<number> {
  let [low, high] = [0, newest];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await timeOf(chain, middle)) < atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

async function timeOf(chain: Reads, number: number): Promise<number> {
  const head = await chain.block(number);
  if (head === undefined) throw new ChainReadError("refused", `the node has no block ${number}`);
  return head.timestamp * 1_000;
}

interface Piece {
  readonly pool: Address;
  readonly from: number;
  readonly to: number;
  readonly first: Token;
  readonly second: Token;
}

/** A block's time lies between those of its piece's ends, as blocks come at a steady pace. */
async function readPiece(chain: Reads, { pool, from, to, first, second }: Piece): Promise<PoolPiece> {
  const [fromMs, toMs] = [await timeOf(chain, from), await timeOf(chain, to)];
  const logs = await chain.logs({ address: pool, topics: [], fromBlock: from, toBlock: to });
  const paceMs = to === from ? 0 : (toMs - fromMs) / (to - from);
  const decimals = { first: first.decimals, second: second.decimals };
  const swaps = logs.flatMap((log) => {
    const price = priceAfter(log, decimals);
    return price === undefined ? [] : [{ atMs: Math.round(fromMs + (log.blockNumber - from) * paceMs), price }];
  });
  return pieceOf(swaps);
}

/** A pool has a price between its swaps too: where there was none, the last one stands. Before the first one it has none. */
function candlesOf(
  prices: readonly PoolPrice[],
  { fromMs, untilMs, stepMs }: { readonly fromMs: number; readonly untilMs: number; readonly stepMs: number },
): readonly Candle[] {
  const candles: Candle[] = [];
  let next = 0;
  let close: UsdPrice | undefined;
  for (let atMs = Math.ceil(fromMs / stepMs) * stepMs; atMs + stepMs <= untilMs; atMs += stepMs) {
    const inside: UsdPrice[] = close === undefined ? [] : [close];
    const isKnown = close !== undefined || (prices[next]?.atMs ?? untilMs) <= atMs;
    for (let one = prices[next]; one !== undefined && one.atMs < atMs + stepMs; one = prices[next]) {
      if (one.atMs < atMs) inside.length = 0;
      inside.push(one.price);
      next += 1;
    }
    const [open] = inside;
    close = inside.at(-1);
    if (!isKnown || open === undefined || close === undefined) continue;
    const [low, high] = inside.reduce(
      ([least, most], price) => [price < least ? price : least, price > most ? price : most],
      [open, open],
    );
    candles.push({ atMs, open, high, low, close });
  }
  return candles;
}

/** Priced in the token that should be worth a dollar, where one of them should. */
function oriented(
  pool: { readonly first: Token; readonly second: Token; readonly notes: readonly string[] } & Pick<
    ReadySeries["read"],
    "candles" | "stepMs"
  >,
  { tokens }: Configuration,
): ReadySeries {
  const { first, second, candles, stepMs, notes } = pool;
  const isMoney = (token: Token): boolean =>
    [...tokens.values()].some((one) => one.token.address === token.address && one.peg === "USD");
  if (isMoney(second) || !isMoney(first)) return { base: first, quote: second, read: { candles, stepMs, notes } };
  const turned = (price: UsdPrice): UsdPrice => (10n ** 36n / price) as UsdPrice;
  const inverse = candles.map(({ atMs, open, high, low, close }) => {
    return { atMs, open: turned(open), high: turned(low), low: turned(high), close: turned(close) };
  });
  return { base: second, quote: first, read: { candles: inverse, stepMs, notes } };
}
