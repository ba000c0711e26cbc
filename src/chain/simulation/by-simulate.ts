import { ChainReadError } from "../../domain/chain-read-error.ts";
import type { ChainLog } from "../../ports/chain.ts";
import { toQuantity } from "../quantity.ts";
import { readArray, readBytes, readLog, readObject, readQuantity } from "../read-values.ts";
import { revertReason } from "../revert-reason.ts";
import { approvalsOf, transfersOf } from "../token-logs.ts";
import type { CompletedSimulation, SimulateAt } from "./method.ts";

const way = "simulate";

/** Runs calls one after the other in one block by `eth_simulateV1`, with every move of native tokens traced. */
export const simulateBySimulateV1: SimulateAt = async (ask, { calls, block, next, lent }) => {
  const simulated = {
    ...(next === undefined ? {} : { blockOverrides: next }),
    ...(Object.keys(lent).length === 0 ? {} : { stateOverrides: lent }),
    calls: calls.map(({ from, to, data, value }) => ({ from, to, input: data, value: toQuantity(value) })),
  };
  const options = { blockStateCalls: [simulated], traceTransfers: true, validation: false };
  return readSimulation(await ask("eth_simulateV1", [options, block]), calls.length);
};

function readSimulation(answer: unknown, expectedCalls: number): CompletedSimulation {
  const [first] = readArray(answer, "a simulation");
  const results = readArray(readObject(first, "a simulated block").calls, "simulated calls");
  if (results.length !== expectedCalls) {
    throw new ChainReadError("refused", `the node simulated ${results.length} of ${expectedCalls} calls`);
  }
  const logs: ChainLog[] = [];
  const gasUsedByCall: bigint[] = [];
  for (const item of results) {
    const result = readObject(item, "a simulated call");
    if (readQuantity(result.status, "a simulated call's status") !== 1n) {
      return { kind: "reverted", way, reason: reasonOf(result) };
    }
    logs.push(...readArray(result.logs, "a simulated call's logs").map(readLog));
    gasUsedByCall.push(readQuantity(result.gasUsed, "a simulated call's gas"));
  }
  return {
    ...{ kind: "ok", way, gasUsed: gasUsedByCall.reduce((sum, gas) => sum + gas, 0n), gasUsedByCall },
    ...{ transfers: transfersOf(logs), approvals: approvalsOf(logs) },
  };
}

function reasonOf(result: Readonly<Record<string, unknown>>): string {
  const error = result.error === undefined ? {} : readObject(result.error, "a simulated call's error");
  const message = typeof error.message === "string" ? error.message.slice(0, 200) : undefined;
  const returned = readBytes(result.returnData, "a simulated call's return data");
  return revertReason(returned.length > 2 ? returned : error.data, message);
}
