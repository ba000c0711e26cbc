import { describe, expect, test, vi } from "vitest";
import { RpcError } from "../../src/chain/json-rpc.ts";
import { createRpcPool, type RpcPool } from "../../src/chain/rpc-pool.ts";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import { Secret } from "../../src/net/secret.ts";
import { readBody, startHttpServer } from "../support/http-server.ts";

type Answer =
  | { readonly result: unknown }
  | { readonly error: { code: number; message: string }; readonly status?: number }
  | { readonly status: number; readonly page?: string; readonly retryAfter?: string };

/** A node that says one thing to every method but the chain id; what it says may be changed. */
async function startNode(first: Answer, chainId: unknown = "0x1") {
  const asked: string[] = [];
  const node = { asked, says: first, url: "" };
  const { url } = await startHttpServer(async (request, response) => {
    const { id, method } = JSON.parse(await readBody(request));
    const isChainId = method === "eth_chainId";
    if (!isChainId) asked.push(method);
    const answer: Answer = isChainId ? { result: chainId } : node.says;
    const { status = 200, page, retryAfter } = { status: undefined, page: undefined, retryAfter: undefined, ...answer };
    if (retryAfter !== undefined) response.setHeader("retry-after", retryAfter);
    const body = "result" in answer || "error" in answer ? JSON.stringify({ jsonrpc: "2.0", id, ...answer }) : page;
    response.writeHead(status).end(body);
  });
  return Object.assign(node, { url });
}

/** The wall clock of a pool that was just made. */
const START_MS = 1_700_000_000_000;

function poolOver(nodes: readonly { url: string }[]) {
  let nowMs = 0;
  const urls = nodes.map(({ url }) => new Secret(url));
  const clock = { monotonicMs: () => nowMs, nowMs: () => START_MS + nowMs };
  const pool = createRpcPool({ urls, chainId: 1, timeoutMs: 2_000, maxBytes: 100_000 }, clock);
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { pool, pass };
}

const GOOD: Answer = { result: "0x7" };
const MISSING: Answer = { error: { code: -32601, message: "the method does not exist/is not available" } };

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe("another endpoint is asked", () => {
  test.each<[string, "asked last" | "asked in its turn", Answer]>([
    ["the method is missing", "asked last", MISSING],
    ["the method is not on its plan", "asked last", { error: { code: -32600, message: "method not allowed" } }],
    ["the method is forbidden", "asked last", { status: 403, page: "forbidden" }],
    ["the method is not to be posted", "asked last", { status: 405 }],
    ["the method crashed", "asked last", { error: { code: -32603, message: "method handler crashed" } }],
    ["it refuses the request", "asked in its turn", { error: { code: -32000, message: "no" } }],
    ["it lacks the block", "asked in its turn", { error: { code: -32000, message: "header not found" } }],
    ["its gas does not suffice", "asked in its turn", { error: { code: -32000, message: "out of gas" } }],
    ["its day is used up", "asked last", { error: { code: -32005, message: "daily request count exceeded" } }],
    ["it wants to be paid", "asked last", { status: 402 }],
    ["it asks for patience", "asked last", { status: 429 }],
    ["it is broken", "asked last", { status: 502 }],
  ])("where %s, which is %s from then on", async (_why, standing, answer) => {
    const [weak, able] = [await startNode(answer), await startNode(GOOD)];
    const { pool } = poolOver([weak, able]);
    expect(await pool.read("eth_simulateV1", [])).toBe("0x7");
    expect(await pool.read("eth_simulateV1", [])).toBe("0x7");
    expect(weak.asked.length).toBe(standing === "asked last" ? 1 : 2);
    expect(await poolOver([able, weak]).pool.read("eth_simulateV1", [])).toBe("0x7");
  });

  test("and not where the call reverts: every node would say so", async () => {
    const [first, second] = [
      await startNode({ error: { code: 3, message: "execution reverted" } }),
      await startNode(GOOD),
    ];
    const error = await failureOf(poolOver([first, second]).pool.read("eth_call", []));
    expect(error).toBeInstanceOf(RpcError);
    expect(second.asked).toEqual([]);
  });
});

