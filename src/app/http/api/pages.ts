import { setImmediate } from "node:timers/promises";
import type { RunHistory } from "../../../ports/history.ts";
import type { FillPlace, ListedFill, Listing, RunPlace } from "../../../ports/listing.ts";
import { ApiProblem } from "./problem.ts";

/** So many are read before the daemon has its turn again: those that are archived are unpacked one by one. */
const AT_ONCE = 25;

/** Reads a page in parts, so that nothing else waits for it. */
async function inParts<Item, Place>(
  limit: number,
  start: Place | undefined,
  read: (before: Place | undefined, limit: number) => Promise<readonly Item[]>,
  placeOf: (item: Item) => Place,
): Promise<readonly Item[]> {
  const all: Item[] = [];
  let before = start;
  while (all.length < limit) {
    const wanted = Math.min(AT_ONCE, limit - all.length);
    const part = await read(before, wanted);
    all.push(...part);
    const last = part.at(-1);
    if (last === undefined || part.length < wanted) break;
    before = placeOf(last);
    await setImmediate();
  }
  return all;
}

/** A page of runs; one more than is shown says whether there is another page. */
export async function readRuns(
  listing: Pick<Listing, "runs">,
  asked: { readonly strategy: string | undefined; readonly before: string | undefined; readonly limit: number },
): Promise<{ readonly items: readonly RunHistory[]; readonly next: string | null }> {
  const { strategy, limit } = asked;
  const start = asked.before === undefined ? undefined : runPlace(asked.before);
  const read = (before: RunPlace | undefined, most: number) => listing.runs({ strategy, before, limit: most });
  const rows = await inParts(limit + 1, start, read, ({ slotMs, id }) => ({ slotMs, id }));
  return pageOf(rows, limit, ({ slotMs, id }) => `${slotMs}.${id}`);
}

/** A page of fills. */
export async function readFills(
  listing: Pick<Listing, "fills">,
  asked: {
    readonly strategy?: string | undefined;
    readonly sinceMs?: number | undefined;
    readonly before?: string | undefined;
    readonly limit: number;
  },
): Promise<{ readonly items: readonly ListedFill[]; readonly next: string | null }> {
  const { strategy, sinceMs, limit } = asked;
  const start = asked.before === undefined ? undefined : fillPlace(asked.before);
  const read = (before: FillPlace | undefined, most: number) =>
    listing.fills({ strategy, sinceMs, before, limit: most });
  const rows = await inParts(limit + 1, start, read, ({ block, swap: { id } }) => ({ block, id }));
  return pageOf(rows, limit, ({ block, swap: { id } }) => `${block}.${id}`);
}

/** So many rows of what was read, and the cursor behind the last of them where there are more. */
export function pageOf<Item>(
  rows: readonly Item[],
  limit: number,
  cursorOf: (item: Item) => string,
): { readonly items: readonly Item[]; readonly next: string | null } {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: last === undefined || rows.length <= limit ? null : cursorOf(last) };
}

/** A cursor that is a number. @throws ApiProblem */
export function numberCursor(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw badCursor(text);
  return Number(text);
}

function runPlace(text: string): RunPlace {
  const [, slotMs, id] = /^(\d{1,15})\.(\w{1,64})$/.exec(text) ?? [];
  if (slotMs === undefined || id === undefined) throw badCursor(text);
  return { slotMs: Number(slotMs), id };
}

function fillPlace(text: string): FillPlace {
  const [, block, id] = /^(\d{1,15})\.([\w.]{1,80})$/.exec(text) ?? [];
  if (block === undefined || id === undefined) throw badCursor(text);
  return { block: Number(block), id };
}

function badCursor(text: string): ApiProblem {
  return new ApiProblem("REQUEST_MALFORMED", `before: ${JSON.stringify(text)} is no cursor; take the next of a page`);
}
