import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import type { UsdPrice } from "../../domain/money/price.ts";
import { MINUTE_MS } from "../../domain/time/durations.ts";

/** A price at an instant, Unix milliseconds. */
export interface PoolPrice {
  readonly atMs: number;
  readonly price: UsdPrice;
}

/** What a piece of blocks says of a pool. */
export interface PoolPiece {
  readonly swaps: number;
  /** of each minute those that make its candle, oldest first: a busy pool has thousands of swaps in an hour */
  readonly prices: readonly PoolPrice[];
}

/** A piece of all its swaps, oldest first. */
export function pieceOf(swaps: readonly PoolPrice[]): PoolPiece {
  const byMinute = Map.groupBy(swaps, ({ atMs }) => Math.floor(atMs / MINUTE_MS));
  return { swaps: swaps.length, prices: [...byMinute.values()].flatMap(candleMakers) };
}

/** The first and the last, the lowest and the highest. */
function candleMakers(minute: readonly PoolPrice[]): readonly PoolPrice[] {
  const [low, high] = minute.reduce<readonly (PoolPrice | undefined)[]>(
    ([least, most], one) => [
      least === undefined || one.price < least.price ? one : least,
      most === undefined || one.price > most.price ? one : most,
    ],
    [],
  );
  const makers = new Set([minute[0], low, high, minute.at(-1)]);
  return minute.filter((one) => makers.has(one));
}

/** Blocks are read in pieces whose bounds are multiples of this, so that what was read once serves any range. */
export const PIECE_BLOCKS = 2_000;

const lineSchema = z.object({
  from: z.number().int(),
  /** absent where all of them stand in the line */
  swaps: z.number().int().optional(),
  prices: z.array(z.tuple([z.number().int(), z.string().regex(/^[1-9][0-9]*$/)])),
});

/** What was read of a pool before, kept in a file: reading goes on where it was broken off. */
export interface PieceFile {
  known(fromBlock: number): PoolPiece | undefined;
  keep(fromBlock: number, piece: PoolPiece): void;
}

/** Opens the file; a line that was cut off by a kill, or is none of ours, counts as not read. */
export function openPieces(file: string): PieceFile {
  const pieces = new Map<number, PoolPiece>();
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  for (const line of text.split("\n")) {
    const read = lineSchema.safeParse(parsed(line));
    if (!read.success) continue;
    const prices = read.data.prices.map(([atMs, price]) => ({ atMs, price: BigInt(price) as UsdPrice }));
    const piece = pieceOf(prices);
    pieces.set(read.data.from, { ...piece, swaps: read.data.swaps ?? piece.swaps });
  }
  // What is appended to half a line would be lost with it.
  if (text !== "" && !text.endsWith("\n")) appendFileSync(file, "\n");
  return {
    known: (fromBlock) => pieces.get(fromBlock),
    keep: (fromBlock, { swaps, prices }) => {
      mkdirSync(dirname(file), { recursive: true });
      const line = { from: fromBlock, swaps, prices: prices.map(({ atMs, price }) => [atMs, price.toString()]) };
      appendFileSync(file, `${JSON.stringify(line)}\n`);
    },
  };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
