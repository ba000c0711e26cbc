import { expect, test } from "vitest";
import { type JsonRpc, RpcError, type RpcRequest } from "../../../src/chain/json-rpc.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import { simulateRelay } from "../../../src/service/relayer/simulate-relay.ts";

const account = toAddress(`0x${"0a".repeat(20)}`);
const SWAP = { from: account, to: account, data: "0x12345678", gasLimit: 500_000n } as const;

/** A node that grants fifty million gas where nobody asks for less, and runs a call that needs so much. */
function nodeFor(needed: bigint) {
  const ran: bigint[] = [];
  const rpc = {
    host: "node",
    batch: async ([request]: readonly RpcRequest[]) => {
      const { gas = "0x2faf080" } = (request as unknown as { params: [{ gas?: string }] }).params[0];
      const granted = BigInt(gas);
      ran.push(granted < needed ? granted : needed);
      if (granted >= needed) return [`0x${needed.toString(16)}`];
      const message = `gas required exceeds allowance (${granted})`;
      return [new RpcError({ kind: "rpc", host: "node", code: -32000, message, nodeMessage: message })];
    },
  } as unknown as JsonRpc;
  return { rpc, ran };
}

test("a swap is tried with little more gas than it was quoted with, and is said to need more than that", async () => {
  const wasteful = nodeFor(45_000_000n);
  const simulated = await simulateRelay(wasteful.rpc, SWAP, { chainId: 1 });
  expect(simulated).toMatchObject({ kind: "works", gas: 1_000_001n });
  expect(wasteful.ran).toEqual([1_000_000n]);
  const honest = await simulateRelay(nodeFor(510_000n).rpc, SWAP, { chainId: 1 });
  expect(honest).toMatchObject({ kind: "works", gas: 510_000n });
});

test.each([null, "", "0x", 21_000, { gas: "0x5208" }])(
  "an estimate that is no number (%j) is the node's fault",
  async (answer) => {
    const rpc = { host: "node", batch: async () => [answer] } as unknown as JsonRpc;
    await expect(simulateRelay(rpc, SWAP, { chainId: 1 })).rejects.toThrow(RpcError);
  },
);
