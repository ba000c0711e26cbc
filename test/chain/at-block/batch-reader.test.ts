import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBatchReader } from "../../../src/chain/at-block/batch-reader.ts";
import { createBlockReads } from "../../../src/chain/at-block/block-reads.ts";
import { type BlockHeader, parseBlock } from "../../../src/chain/at-block/head.ts";
import { callData, intWord } from "../../../src/chain/at-block/words.ts";
import { createJsonRpc, type JsonRpc, RpcError } from "../../../src/chain/json-rpc.ts";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import { MULTICALL3 } from "../../../src/networks/network.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import { SELECTOR } from "../../../src/service/pools/selectors.ts";
import { startTestChain, type TestChain } from "../../service/support/chain.ts";

import { multicall3Code } from "../../service/support/multicall3.ts";

let chain: TestChain;
let token: Address;
const nobody = toAddress("0x00000000000000000000000000000000000000ee");

beforeAll(async () => {
  chain = await startTestChain();
  token = await chain.deploy(loadContract("PermitToken"), ["Token", "TKN", 6]);
  await chain.rpc.call("anvil_setCode", [MULTICALL3, multicall3Code()]);
});

afterAll(() => chain?.stop());

test("reads of contracts that nobody vouches for travel alone, and what they break is nobody else's", async () => {
  const [honest, stranger, other] = ["a", "b", "c"].map((digit) => toAddress(`0x${digit.repeat(40)}`));
  const sent: { to: string; calls: number; gas: number | undefined }[] = [];
  const read = createBatchReader(
    async (calls, gas) => {
      const to = [...new Set(calls.map((call) => call.to))].join();
      sent.push({ to, calls: calls.length, gas });
      if (to === stranger) throw new RpcError({ kind: "rpc", host: "node", message: "EVM error MemoryOOG" });
      return calls.map(() => [1n]);
    },
    (contract) => contract === honest,
  );
  const answers = await Promise.allSettled(
    [honest, stranger, honest, other, stranger].map((contract) => read(contract!, "0x", 1)),
  );
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled", "rejected"]);
  expect(sent).toEqual([
    { to: honest, calls: 2, gas: undefined },
    { to: stranger, calls: 2, gas: 300_000 },
    { to: other, calls: 1, gas: 300_000 },
  ]);
});

test("a stranger's contract that uses all gas it gets, gets little", async () => {
  // Writes memory until the gas is gone.
  const burner = await chain.send({ data: "0x600a600c600039600a6000f35b60016020595201600056fe" });
  const gas: string[] = [];
  const rpc = {
    ...chain.rpc,
    batch: async (requests: Parameters<typeof chain.rpc.batch>[0]) => {
      gas.push(...requests.flatMap(({ params }) => (params as [{ gas?: string }])[0].gas ?? []));
      return await chain.rpc.batch(requests);
    },
  };
  const { read } = createBlockReads({ rpc, isKnown: (contract) => contract === token }).at(await newestBlock());
  const answers = await Promise.all([read(token, SELECTOR.decimals, 1), read(burner!, SELECTOR.decimals, 1)]);
  expect(answers).toEqual([[6n], undefined]);
  expect(gas.length).toBeGreaterThan(0);
  for (const limit of gas) expect(Number(limit)).toBeLessThanOrEqual(400_000);
});

