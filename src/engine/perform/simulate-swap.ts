import { approval } from "../../domain/guard/approval.ts";
import type { Decoding } from "../../domain/guard/decoded-swap.ts";
import { contractsFor } from "../../domain/guard/swap-contracts.ts";
import type { Address, Hex } from "../../domain/money/address.ts";
import { isNative } from "../../domain/money/token.ts";
import type { ClearanceReading, SimulationReading } from "../../domain/run/events.ts";
import { gasLimitFor } from "../../domain/run/gas-limit.ts";
import type { Swap } from "../../domain/run/run.ts";
import type { BlockHead, CallRequest, Watched } from "../../ports/chain.ts";
import type { EngineContext } from "../engine-context.ts";
import { watchedBy } from "./watched.ts";

/** What trying the transactions out showed. */
export interface SwapSimulation {
  readonly simulation: SimulationReading;
  readonly gasLimit: bigint;
  readonly approval: ClearanceReading["approval"];
  /** what was simulated, in its order; empty when it did not go well */
  readonly calls: readonly CallRequest[];
}

/** The swap's own transaction, or of a gasless order the call with which its owner could execute it himself. */
export interface SimulatedCall {
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
}

interface SimulationRequest {
  readonly swap: Swap;
  readonly gross: bigint;
  /** undefined where the service gives nothing to simulate */
  readonly call: SimulatedCall | undefined;
  readonly decoding: Decoding;
  readonly allowance: bigint;
  /** the block that everything is read at */
  readonly head: BlockHead;
}

/** Plenty for an approval of any known token; what is not used is not paid. */
const APPROVAL_GAS_LIMIT = 120_000n;

const UNDECODED = "what the decoder does not know is not simulated";

/**
 * Tries the swap out on top of a block, with the exact approval before it when one is needed. Tokens that only approve
 * from zero are met by trying the plain approval first and, when that reverts, a reset to zero before it.
 */
export async function simulateSwap(context: EngineContext, request: SimulationRequest): Promise<SwapSimulation> {
  const { swap, call, gross, head } = request;
  if (!request.decoding.ok) return unsimulated({ kind: "unavailable", reason: UNDECODED });
  if (call === undefined) return unsimulated({ kind: "not-applicable" });
  const about = { on: head, watched: await watchedBy(context, swap) };
  const simulate = (calls: readonly CallRequest[]) => simulated(context, calls, about);
  const swapCall: CallRequest = { from: swap.wallet, to: call.to, data: call.data, value: call.value };
  if (isNative(swap.sell) || request.allowance >= gross) {
    return { ...(await simulate([swapCall])), approval: undefined };
  }
  const exact = approvalCall(context, swap, gross);
  const direct = await simulate([exact, swapCall]);
  if (direct.simulation.kind !== "reverted" || request.allowance === 0n) {
    return { ...direct, approval: approvalOf(exact, gross) };
  }
  const reset = approvalCall(context, swap, 0n);
  const afterReset = await simulate([reset, exact, swapCall]);
  return { ...afterReset, approval: approvalOf(reset, 0n) };
}

/** Where there is nothing to simulate. */
export function unsimulated(simulation: SimulationReading): SwapSimulation {
  return { simulation, gasLimit: 0n, approval: undefined, calls: [] };
}

/** Tries calls out that a Safe would make, one after the other; its owners pay for the gas. */
export async function simulateCalls(
  context: EngineContext,
  calls: readonly CallRequest[],
  { swap, head }: Pick<SimulationRequest, "swap" | "head">,
): Promise<SwapSimulation> {
  const outcome = await simulated(context, calls, { on: head, watched: await watchedBy(context, swap) });
  return { ...outcome, gasLimit: 0n, approval: undefined };
}

async function simulated(
  { deps: { chain } }: EngineContext,
  calls: readonly CallRequest[],
  about: { readonly on: BlockHead; readonly watched: Watched },
): Promise<Omit<SwapSimulation, "approval">> {
  const simulation = await chain.simulate(calls, about);
  if (simulation.kind !== "ok") return { simulation, gasLimit: 0n, calls: [] };
  return { simulation, gasLimit: gasLimitFor(simulation.gasUsedByCall.at(-1) ?? 0n), calls };
}

function approvalCall(context: EngineContext, swap: Swap, amount: bigint): CallRequest {
  const data = approval(contractsFor(context.settings, swap.quote).spender, amount);
  return { from: swap.wallet, to: swap.sell.address, data, value: 0n };
}

function approvalOf(call: CallRequest, amount: bigint): NonNullable<ClearanceReading["approval"]> {
  return { to: call.to, data: call.data, amount, gasLimit: APPROVAL_GAS_LIMIT };
}
