import { afterAll, beforeAll, expect, test } from "vitest";
import { toQuantity } from "../../src/chain/quantity.ts";
import { createRpcPool } from "../../src/chain/rpc-pool.ts";
import { Secret } from "../../src/net/secret.ts";
import { startTestChain, type TestChain } from "../service/support/chain.ts";
import { readBody, startHttpServer } from "../support/http-server.ts";

// anvil says the same of a block whose state it no longer keeps and of one that is still to come.

let chain: TestChain;

beforeAll(async () => {
  chain = await startTestChain(["--prune-history", "128"]);
  await chain.rpc.call("anvil_mine", ["0x12c"]);
});
afterAll(() => chain?.stop());

function poolOver(url: string) {
  const clock = { monotonicMs: () => performance.now(), nowMs: () => Date.now() };
  return createRpcPool({ urls: [new Secret(url)], chainId: 31_337, timeoutMs: 5_000, maxBytes: 100_000 }, clock);
}

/** A node that says this of its newest block, and knows no other one. */
async function poolAt(number: unknown) {
  const results: Readonly<Record<string, unknown>> = {
    eth_chainId: "0x7a69",
    eth_getBlockByNumber: { number, timestamp: toQuantity(Math.floor(Date.now() / 1_000)) },
  };
  const { url } = await startHttpServer(async (request, response) => {
    const { id, method } = JSON.parse(await readBody(request));
    const error = { code: -32_000, message: "header not found" };
    const answer = method in results ? { result: results[method] } : { error };
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });
  return poolOver(url);
}

test.each([
  ["of which it keeps nothing any more is refused", 2, "refused"],
  ["that it does not have yet may be answered in a moment", 305, "unreachable"],
])("a block %s", async (_, block, code) => {
  const { read } = poolOver(chain.url);
  expect(await read("eth_call", [{ to: chain.deployer, data: "0x" }, toQuantity(300)])).toBe("0x");
  for (const [method, ...params] of [
    ["eth_call", { to: chain.deployer, data: "0x" }],
    ["eth_getBalance", chain.deployer],
    ["eth_getTransactionCount", chain.deployer],
  ] as const) {
    const asked = read(method, [...params, toQuantity(block)]);
    await expect(asked, method).rejects.toMatchObject({ name: "ChainReadError", code });
    await expect(asked, method).rejects.toThrow(/BlockOutOfRange/);
  }
});

test.each([
  ["that begins with blocks it no longer keeps are refused", [10, 1_000], "refused"],
  ["that ends with a block that is still to come may be read in a moment", [10, 1_001], "unreachable"],
  ["of blocks that it should have may be read in a moment", [900, 1_000], "unreachable"],
])("logs of a range %s", async (_, [from = 0, to = 0], code) => {
  const asked = (await poolAt(toQuantity(1_000))).read("eth_getLogs", [
    { fromBlock: toQuantity(from), toBlock: toQuantity(to) },
  ]);
  await expect(asked).rejects.toMatchObject({ name: "ChainReadError", code });
});

test("a newest block whose number is a value of which JavaScript makes no number tells nothing", async () => {
  const asked = (await poolAt({ toString: 1 })).read("eth_getLogs", [{ fromBlock: "0xa", toBlock: "0x3e8" }]);
  await expect(asked).rejects.toMatchObject({ name: "ChainReadError", code: "unreachable" });
});