describe.each(["override", "multicall", "plain"] as const)("reads in mode %s", (mode) => {
  test("report good answers, reverts, short answers and missing contracts apart, in any mixture", async () => {
    const { read } = createBlockReads({ rpc: chain.rpc, mode }).at(await newestBlock());
    const answers = await Promise.all([
      read(token, SELECTOR.decimals, 1),
      read(token, "0xdeadbeef", 1),
      read(nobody, SELECTOR.decimals, 1),
      read(token, SELECTOR.decimals, 2),
      read(token, callData("0x70a08231", intWord(0xee)), 1),
      read(nobody, SELECTOR.decimals, 0),
      read(token, SELECTOR.decimals, 1),
    ]);
    expect(answers).toEqual([[6n], undefined, undefined, undefined, [0n], [], [6n]]);
  });

  test("travel together in one request, and in several where one would be too large", async () => {
    let requests = 0;
    const counting = {
      ...chain.rpc,
      call: (...values: Parameters<typeof chain.rpc.call>) => {
        requests += 1;
        return chain.rpc.call(...values);
      },
      batch: (...values: Parameters<typeof chain.rpc.batch>) => {
        requests += 1;
        return chain.rpc.batch(...values);
      },
    };
    const { read, readAll } = createBlockReads({ rpc: counting, mode }).at(await newestBlock());
    // The first read finds out what the node can do.
    await read(token, SELECTOR.decimals, 1);
    requests = 0;
    const few = Array.from({ length: 300 }, () => read(token, SELECTOR.decimals, 1));
    expect(new Set((await Promise.all(few)).map(String))).toEqual(new Set(["6"]));
    expect(requests).toBe(1);
    const many = await readAll(Array.from({ length: 2_100 }, () => ({ to: token, data: SELECTOR.decimals, words: 1 })));
    expect(many).toHaveLength(2_100);
    expect(new Set(many.map(String))).toEqual(new Set(["6"]));
    expect(requests).toBe(mode === "plain" ? 7 : 2);
  });

  test("of a node that does not answer fail, instead of looking like missing contracts", async () => {
    const rpc = createJsonRpc({ url: "http://127.0.0.1:9", timeoutMs: 500, maxBytes: 1_000 });
    const { read } = createBlockReads({ rpc, mode }).at(await newestBlock());
    await expect(read(token, SELECTOR.decimals, 1)).rejects.toThrow(RpcError);
  });

  test("of a block that is gone, or that never was, fail", async () => {
    const block = { ...(await newestBlock()), hash: `0x${"12".repeat(32)}` as const };
    const { read } = createBlockReads({ rpc: chain.rpc, mode }).at(block);
    await expect(read(token, SELECTOR.decimals, 1)).rejects.toThrow(RpcError);
  });
});

function refusal(): RpcError {
  return new RpcError({ kind: "rpc", host: "node", message: "too many arguments", code: -32602, nodeMessage: "no" });
}

type Call = Parameters<TestChain["rpc"]["call"]>;

/** A node that refuses some calls, alone and in batches. */
function refusing(refuses: (params: readonly unknown[]) => boolean): TestChain["rpc"] {
  return {
    ...chain.rpc,
    call: async (...[method, params, signal]: Call) => {
      if (method === "eth_call" && refuses(params)) throw refusal();
      return chain.rpc.call(method, params, signal);
    },
    batch: async (requests, signal) => {
      const answers = await chain.rpc.batch(requests, signal);
      return answers.map((answer, index) => {
        const { method, params } = requests[index]!;
        return method === "eth_call" && refuses(params) ? refusal() : answer;
      });
    },
  };
}

test("a node is read in the best way that it can do, and anew when it can no longer", async () => {
  const noOverride = (params: readonly unknown[]) => params.length > 2;
  const noMulticall = (params: readonly unknown[]) => (params[0] as { to?: string }).to === MULTICALL3;
  const noHash = (params: readonly unknown[]) => typeof params[1] === "object";
  let limits: ((params: readonly unknown[]) => boolean)[] = [];
  const reads = createBlockReads({ rpc: refusing((params) => limits.some((limit) => limit(params))) });
  for (const [mode, ...refused] of [
    ["override"],
    ["multicall", noOverride],
    ["plain", noOverride, noMulticall],
    ["plain", noOverride, noMulticall, noHash],
  ] as const) {
    limits = refused;
    const { read } = reads.at(await newestBlock());
    expect(await read(token, SELECTOR.decimals, 1)).toEqual([6n]);
    expect(reads.mode()).toBe(mode);
  }
});

test("a call that uses up all gas fails alone, in any company", async () => {
  // jumpdest, push 0, jump: it never ends.
  const endless = toAddress("0x00000000000000000000000000000000000000ef");
  await chain.rpc.call("anvil_setCode", [endless, "0x5b600056"]);
  for (const mode of ["override", "multicall", "plain"] as const) {
    const { readAll } = createBlockReads({ rpc: chain.rpc, mode }).at(await newestBlock());
    const good = { to: token, data: SELECTOR.decimals, words: 1 };
    expect(await readAll([good, { ...good, to: endless }, good, good]), mode).toEqual([[6n], undefined, [6n], [6n]]);
  }
});

/** A node that says this of reads of the token; of a packed one, where more than one call is in it. */
function saying(code: number, words: string): TestChain["rpc"] {
  const error = new RpcError({ kind: "rpc", host: "node", message: `node: ${words}`, code, nodeMessage: words });
  return {
    ...chain.rpc,
    batch: async (requests, signal) => {
      const answers = await chain.rpc.batch(requests, signal);
      return answers.map((answer, index) => {
        const call = JSON.stringify(requests[index]?.params[0]).toLowerCase();
        const names = call.split(token.slice(2)).length - 1;
        return names > 1 || call.includes(`"to":"${token}"`) ? error : answer;
      });
    },
  };
}