describe("where no endpoint has a result, the reason says which kind of trouble it is", () => {
  test.each<[ChainReadError["code"], Answer[]]>([
    ["not available", [MISSING]],
    ["not available", [MISSING, { status: 502 }]],
    ["refused", [{ error: { code: -32000, message: "no" } }]],
    ["refused", [MISSING, { error: { code: -32600, message: "up to a 10 block range" } }]],
    ["unreachable", [{ error: { code: -32000, message: "header not found" } }]],
    ["unreachable", [{ status: 502 }]],
    ["unreachable", [{ status: 402 }]],
    ["unreachable", [{ error: { code: -32005, message: "daily request count exceeded" } }]],
    ["unreachable", [{ error: { code: -32000, message: "no" } }, { status: 502 }]],
  ])("%s: %j", async (code, answers) => {
    const { pool } = poolOver(await Promise.all(answers.map((answer) => startNode(answer))));
    const error = await failureOf(pool.read("eth_simulateV1", []));
    expect(error).toBeInstanceOf(ChainReadError);
    expect((error as ChainReadError).code).toBe(code);
  });

  test("an answer larger than is read is refused, as one that a node does not give: less may do", async () => {
    const { pool } = poolOver([await startNode({ result: "0".repeat(100_001) })]);
    expect(await failureOf(pool.read("eth_getLogs", []))).toMatchObject({ code: "refused" });
    expect(pool.endpoints[0]?.rank()).toBe(0);
  });

  test("a call that uses up the gas of every endpoint failed by its own doing", async () => {
    const hungry: Answer = { error: { code: -32000, message: "out of gas" } };
    const { pool } = poolOver([await startNode(hungry), await startNode(hungry), await startNode({ status: 502 })]);
    expect(await failureOf(pool.read("eth_call", []))).toBeInstanceOf(RpcError);
  });
});

test("reads that begin together wait for one check of the chain's id, and then travel together", async () => {
  const sizes: number[] = [];
  const { url } = await startHttpServer(async (request, response) => {
    const body = JSON.parse(await readBody(request));
    const calls: { id: number; method: string }[] = [body].flat();
    sizes.push(calls.length);
    const answers = calls.map(({ id, method }) => ({
      ...{ jsonrpc: "2.0", id, result: method === "eth_chainId" ? "0x1" : "0x7" },
    }));
    response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
  });
  const { pool, pass } = poolOver([{ url }]);
  const read = () => Promise.all(Array.from({ length: 100 }, () => pool.read("eth_getBalance", [])));
  await read();
  pass(60_000);
  await read();
  pool.endpoints[0]?.doubtChain();
  await read();
  expect(sizes).toEqual([1, 25, 25, 25, 25, 1, 25, 25, 25, 25, 1, 25, 25, 25, 25]);
});

test("a chain that is doubted while its id is being read is read anew", async () => {
  let asked = 0;
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { url } = await startHttpServer(async (request, response) => {
    const { id, method } = JSON.parse(await readBody(request));
    if (method === "eth_chainId") asked += 1;
    if (method === "eth_chainId" && asked === 1) await held;
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: method === "eth_chainId" ? "0x1" : "0x7" }));
  });
  const { pool } = poolOver([{ url }]);
  const early = pool.read("eth_getBalance", []);
  await vi.waitFor(() => expect(asked).toBe(1));
  pool.endpoints[0]?.doubtChain();
  expect(await pool.read("eth_getBalance", [])).toBe("0x7");
  expect(asked).toBe(2);
  release();
  expect(await early).toBe("0x7");
});

describe("an endpoint whose calls are used up", () => {
  const EXHAUSTED: Answer = { error: { code: 402, message: "Payment Required" }, status: 402 };

  test("rests ever longer, at most ten minutes, and is used again as soon as it answers", async () => {
    const node = await startNode(EXHAUSTED);
    const { pool, pass } = poolOver([node]);
    const waits: number[] = [];
    let waitedMs = 0;
    for (let second = 0; second < 4_000; second++) {
      const before = node.asked.length;
      await failureOf(pool.read("eth_blockNumber", []));
      if (node.asked.length > before) {
        waits.push(waitedMs);
        waitedMs = 0;
      }
      pass(1_000);
      waitedMs += 1_000;
    }
    expect(waits.map((ms) => ms / 1_000)).toEqual([0, 15, 30, 60, 120, 240, 480, 600, 600, 600, 600, 600]);
    node.says = GOOD;
    pass(600_000);
    expect(await pool.read("eth_blockNumber", [])).toBe("0x7");
    node.says = EXHAUSTED;
    await failureOf(pool.read("eth_blockNumber", []));
    node.says = GOOD;
    pass(15_000);
    expect(await pool.read("eth_blockNumber", [])).toBe("0x7");
  });

  test("is not asked while another one answers, and says why while none does", async () => {
    const [spent, other] = [await startNode(EXHAUSTED), await startNode(GOOD)];
    const { pool } = poolOver([spent, other]);
    for (let time = 0; time < 5; time++) expect(await pool.read("eth_blockNumber", [])).toBe("0x7");
    expect(spent.asked.length).toBe(1);
    other.says = { status: 502 };
    expect(String(await failureOf(pool.read("eth_blockNumber", [])))).toMatch(/Payment Required.*asked again in 15 s/);
  });

  test("is sent transactions all the same: one node that takes them is enough", async () => {
    const node = await startNode(EXHAUSTED);
    const { pool } = poolOver([node]);
    await failureOf(pool.read("eth_blockNumber", []));
    node.says = GOOD;
    expect(await pool.sendToAll("eth_sendRawTransaction", ["0x"])).toEqual(["0x7"]);
  });
});

