import { afterAll, beforeAll, expect, test } from "vitest";
import { toQuantity } from "../../src/chain/quantity.ts";
import { createRpcPool } from "../../src/chain/rpc-pool.ts";
import { Secret } from "../../src/net/secret.ts";
import { startTestChain, type TestChain } from "../service/support/chain.ts";

// anvil says the same of a block whose state it no longer keeps and of one that is still to come.

let chain: TestChain;

beforeAll(async () => {
  chain = await startTestChain(["--prune-history", "128"]);
  await chain.rpc.call("anvil_mine", ["0x12c"]);
});
afterAll(() => chain?.stop());

test.each([
  ["of which it keeps nothing any more is refused", 2, "refused"],
  ["that it does not have yet may be answered in a moment", 305, "unreachable"],
])("a block %s", async (_, block, code) => {
  const clock = { monotonicMs: () => performance.now(), nowMs: () => Date.now() };
  const options = { urls: [new Secret(chain.url)], chainId: 31_337, timeoutMs: 5_000, maxBytes: 100_000 };
  const { read } = createRpcPool(options, clock);
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