test.each([
  [-32603, "EVM error MemoryOOG"],
  [-32000, "out of gas"],
  [-32005, "limit exceeded"],
])("a packed read that is too much (%d %s) is split, and every call of it has its answer", async (code, words) => {
  const { readAll } = createBlockReads({ rpc: saying(code, words), mode: "override" }).at(await newestBlock());
  const call = { to: token, data: SELECTOR.decimals, words: 1 };
  expect(await readAll([call, call, call])).toEqual([[6n], [6n], [6n]]);
});

test.each([
  [-32015, "VM execution error."],
  [3, "execution reverted"],
  [-32603, "EVM error StackUnderflow"],
  [-32603, "EVM error MemoryOOG"],
])("a call alone of which the node says %d %s is a call that fails", async (code, words) => {
  const { readAll } = createBlockReads({ rpc: saying(code, words), mode: "plain" }).at(await newestBlock());
  expect(await readAll([{ to: token, data: SELECTOR.decimals, words: 1 }])).toEqual([undefined]);
});

test.each([
  [-32601, "the method eth_call does not exist/is not available"],
  [-32000, "header not found"],
  [-32000, "rate limit exceeded"],
])("a node that cannot answer (%d %s) is never taken for a contract that fails", async (code, words) => {
  const { readAll } = createBlockReads({ rpc: saying(code, words), mode: "plain" }).at(await newestBlock());
  await expect(readAll([{ to: token, data: SELECTOR.decimals, words: 1 }])).rejects.toThrow(words);
});

test.each([
  ["holds calls back", 429, "too many requests"],
  ["has not got the block yet", -32_000, "header not found"],
  ["has another block in its place", -32_000, "hash is not currently canonical"],
])("a node that %s for a while is not taken for one that can do less", async (_, code, words) => {
  const refusal = new RpcError({ kind: "rpc", host: "node", message: words, code, nodeMessage: words });
  // At first, and again once it is known what the node can do.
  for (const isKnown of [false, true]) {
    let refused = 4;
    const batch: JsonRpc["batch"] = async (requests, signal) =>
      refused-- > 0 ? requests.map(() => refusal) : chain.rpc.batch(requests, signal);
    const reads = createBlockReads({ rpc: { ...chain.rpc, batch } });
    const block = await newestBlock();
    const decimals = () => reads.at(block).readAll([{ to: token, data: SELECTOR.decimals, words: 1 }]);
    if (isKnown) {
      refused = 0;
      await decimals();
      refused = 4;
    }
    await expect(decimals()).rejects.toThrow(words);
    expect(await decimals()).toEqual([[6n]]);
    expect(reads.mode()).toBe("override");
  }
});

test("a node that failed once at what it can do is read the better way again after ten minutes", async () => {
  let nowMs = 0;
  const clock = { monotonicMs: () => nowMs };
  let isBroken = true;
  const rpc = refusing((params) => isBroken && params.length > 2);
  const reads = createBlockReads({ rpc, clock });
  const read = async () => await reads.at(await newestBlock()).read(token, SELECTOR.decimals, 1);
  expect(await read()).toEqual([6n]);
  expect(reads.mode()).toBe("multicall");
  // Still broken when it is tried again: the way that works goes on.
  nowMs = 601_000;
  expect(await read()).toEqual([6n]);
  expect(reads.mode()).toBe("multicall");
  isBroken = false;
  nowMs += 590_000;
  expect(await read()).toEqual([6n]);
  expect(reads.mode()).toBe("multicall");
  nowMs += 20_000;
  expect(await read()).toEqual([6n]);
  expect(reads.mode()).toBe("override");
});

test("a node that is away when the better ways are tried again is read as before", async () => {
  let nowMs = 0;
  const clock = { monotonicMs: () => nowMs };
  const isOverride = (params: readonly unknown[]) => params.length > 2;
  const rpc = refusing(isOverride);
  let isAway = false;
  const batch: JsonRpc["batch"] = async (requests, signal) => {
    if (isAway && requests.some(({ params }) => isOverride(params)))
      throw new RpcError({ kind: "transport", host: "node", message: "node: no answer" });
    return rpc.batch(requests, signal);
  };
  const reads = createBlockReads({ rpc: { ...rpc, batch }, clock });
  const read = async () => await reads.at(await newestBlock()).read(token, SELECTOR.decimals, 1);
  await read();
  isAway = true;
  nowMs = 601_000;
  expect(await read()).toEqual([6n]);
  expect(reads.mode()).toBe("multicall");
});

async function newestBlock(): Promise<BlockHeader> {
  return parseBlock("anvil", await chain.rpc.call("eth_getBlockByNumber", ["latest", false]))!;
}
