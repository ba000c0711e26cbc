import { expect, test } from "vitest";
import { createCrowdedReads } from "../../src/chain/crowded-reads.ts";
import { createJsonRpc, RpcError } from "../../src/chain/json-rpc.ts";
import { readBody, startHttpServer } from "../support/http-server.ts";

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** An endpoint that answers each call with its own parameters, and the calls of each HTTP request that it got. */
async function startEcho(answerBatch: (calls: readonly Call[]) => unknown = (calls) => calls.map(echo)) {
  const requests: (readonly string[])[] = [];
  const { url } = await startHttpServer(async (request, response) => {
    const body: Call | readonly Call[] = JSON.parse(await readBody(request));
    const calls = Array.isArray(body) ? (body as readonly Call[]) : [body as Call];
    requests.push(calls.map(({ method }) => method));
    response.end(JSON.stringify(Array.isArray(body) ? answerBatch(calls) : echo(body as Call)));
  });
  let nowMs = 0;
  const rpc = createJsonRpc({ url, timeoutMs: 5_000, maxBytes: 1_000_000 });
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { ask: createCrowdedReads(rpc, () => nowMs), requests, pass };
}

function echo({ id, method, params }: Call): object {
  if (params[0] === "bad") return { jsonrpc: "2.0", id, error: { code: -32_000, message: `bad ${method}` } };
  return { jsonrpc: "2.0", id, result: params };
}

const crowd = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);
const sizes = (requests: readonly (readonly string[])[]): number[] => requests.map(({ length }) => length);

test("reads of a crowd travel together, in batches that a provider takes, and each gets its own answer", async () => {
  const { ask, requests } = await startEcho((calls) => calls.map(echo).reverse());
  const answers = await Promise.all(crowd(60).map((index) => ask("eth_call", [index])));
  expect(answers).toEqual(crowd(60).map((index) => [index]));
  expect(sizes(requests).sort()).toEqual([10, 25, 25]);
});

test("the codes of hundreds of wallets travel together as well", async () => {
  const { ask, requests } = await startEcho();
  await Promise.all(crowd(250).map((index) => ask("eth_getCode", [index])));
  expect(sizes(requests)).toEqual(Array(10).fill(25));
});

test("a few reads go by themselves: no slow one holds up another", async () => {
  const { ask, requests } = await startEcho();
  await Promise.all(crowd(7).map((index) => ask("eth_getLogs", [index])));
  expect(sizes(requests)).toEqual([1, 1, 1, 1, 1, 1, 1]);
});

test("a transaction and a simulation never travel with others", async () => {
  const { ask, requests } = await startEcho();
  const alone = ["eth_sendRawTransaction", "eth_simulateV1", "eth_chainId"];
  const lent = ask("eth_call", ["call", "latest", { account: { code: "0x" } }]);
  await Promise.all([
    ...crowd(9).map((index) => ask("eth_call", [index])),
    ...alone.map((name) => ask(name, [])),
    lent,
  ]);
  expect(sizes(requests).sort()).toEqual([1, 1, 1, 1, 9]);
});

test("an error in a batch is asked alone, and is an answer only then", async () => {
  const { ask, requests } = await startEcho();
  const asked = crowd(9).map((index) => ask("eth_call", [index === 4 ? "bad" : index]));
  const answers = await Promise.allSettled(asked);
  expect(answers.map(({ status }) => status)).toEqual(
    crowd(9).map((index) => (index === 4 ? "rejected" : "fulfilled")),
  );
  expect(sizes(requests)).toEqual([9, 1]);
  await expect(asked[4]).rejects.toBeInstanceOf(RpcError);
});

test.each([
  [
    "refuses batches",
    () => ({ jsonrpc: "2.0", id: null, error: { code: -32_600, message: "batches are not allowed" } }),
  ],
  [
    "answers each call of a batch with an error",
    (calls: readonly Call[]) => calls.map((call) => echo({ ...call, params: ["bad"] })),
  ],
  ["forgets a call of a batch", (calls: readonly Call[]) => calls.slice(1).map(echo)],
] as const)("an endpoint that %s is asked for everything alone, and is not tried again soon", async (_what, answer) => {
  const { ask, requests, pass } = await startEcho(answer);
  const askAll = async (): Promise<void> => {
    expect(await Promise.all(crowd(9).map((index) => ask("eth_call", [index])))).toEqual(
      crowd(9).map((index) => [index]),
    );
  };
  await askAll();
  await askAll();
  expect(sizes(requests)).toEqual([9, ...Array(18).fill(1)]);
  pass(600_001);
  await askAll();
  expect(sizes(requests).slice(19)).toEqual([9, ...Array(9).fill(1)]);
});

test("an endpoint whose answer to each call is that the contract refused takes batches, and gets the next one", async () => {
  const refused = { code: 3, message: "execution reverted" };
  const { ask, requests } = await startEcho((calls) => calls.map(({ id }) => ({ jsonrpc: "2.0", id, error: refused })));
  await Promise.all(crowd(9).map((index) => ask("eth_call", [index])));
  await Promise.all(crowd(9).map((index) => ask("eth_call", [index])));
  expect(sizes(requests)).toEqual([9, ...Array(9).fill(1), 9, ...Array(9).fill(1)]);
});

test("what an endpoint asks patience for in a batch is not asked again at once", async () => {
  const busy = { code: 429, message: "too many requests" };
  const { ask, requests } = await startEcho((calls) =>
    calls.map((call, index) => (index < 5 ? { jsonrpc: "2.0", id: call.id, error: busy } : echo(call))),
  );
  const answers = await Promise.allSettled(crowd(9).map((index) => ask("eth_call", [index])));
  expect(answers.map(({ status }) => status)).toEqual([...Array(5).fill("rejected"), ...Array(4).fill("fulfilled")]);
  expect(sizes(requests)).toEqual([9]);
});
