import { afterAll, beforeAll, expect, test } from "vitest";
import { readHead } from "../../../src/chain/at-block/head.ts";
import { createJsonRpc, type JsonRpc, RpcError } from "../../../src/chain/json-rpc.ts";
import { type LyingNode, startLyingNode } from "../../service/support/lying-node.ts";
import { startBareAnvil } from "../../support/anvil.ts";

let anvil: Awaited<ReturnType<typeof startBareAnvil>>;
let node: LyingNode;
let rpc: JsonRpc;

beforeAll(async () => {
  anvil = await startBareAnvil();
  node = await startLyingNode(() => anvil.rpcUrl);
  rpc = createJsonRpc({ url: node.url, timeoutMs: 5_000, maxBytes: 1_000_000 });
});

afterAll(async () => {
  await node?.stop();
  await anvil?.stop();
});

/** The newest block and the suggested tip, with some of it written otherwise. */
async function writes(block: Record<string, unknown>, tip?: { readonly answer: unknown }): Promise<void> {
  node.lie(undefined);
  const newest = (await rpc.call("eth_getBlockByNumber", ["latest", false])) as object;
  node.lie(({ method }) => {
    if (method === "eth_getBlockByNumber") return { answer: { ...newest, ...block } };
    return method === "eth_maxPriorityFeePerGas" ? tip : undefined;
  });
}

test("a node that writes what its network does not have as null describes a block like one that leaves it out", async () => {
  await writes({ baseFeePerGas: undefined, logsBloom: undefined });
  const without = await readHead(rpc);
  await writes({ baseFeePerGas: null, logsBloom: null });
  expect(await readHead(rpc)).toEqual(without);
  expect(without).toMatchObject({ baseFeePerGas: undefined, logsBloom: `0x${"00".repeat(256)}` });
  await writes({ baseFeePerGas: null }, { answer: null });
  const untipped = await readHead(rpc);
  expect(untipped.priorityFeePerGas).toBe(untipped.gasPrice);
});

test("a node that writes nonsense instead describes none", async () => {
  for (const block of [{ baseFeePerGas: "" }, { logsBloom: "0x" }, { number: null }, { hash: null }]) {
    await writes(block);
    await expect(readHead(rpc), JSON.stringify(block)).rejects.toThrow(RpcError);
  }
});
