import { expect, test } from "vitest";
import { RpcError } from "../../../src/chain/json-rpc.ts";
import { createAddressMemory } from "../../../src/service/tokens/address-memory.ts";
import { WALLET } from "../../support/builders.ts";

test("a node that fails while an answer is read anew takes nothing away that was known, and is not believed in place of it", async () => {
  let nowMs = 0;
  const memory = createAddressMemory<string | undefined>({ monotonicMs: () => nowMs }, (answer) => (answer ? 10 : 0));
  const fails = () => Promise.reject(new RpcError({ kind: "rpc", host: "node", message: "too many requests" }));
  await expect(memory(WALLET, fails)).rejects.toThrow("too many requests");
  expect(await memory(WALLET, async () => undefined)).toBeUndefined();
  await expect(memory(WALLET, fails)).rejects.toThrow("too many requests");
  expect(await memory(WALLET, async () => "USDC")).toBe("USDC");
  nowMs = 10;
  expect(await memory(WALLET, fails)).toBe("USDC");
  nowMs = 20;
  expect(await memory(WALLET, async () => "USDC.e")).toBe("USDC.e");
  expect(await memory(WALLET, fails)).toBe("USDC.e");
});
