import { AbiCoder } from "ethers";
import { type Hex, toAddress } from "../../domain/money/address.ts";
import type { CallRequest } from "../../ports/chain.ts";
import type { Ask } from "../crowded-reads.ts";
import { readBytes } from "../read-values.ts";
import type { CompletedSimulation, SimulationRun } from "./method.ts";

/** Where Arbitrum's node reports the gas that it takes for a transaction's data; on other nodes there is no code. */
const NODE_INTERFACE = toAddress("0x00000000000000000000000000000000000000C8");
/** `gasEstimateL1Component(address,bool,bytes)`, whose first word is the gas (OffchainLabs/nitro-contracts@4ba14450). */
const GAS_ESTIMATE_L1_COMPONENT = "0x77d488a2";

const abi = AbiCoder.defaultAbiCoder();

/**
 * Adds to each call of a simulation what Arbitrum takes for its data. `eth_simulateV1` runs with a base fee of zero, at which
 * that is nothing (OffchainLabs/go-ethereum@01428107 internal/ethapi/simulate.go, OffchainLabs/nitro@0002cddf
 * arbos/tx_processor.go GasChargingHook), and a probe counts its own gas; a trace has it.
 * @throws RpcError or ChainReadError, as the endpoint answers
 */
export async function withDataGas(
  ask: Ask,
  outcome: CompletedSimulation,
  { calls, block }: Pick<SimulationRun, "calls" | "block">,
): Promise<CompletedSimulation> {
  if (outcome.kind !== "ok" || outcome.way === "trace") return outcome;
  const forData = await Promise.all(calls.map((call) => dataGasOf(ask, call, block)));
  const gasUsedByCall = outcome.gasUsedByCall.map((gas, index) => gas + (forData[index] ?? 0n));
  return { ...outcome, gasUsedByCall, gasUsed: outcome.gasUsed + forData.reduce((sum, gas) => sum + gas, 0n) };
}

async function dataGasOf(ask: Ask, { to, data }: CallRequest, block: Hex | "latest"): Promise<bigint> {
  const asked = `${GAS_ESTIMATE_L1_COMPONENT}${abi.encode(["address", "bool", "bytes"], [to, false, data]).slice(2)}`;
  const answer = readBytes(await ask("eth_call", [{ to: NODE_INTERFACE, data: asked }, block]), "the gas for data");
  // A copy of the chain on a node of another kind takes nothing for data.
  return answer.length < 66 ? 0n : BigInt(answer.slice(0, 66));
}
