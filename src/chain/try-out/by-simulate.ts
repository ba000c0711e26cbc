import { ChainReadError } from "../../domain/chain-read-error.ts";
import type { BlockHead, CallRequest, ChainLog, SimulationOutcome } from "../../ports/chain.ts";
import { RpcError } from "../json-rpc.ts";
import { isFailedCall } from "../node-errors.ts";
import { toQuantity } from "../quantity.ts";
import { readArray, readBytes, readLog, readObject, readQuantity } from "../read-values.ts";
import { revertReason } from "../revert-reason.ts";
import type { RpcPool } from "../rpc-pool.ts";
import { approvalsOf, transfersOf } from "../token-logs.ts";

/**
 * Runs calls one after the other in a block on top of `head` by `eth_simulateV1`, with every move of native tokens
 * traced. Height and time of that block are stated, because nodes differ in what they assume.
 * @param nowSeconds Unix time; the block is not older than this
 */
export async function simulateCalls(
  pool: RpcPool,
  calls: readonly CallRequest[],
  at: { head: BlockHead; nowSeconds: number },
): Promise<SimulationOutcome> {
  const block = {
    blockOverrides: {
      number: toQuantity(at.head.number + 1),
      time: toQuantity(Math.max(at.head.timestamp + 1, at.nowSeconds)),
    },
    calls: calls.map(({ from, to, data, value }) => ({ from, to, input: data, value: toQuantity(value) })),
  };
  const options = { blockStateCalls: [block], traceTransfers: true, validation: false };
  try {
    return readSimulation(await pool.read("eth_simulateV1", [options, toQuantity(at.head.number)]), calls.length);
  } catch (error) {
    if (error instanceof RpcError && isFailedCall(error)) {
      return { kind: "reverted", reason: revertReason(error.data, error.nodeMessage) };
    }
    // Nodes answered, and none of them could try it out: the method is missing, forbidden or broken there.
    const isRefused = error instanceof ChainReadError && (error.code === "not available" || error.code === "refused");
    if (isRefused) return { kind: "unavailable", reason: error.message };
    throw error;
  }
}

function readSimulation(answer: unknown, expectedCalls: number): SimulationOutcome {
  const [first] = readArray(answer, "a simulation");
  const results = readArray(readObject(first, "a simulated block").calls, "simulated calls");
  if (results.length !== expectedCalls) {
    return { kind: "unavailable", reason: `the node simulated ${results.length} of ${expectedCalls} calls` };
  }
  const logs: ChainLog[] = [];
  const gasUsedByCall: bigint[] = [];
  for (const item of results) {
    const result = readObject(item, "a simulated call");
    if (readQuantity(result.status, "a simulated call's status") !== 1n) {
      return { kind: "reverted", reason: reasonOf(result) };
    }
    logs.push(...readArray(result.logs, "a simulated call's logs").map(readLog));
    gasUsedByCall.push(readQuantity(result.gasUsed, "a simulated call's gas"));
  }
  return {
    kind: "ok",
    gasUsed: gasUsedByCall.reduce((sum, gas) => sum + gas, 0n),
    gasUsedByCall,
    transfers: transfersOf(logs),
    approvals: approvalsOf(logs),
  };
}

function reasonOf(result: Readonly<Record<string, unknown>>): string {
  const error = result.error === undefined ? {} : readObject(result.error, "a simulated call's error");
  const message = typeof error.message === "string" ? error.message.slice(0, 200) : undefined;
  const returned = readBytes(result.returnData, "a simulated call's return data");
  return revertReason(returned.length > 2 ? returned : error.data, message);
}
