import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import { createJsonRpc, RpcError } from "../../../src/net/json-rpc.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import {
  createBlockReader,
  detectReadMode,
  READER_CODE,
  READER_SOURCE,
} from "../../../src/service/chain/batch-reader.ts";
import { callData, intWord, SELECTOR } from "../../../src/service/chain/words.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";

let chain: TestChain;
let token: Address;
const nobody = toAddress("0x00000000000000000000000000000000000000ee");

beforeAll(async () => {
  chain = await startTestChain();
  token = await chain.deploy(loadContract("PermitToken"), ["Token", "TKN", 6]);
}, 30_000);

afterAll(() => chain?.stop());

test("the reader program is what its source compiles to", () => {
  const solc = createRequire(import.meta.url)("solc");
  const settings = {
    evmVersion: "paris",
    optimizer: { enabled: true, runs: 10_000 },
    outputSelection: { "*": { "*": ["evm.bytecode.object"] } },
  };
  const input = { language: "Yul", sources: { reader: { content: READER_SOURCE } }, settings };
  const output = JSON.parse(solc.compile(JSON.stringify(input)));
  expect(`0x${output.contracts.reader.BatchReader.evm.bytecode.object}`).toBe(READER_CODE);
});

describe.each(["override", "plain"] as const)("reads in mode %s", (mode) => {
  test("tell good answers, reverts, short answers and missing contracts apart, in any mixture", async () => {
    const read = createBlockReader({ rpc: chain.rpc, block: await blockNumber(), mode });
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
    const read = createBlockReader({ rpc: counting, block: await blockNumber(), mode });
    const few = Array.from({ length: 300 }, () => read(token, SELECTOR.decimals, 1));
    expect(new Set((await Promise.all(few)).map(String))).toEqual(new Set(["6"]));
    expect(requests).toBe(1);
    await Promise.all(Array.from({ length: 900 }, () => read(token, SELECTOR.decimals, 1)));
    expect(requests).toBe(4);
  });

  test("of a node that does not answer fail, instead of looking like missing contracts", async () => {
    const rpc = createJsonRpc({ url: "http://127.0.0.1:9", timeoutMs: 500, maxBytes: 1_000 });
    const read = createBlockReader({ rpc, block: 1, mode });
    await expect(read(token, SELECTOR.decimals, 1)).rejects.toThrow(RpcError);
  });
});

test("a node without state overrides is read plainly", async () => {
  const probe = { block: await blockNumber(), to: token, data: SELECTOR.decimals };
  expect(await detectReadMode(chain.rpc, probe)).toBe("override");
  const refusing = {
    ...chain.rpc,
    call: async (method: string, params: readonly unknown[]) => {
      if (params.length > 2) {
        throw new RpcError({ kind: "rpc", host: "node", message: "too many arguments", code: -32602 });
      }
      return chain.rpc.call(method, params);
    },
  };
  expect(await detectReadMode(refusing, probe)).toBe("plain");
});

async function blockNumber(): Promise<number> {
  return Number(await chain.rpc.call("eth_blockNumber", []));
}
