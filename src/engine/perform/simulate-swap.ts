import { approval } from "../../domain/guard/approval.ts";
import type { Decoding } from "../../domain/guard/decoded-swap.ts";
import { contractsFor } from "../../domain/guard/swap-contracts.ts";
import type { Address, Hex } from "../../domain/money/address.ts";
import { isNative } from "../../domain/money/token.ts";
import type { ClearanceReading, SimulationReading } from "../../domain/run/events.ts";
import { approvalGasLimit, gasLimitFor } from "../../domain/run/gas-limit.ts";
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
    const { firstGas: _, ...alone } = await simulate([swapCall]);
    return { ...alone, approval: undefined };
  }
  const exact = approvalCall(context, swap, gross);
  const { firstGas, ...direct } = await simulate([exact, swapCall]);
  if (direct.simulation.kind !== "reverted" || request.allowance === 0n) {
    return { ...direct, approval: approvalOf(exact, gross, firstGas) };
  }
  const reset = approvalCall(context, swap, 0n);
  const { firstGas: resetGas, ...afterReset } = await simulate([reset, exact, swapCall]);
  return { ...afterReset, approval: approvalOf(reset, 0n, resetGas) };
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
  const about = { on: head, watched: await watchedBy(context, swap) };
  const { firstGas: _, ...outcome } = await simulated(context, calls, about);
  return { ...outcome, gasLimit: 0n, approval: undefined };
}

async function simulated(
  { deps: { chain } }: EngineContext,
  calls: readonly CallRequest[],
  about: { readonly on: BlockHead; readonly watched: Watched },
): Promise<Omit<SwapSimulation, "approval"> & { readonly firstGas: bigint | undefined }> {
  const simulation = await chain.simulate(calls, about);
  if (simulation.kind !== "ok") return { simulation, gasLimit: 0n, calls: [], firstGas: undefined };
  const { gasUsedByCall } = simulation;
  return { simulation, gasLimit: gasLimitFor(gasUsedByCall.at(-1) ?? 0n), calls, firstGas: gasUsedByCall[0] };
}

function approvalCall(context: EngineContext, swap: Swap, amount: bigint): CallRequest {
  const data = approval(contractsFor(context.settings, swap.quote).spender, amount);
  return { from: swap.wallet, to: swap.sell.address, data, value: 0n };
}

/** @param gasUsed what it used when it was tried out */
function approvalOf(
  { to, data }: CallRequest,
  amount: bigint,
  gasUsed: bigint | undefined,
): NonNullable<ClearanceReading["approval"]> {
  return { to, data, amount, gasLimit: approvalGasLimit(gasUsed) };
}
