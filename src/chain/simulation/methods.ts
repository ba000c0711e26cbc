import type { SimulationMethod } from "../../domain/guard/simulation-method.ts";
import type { Ask } from "../crowded-reads.ts";
import { RpcError } from "../json-rpc.ts";
import { classOf, isFailedCall } from "../node-errors.ts";
import { revertReason } from "../revert-reason.ts";
import { simulateByProbe } from "./by-probe.ts";
import { simulateBySimulateV1 } from "./by-simulate.ts";
import { simulateByTrace } from "./by-trace.ts";
import type { CompletedSimulation, SimulateAt, SimulationRun } from "./method.ts";

const TRY: Readonly<Record<SimulationMethod, SimulateAt>> = {
  simulate: simulateBySimulateV1,
  trace: simulateByTrace,
  probe: simulateByProbe,
};

/**
 * Tries calls out at one endpoint, in one way.
 * @throws RpcError what the endpoint said, ChainReadError for an answer that is none, or that shows too little
 */
export async function tryIn(way: SimulationMethod, ask: Ask, run: SimulationRun): Promise<CompletedSimulation> {
  try {
    return await TRY[way](ask, run);
  } catch (error) {
    if (!(error instanceof RpcError) || !isFailedCall(error)) throw error;
    // The probe itself never reverts, and its questions use gas that the swap does not.
    if (way === "probe" || classOf(error) === "out-of-gas") throw error;
    return { kind: "reverted", way, reason: revertReason(error.data, error.nodeMessage) };
  }
}