test.each<[string, Answer]>([
  ["is broken", { status: 502 }],
  ["asked for patience", { status: 429 }],
  ["has no calls left", { status: 402 }],
])(
  "no read waits for an endpoint that %s: it is looked at alongside them, and used again once that goes well",
  async (_why, answer) => {
    const [first, second] = [await startNode(answer), await startNode(GOOD)];
    const { pool, pass } = poolOver([first, second]);
    const readsOf = ({ asked }: { asked: readonly string[] }) => asked.filter((method) => method === "eth_call").length;
    for (let minute = 0; minute < 60; minute += 1) {
      expect(await pool.read("eth_call", [])).toBe("0x7");
      pass(60_000);
    }
    expect(readsOf(first)).toBe(1);
    expect(readsOf(second)).toBe(60);
    first.says = GOOD;
    pass(600_000);
    await vi.waitFor(async () => {
      await pool.read("eth_call", []);
      expect(readsOf(first)).toBeGreaterThan(1);
    });
    const before = readsOf(second);
    await pool.read("eth_call", []);
    expect(readsOf(second)).toBe(before);
  },
);

test("an endpoint that asks for patience is left alone for as long as it says, at most a minute", async () => {
  const node = await startNode({ status: 429, retryAfter: "7" });
  const { pool, pass } = poolOver([node]);
  await failureOf(pool.read("eth_blockNumber", []));
  pass(6_999);
  await failureOf(pool.read("eth_blockNumber", []));
  expect(node.asked.length).toBe(1);
  node.says = { status: 429, retryAfter: "86400" };
  pass(1);
  await failureOf(pool.read("eth_blockNumber", []));
  node.says = GOOD;
  pass(60_000);
  expect(await pool.read("eth_blockNumber", [])).toBe("0x7");
});

test("what an endpoint could not do is tried there again after ten minutes", async () => {
  const [weak, able] = [await startNode(MISSING), await startNode(GOOD)];
  const { pool, pass } = poolOver([weak, able]);
  await pool.read("eth_simulateV1", []);
  await pool.read("eth_simulateV1", []);
  expect(weak.asked.length).toBe(1);
  weak.says = GOOD;
  pass(600_000);
  await pool.read("eth_simulateV1", []);
  expect(weak.asked.length).toBe(2);
});

test.each<[unknown, string]>([
  [null, "unreachable"],
  ["", "unreachable"],
  [1, "unreachable"],
  ["0x5", "wrong chain"],
])("an endpoint that calls its chain %j is %s: only another chain is for a person", async (chainId, code) => {
  const { pool } = poolOver([await startNode(GOOD, chainId)]);
  expect(await failureOf(pool.read("eth_call", []))).toMatchObject({ name: "ChainReadError", code });
});

describe("an endpoint whose newest block is minutes old", () => {
  const headAt = (ms: number): Answer => ({ result: { timestamp: `0x${Math.floor(ms / 1_000).toString(16)}` } });
  const askForHead = (pool: RpcPool) => pool.read("eth_getBlockByNumber", ["latest", false]);

  test("is asked after the others until it has caught up, and nothing but its newest block is asked of it meanwhile", async () => {
    const [stuck, well] = [await startNode(headAt(START_MS)), await startNode(headAt(START_MS))];
    const { pool, pass } = poolOver([stuck, well]);
    const asks = async (): Promise<number> => {
      const before = stuck.asked.filter((method) => method === "eth_call").length;
      for (let times = 0; times < 3; times += 1) await pool.read("eth_call", []);
      return stuck.asked.filter((method) => method === "eth_call").length - before;
    };
    await askForHead(pool);
    expect(await asks()).toBe(3);
    pass(121_000);
    well.says = headAt(START_MS + 121_000);
    await askForHead(pool);
    for (let minute = 0; minute < 10; minute += 1) {
      expect(await asks()).toBe(0);
      pass(60_000);
      well.says = headAt(START_MS + 181_000 + minute * 60_000);
      await askForHead(pool);
    }
    stuck.says = headAt(START_MS + 721_000);
    pass(60_000);
    await askForHead(pool);
    await vi.waitFor(async () => expect(await asks()).toBe(3));
  });

  test("is asked like any other where all are, as by a clock of ours that is ahead", async () => {
    const [first, second] = [await startNode(headAt(START_MS - 600_000)), await startNode(headAt(START_MS - 600_000))];
    const { pool } = poolOver([first, second]);
    for (let times = 0; times < 3; times += 1) await askForHead(pool);
    await pool.read("eth_call", []);
    expect([first.asked.includes("eth_call") || second.asked.includes("eth_call")]).toEqual([true]);
  });
});
