import { readViewWord } from "../../chain/at-block/batch-reader.ts";
import { addressWord, callData, intWord, splitBytes, uintWord } from "../../chain/at-block/words.ts";
import type { Hex } from "../../domain/money/address.ts";
import { type NetworkOptions, spenderOf } from "../options.ts";
import type { DataFeeSource } from "./data-fees.ts";
import { onTheLine, SAMPLE_SHAPES, sampleCalldata } from "./sample-swaps.ts";
import { DataFeeUnknownError } from "./unknown-fee.ts";

/**
 * Arbitrum takes the price of publishing a transaction as gas on top of what is done with it. Its node reports how much under
 * an address at which there is no contract, so that only a call of its own reaches it
 * (OffchainLabs/nitro-contracts@4ba14450 src/node-interface/NodeInterface.sol, `gasEstimateL1Component`).
 */
const NODE_INTERFACE = "0x00000000000000000000000000000000000000C8";
const GAS_ESTIMATE_L1_COMPONENT: Hex = "0x77d488a2";

function gasCall(to: NonNullable<NetworkOptions["settlement"]>, data: Hex): Hex {
  const size = uintWord((data.length - 2) / 2, 256);
  return callData(GAS_ESTIMATE_L1_COMPONENT, addressWord(to), intWord(0), intWord(96), size, ...splitBytes(data));
}

/** The node prices samples once a block. Receipts and estimates have that gas in them; what a simulation used may lack it. */
export function arbitrumDataFees(contracts: Pick<NetworkOptions, "settlement" | "router">): DataFeeSource {
  const requests = SAMPLE_SHAPES.map((shape) => {
    const data = sampleCalldata(shape);
    const call = { to: NODE_INTERFACE, data: gasCall(spenderOf(contracts) ?? NO_SETTLEMENT, data) };
    return { method: "eth_call", params: [call, "latest"] };
  });
  return {
    requests,
    decode(host, answers) {
      const figures = answers.map((answer) => gasOf(host, answer));
      return { dataFee: () => 0n, operatorFee: () => 0n, dataGas: onTheLine(figures) };
    },
  };
}

/** Any account: only the size of the data counts. */
const NO_SETTLEMENT = "0x00000000000000000000000000000000000000ff" as NonNullable<NetworkOptions["settlement"]>;

function gasOf(host: string, answer: unknown): bigint {
  // A busy node says nothing of what it can know: it is asked again.
  const gas = readViewWord(host, answer);
  if (gas !== undefined && gas < 2n ** 64n) return gas;
  throw new DataFeeUnknownError(
    host,
    `it does not report the gas for data (${NODE_INTERFACE}, gasEstimateL1Component)`,
  );
}
