import type { Head } from "../../chain/at-block/head.ts";
import type { Address, Hex } from "../../domain/money/address.ts";
import { type Refusal, refuse } from "../errors/errors.ts";
import type { NetworkOptions } from "../options.ts";
import { ownSwap } from "../settlement/own-swap.ts";
import type { Simulation, Simulator } from "../simulation/simulator.ts";
import type { Quote } from "./quote.ts";

/** What the owner of a quote broadcasts; fees in wei per gas. */
export interface SwapTransaction {
  readonly kind: "transaction";
  readonly from: Address;
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  readonly gasLimit: bigint;
  readonly fees:
    | { readonly type: 2; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
    | { readonly type: 0; readonly gasPrice: bigint };
  /** undefined: not asked for */
  readonly simulation: Simulation | undefined;
}

/** What a request asks for besides its quote or transaction. */
export interface SimulationOptions {
  /** to get what the swap would do */
  readonly simulate: boolean;
  /** a measured gas limit, or a refusal where the swap would revert */
  readonly estimateGas: boolean;
}

/** The base fee can double in six blocks; a transaction that is not mined by then is priced anew. */
const BASE_FEE_FACTOR = 2n;

/** The transaction of a self-executed quote. Where the swap cannot be tried, the gas limit is the quote's own. */
export async function buildTransaction(
  quote: Quote,
  context: { network: NetworkOptions; head: Head; simulator: Simulator },
  simulationOptions: SimulationOptions,
): Promise<SwapTransaction | Refusal> {
  if (quote.owner === undefined) return refuse("QUOTE_INDICATIVE", { parameter: "quoteId" });
  if (quote.gasless) return refuse("QUOTE_GASLESS", { parameter: "gasless" });
  const { head, network } = context;
  const swap = ownSwap(quote.order, quote, network);
  if (swap === undefined) return refuse("SETTLEMENT_MISSING", { parameter: "quoteId" });
  const simulation = await simulateIfAsked(quote, context.simulator, simulationOptions);
  if (simulationOptions.estimateGas && simulation?.status === "failed") {
    return refuse("SIMULATION_REVERTED", { parameter: "quoteId", detail: simulation.reason });
  }
  return {
    kind: "transaction",
    from: quote.owner,
    ...swap,
    gasLimit: gasLimitOf(quote, simulation, simulationOptions),
    fees: feesAt(head),
    simulation,
  };
}

/** A simulation costs calls of the node, so it is made on request only. */
export async function simulateIfAsked(
  quote: Quote,
  simulator: Simulator,
  { simulate, estimateGas }: SimulationOptions,
): Promise<Simulation | undefined> {
  return simulate || estimateGas ? simulator.simulate(quote) : undefined;
}

/**
 * The measured gas limit where it was asked for and could be measured, else the one that the quote was made with. That
 * one is a guess: where it would not do for a token that uses far more gas than usual ones, a simulated swap is not
 * said to work with it.
 */
export function gasLimitOf(
  quote: Quote,
  simulation: Simulation | undefined,
  { estimateGas }: SimulationOptions,
): bigint {
  if (simulation?.status !== "ok" || simulation.gasLimit === undefined) return quote.gasLimit;
  return estimateGas || simulation.gasLimit > quote.gasLimit ? simulation.gasLimit : quote.gasLimit;
}

function feesAt(head: Head): SwapTransaction["fees"] {
  if (head.baseFeePerGas === undefined) return { type: 0, gasPrice: head.gasPrice };
  const { baseFeePerGas, priorityFeePerGas } = head;
  return {
    type: 2,
    maxFeePerGas: baseFeePerGas * BASE_FEE_FACTOR + priorityFeePerGas,
    maxPriorityFeePerGas: priorityFeePerGas,
  };
}
