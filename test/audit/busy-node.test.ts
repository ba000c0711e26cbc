import { expect, test } from "vitest";
import { createChainReader } from "../../src/audit/chain-reader.ts";
import { readBody, startHttpServer } from "../support/http-server.ts";

// Endpoints of plans: so many calls a second, so many in a batch, so many blocks of logs at once.

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly [string | { readonly fromBlock: string; readonly toBlock: string }, unknown];
}

const HASH = `0x${"b1".repeat(32)}`;
const blockOf = ({ id, params: [number] }: Call) => ({
  ...{ jsonrpc: "2.0", id },
  result: { number, hash: HASH, timestamp: number },
});
const refused = (code: number, message: string) => ({ jsonrpc: "2.0", id: null, error: { code, message } });

type Said = readonly [status: number, body: unknown];

async function readerOf(answer: (calls: readonly Call[]) => Said) {
  const { url } = await startHttpServer(async (request, response) => {
    const [status, body] = answer(JSON.parse(await readBody(request)) as Call[]);
    response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
  });
  return createChainReader(url, undefined);
}

/** Counts each call of a batch, as plans do. */
function plan(mostInWindow: number, windowMs: number): (calls: readonly Call[]) => boolean {
  let [window, count] = [0, 0];
  return ({ length }) => {
    const now = Math.floor(performance.now() / windowMs);
    if (now !== window) [window, count] = [now, 0];
    count += length;
    return count > mostInWindow;
  };
}

const NUMBERS = Array.from({ length: 60 }, (_, index) => index + 1);
const TIMES = new Map(NUMBERS.map((number) => [number, number]));

const MOST = 20;
const BUSY = "Your app has exceeded its compute units per second capacity";

test.each<[string, (calls: readonly Call[]) => Said]>([
  ["all that is sent by HTTP 429", () => [429, refused(429, BUSY)]],
  ["all of a batch by errors of its calls", (calls) => [200, calls.map(({ id }) => ({ ...refused(429, BUSY), id }))]],
  ["all that is sent without JSON", () => [429, "Too Many Requests"]],
])("a node that counts calls, and refuses %s, is asked for fewer and waited for", async (_what, refuse) => {
  const isBusy = plan(MOST, 250);
  const reader = await readerOf((calls) => (isBusy(calls) ? refuse(calls) : [200, calls.map(blockOf)]));
  expect(await reader.blockTimes(NUMBERS)).toEqual(TIMES);
});

test("a node that takes small batches alone gets small ones", async () => {
  const reader = await readerOf((calls) =>
    calls.length > 3 ? [200, refused(-32_600, "batch of more than 3 requests")] : [200, calls.map(blockOf)],
  );
  expect(await reader.blockTimes(NUMBERS)).toEqual(TIMES);
});

test.each([
  [413, "<html>Request Entity Too Large</html>"],
  [413, JSON.stringify(refused(-32_614, "eth_getLogs is limited to 5 blocks"))],
])("a node that answers %d to a range of logs is asked for a shorter one", async (status, body) => {
  const asked: number[] = [];
  const reader = await readerOf((calls) => {
    const [range] = calls[0]?.params ?? [];
    if (typeof range !== "object") return [500, ""];
    const length = Number(range.toBlock) - Number(range.fromBlock) + 1;
    if (length > 5) return [status, body];
    asked.push(length);
    return [200, calls.map(({ id }) => ({ jsonrpc: "2.0", id, result: [] }))];
  });
  expect(await reader.logs([{ address: [], topics: [] }], { from: 1, to: 12 }, () => undefined)).toEqual([]);
  expect(asked.reduce((sum, length) => sum + length, 0)).toBe(12);
});
