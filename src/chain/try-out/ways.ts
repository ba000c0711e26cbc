import type { TrialWay } from "../../domain/guard/trial-way.ts";
import type { Ask } from "../crowded-reads.ts";
import { RpcError } from "../json-rpc.ts";
import { classOf, isFailedCall } from "../node-errors.ts";
import { revertReason } from "../revert-reason.ts";
import { tryProbed } from "./by-probe.ts";
import { trySimulated } from "./by-simulate.ts";
import { tryTraced } from "./by-trace.ts";
import type { TrialOutcome, TrialRun, TryAt } from "./way.ts";

const TRY: Readonly<Record<TrialWay, TryAt>> = { simulate: trySimulated, trace: tryTraced, probe: tryProbed };

/**
 * Tries calls out at one endpoint, in one way.
 * @throws RpcError what the endpoint said, ChainReadError for an answer that is none, or that shows too little
 */
export async function tryIn(way: TrialWay, ask: Ask, run: TrialRun): Promise<TrialOutcome> {
  try {
    return await TRY[way](ask, run);
  } catch (error) {
    if (!(error instanceof RpcError) || !isFailedCall(error)) throw error;
    // The probe itself never reverts, and its questions use gas that the swap does not.
    if (way === "probe" || classOf(error) === "out-of-gas") throw error;
    return { kind: "reverted", way, reason: revertReason(error.data, error.nodeMessage) };
  }
}
