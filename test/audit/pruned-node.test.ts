import { expect, test } from "vitest";
import { createChainReader } from "../../src/audit/chain-reader.ts";
import { findStart } from "../../src/audit/since.ts";
import { readBody, startHttpServer } from "../support/http-server.ts";

// A node of a long chain that keeps its newest blocks alone.

interface Call {
  readonly id: number;
  readonly params: readonly [string, boolean];
}

const NEWEST = 25_000_000;
const FIRST_SECONDS = 1_450_000_000;
const BLOCK_SECONDS = 12;
const DAY = 86_400;
const timeOf = (block: number): number => FIRST_SECONDS + block * BLOCK_SECONDS;
const quantity = (value: number): string => `0x${value.toString(16)}`;

const REFUSED = { error: { code: 4_444, message: "pruned history unavailable" } };
const NOTHING = { result: null };

async function readerOf(oldest: number, said: object = NOTHING) {
  const asked: number[] = [];
  const { url } = await startHttpServer(async (request, response) => {
    const calls = JSON.parse(await readBody(request)) as Call[];
    const answers = calls.map(({ id, params: [name] }) => {
      const number = name === "latest" ? NEWEST : Number(name);
      asked.push(number);
      const block = { number: quantity(number), hash: `0x${"b1".repeat(32)}`, timestamp: quantity(timeOf(number)) };
      return { jsonrpc: "2.0", id, ...(number < oldest || number > NEWEST ? said : { result: block }) };
    });
    response.writeHead(200).end(JSON.stringify(answers));
  });
  const chain = createChainReader(url, undefined);
  return { chain, asked, tip: await chain.tip() };
}

const WEEK_AGO = timeOf(NEWEST) - 7 * DAY;
const LAST_BEFORE = NEWEST - (7 * DAY) / BLOCK_SECONDS - 1;

test.each([
  ["a year", NEWEST - (365 * DAY) / BLOCK_SECONDS, REFUSED],
  ["a year", NEWEST - (365 * DAY) / BLOCK_SECONDS, NOTHING],
  ["eight days", NEWEST - (8 * DAY) / BLOCK_SECONDS, REFUSED],
  ["no block more", LAST_BEFORE, NOTHING],
])("a week ago is found at a node that keeps the blocks of %s (%#)", async (_kept, oldest, said) => {
  const { chain, tip } = await readerOf(oldest, said);
  expect(await findStart(chain, { seconds: WEEK_AGO }, tip)).toEqual({
    block: LAST_BEFORE,
    seconds: timeOf(LAST_BEFORE),
  });
});

test("what is young is sought among young blocks: old ones are far away, or kept no more", async () => {
  const { chain, asked, tip } = await readerOf(0);
  await findStart(chain, { seconds: WEEK_AGO }, tip);
  expect(Math.min(...asked)).toBeGreaterThan(NEWEST - (15 * DAY) / BLOCK_SECONDS);
});

test.each([
  ["the newest block's time", timeOf(NEWEST), NEWEST - 1],
  ["a moment between two blocks", timeOf(1_000) + 1, 1_000],
  ["the second block's time", timeOf(1), 0],
  ["a time before the chain", 1, 0],
])("%s is found where all blocks are kept", async (_when, seconds, block) => {
  const { chain, tip } = await readerOf(0);
  expect(await findStart(chain, { seconds }, tip)).toEqual({ block, seconds: timeOf(block) });
});

test.each([
  ["refuses", REFUSED],
  ["answers nothing", NOTHING],
])("a time of before what a node keeps, for which it %s, is refused with where it could begin", async (_how, said) => {
  const oldest = NEWEST - (6 * DAY) / BLOCK_SECONDS;
  const { chain, tip } = await readerOf(oldest, said);
  await expect(findStart(chain, { seconds: WEEK_AGO }, tip)).rejects.toMatchObject({
    code: "CHAIN_UNREADABLE",
    message: `The node does not give block ${oldest - 1}, which should be the last one before ${new Date(WEEK_AGO * 1_000).toISOString()}: begin later by \`--since ${oldest + 1}\`, or name an endpoint that keeps old blocks.`,
  });
  await expect(findStart(chain, { block: oldest + 1 }, tip)).resolves.toMatchObject({ block: oldest });
});
