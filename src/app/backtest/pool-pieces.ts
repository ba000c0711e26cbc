import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import type { UsdPrice } from "../../domain/money/price.ts";

/** A price at an instant, Unix milliseconds. */
export interface PoolPrice {
  readonly atMs: number;
  readonly price: UsdPrice;
}

/** Blocks are read in pieces whose bounds are multiples of this, so that what was read once serves any range. */
export const PIECE_BLOCKS = 2_000;

const lineSchema = z.object({
  from: z.number().int(),
  prices: z.array(z.tuple([z.number().int(), z.string().regex(/^[1-9][0-9]*$/)])),
});

/** What was read of a pool before, kept in a file: reading goes on where it was broken off. */
export interface PieceFile {
  known(fromBlock: number): readonly PoolPrice[] | undefined;
  keep(fromBlock: number, prices: readonly PoolPrice[]): void;
}

/** Opens the file; a line that was cut off by a kill, or is none of ours, counts as not read. */
export function openPieces(file: string): PieceFile {
  const pieces = new Map<number, readonly PoolPrice[]>();
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  for (const line of text.split("\n")) {
    const read = lineSchema.safeParse(parsed(line));
    if (!read.success) continue;
    const prices = read.data.prices.map(([atMs, price]) => ({ atMs, price: BigInt(price) as UsdPrice }));
    pieces.set(read.data.from, prices);
  }
  // What is appended to half a line would be lost with it.
  if (text !== "" && !text.endsWith("\n")) appendFileSync(file, "\n");
  return {
    known: (fromBlock) => pieces.get(fromBlock),
    keep: (fromBlock, prices) => {
      mkdirSync(dirname(file), { recursive: true });
      const line = { from: fromBlock, prices: prices.map(({ atMs, price }) => [atMs, price.toString()]) };
      appendFileSync(file, `${JSON.stringify(line)}\n`);
      pieces.set(fromBlock, prices);
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
