import { readViewWord } from "../../chain/at-block/batch-reader.ts";
import { callData, intWord, splitBytes, uintWord } from "../../chain/at-block/words.ts";
import type { RpcRequest } from "../../chain/json-rpc.ts";
import { type Address, type Hex, toAddress } from "../../domain/money/address.ts";
import { type NetworkOptions, spenderOf } from "../options.ts";
import type { DataFeeSource } from "./data-fees.ts";
import { onTheLine, SAMPLE_SHAPES, sampleCalldata, unsignedBytes } from "./sample-swaps.ts";
import { DataFeeUnknownError } from "./unknown-fee.ts";

/**
 * OP Stack rollups take, on top of gas, wei for publishing a transaction's bytes on their parent chain, and since the Isthmus
 * upgrade wei for their operator. The predeploy reports both, by the rules of whatever upgrade is active
 * (ethereum-optimism/specs@830d0e30 specs/experimental/contracts/L2/gas-price-oracle.md):
 * `getL1Fee` of unsigned bytes, to which it adds the signature's size; `getOperatorFee` of gas, linear in it.
 */
const ORACLE: Address = toAddress("0x420000000000000000000000000000000000000F");
const GET_L1_FEE: Hex = "0x49948e0e";
const GET_OPERATOR_FEE: Hex = "0x275aedd2";

/** Gas between the two points that give the line of the operator's fee: its scalar is in parts of this. */
const OPERATOR_STEP = 1_000_000n;

/** Gas limits of samples; only how many digits they have matters. */
const SAMPLE_GAS_LIMIT = 600_000n;

function l1FeeCall(bytes: Hex): Hex {
  return callData(GET_L1_FEE, intWord(32), uintWord((bytes.length - 2) / 2, 256), ...splitBytes(bytes));
}

function operatorFeeCall(gas: bigint): Hex {
  return callData(GET_OPERATOR_FEE, uintWord(gas, 256));
}

const OPERATOR_CALLS: readonly Hex[] = [operatorFeeCall(0n), operatorFeeCall(OPERATOR_STEP)];

/** The operator's fee of any gas, from the answers to {@link OPERATOR_CALLS}; rounded up. */
function operatorLine([constant = 0n, further = constant]: readonly (bigint | undefined)[]): (gas: bigint) => bigint {
  // Before Isthmus there is no such function, and no such fee.
  const scalar = further > constant ? further - constant : 0n;
  return (gas) => constant + (gas * scalar + OPERATOR_STEP - 1n) / OPERATOR_STEP;
}

function oracleRequest(data: Hex): RpcRequest {
  return { method: "eth_call", params: [{ to: ORACLE, data }, "latest"] };
}

function unknownFee(host: string): DataFeeUnknownError {
  return new DataFeeUnknownError(host, `its predeploy ${ORACLE} does not report the fee for data (getL1Fee)`);
}

/** The chain itself prices samples once a block: it knows its rules of compression, which change with upgrades. */
export function opStackDataFees({
  chainId,
  ...contracts
}: Pick<NetworkOptions, "chainId" | "settlement" | "router">): DataFeeSource {
  const samples = SAMPLE_SHAPES.map((shape) =>
    unsignedBytes({
      chainId,
      to: spenderOf(contracts) ?? ORACLE,
      data: sampleCalldata(shape),
      gasLimit: SAMPLE_GAS_LIMIT,
    }),
  );
  return {
    requests: [...samples.map(l1FeeCall), ...OPERATOR_CALLS].map(oracleRequest),
    decode(host, answers) {
      const words = answers.map((answer) => readViewWord(host, answer));
      const figures = words.slice(0, samples.length);
      const known = figures.filter((figure) => figure !== undefined);
      if (known.length < samples.length) throw unknownFee(host);
      return { dataFee: onTheLine(known), operatorFee: operatorLine(words.slice(samples.length)), dataGas: () => 0n };
    },
  };
}

/** How the fee of one exact transaction is asked for, together with its simulation. */
export interface ExactDataFee {
  readonly requests: readonly RpcRequest[];
  /** Wei on top of gas, by the gas that its receipt will show. @throws RpcError */
  decode(host: string, answers: readonly unknown[]): (gas: bigint) => bigint;
}

/** Also where nothing is charged: then nothing is asked. */
export function exactDataFee(
  { chainId, dataFee }: Pick<NetworkOptions, "chainId" | "dataFee">,
  transaction: { to: Address; data: Hex; gasLimit: bigint },
): ExactDataFee {
  if (dataFee !== "op-stack") return { requests: [], decode: () => () => 0n };
  const { to, data, gasLimit } = transaction;
  const forData = l1FeeCall(unsignedBytes({ chainId, to, data, gasLimit }));
  return {
    requests: [forData, ...OPERATOR_CALLS].map(oracleRequest),
    decode(host, answers) {
      const [fee, ...operator] = answers.map((answer) => readViewWord(host, answer));
      if (fee === undefined) throw unknownFee(host);
      const operatorFee = operatorLine(operator);
      return (gas) => fee + operatorFee(gas);
    },
  };
}
