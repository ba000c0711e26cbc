import type { Hex } from "../../../src/domain/money/address.ts";
import type { TestChain } from "./chain.ts";
import { type NodeFront, startNodeFront } from "./node-front.ts";

/** What a rollup charges on top of gas: wei per byte of unsigned transaction and signature, and the operator's two figures. */
export interface Charges {
  readonly perByte: bigint;
  /** millionths of a wei per gas */
  readonly operatorScalar: bigint;
  readonly operatorConstant: bigint;
}

const ORACLE = "0x420000000000000000000000000000000000000F";
const NODE_INTERFACE = "0x00000000000000000000000000000000000000C8";

const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, "0")}`;
const assemble = (...parts: readonly string[]): Hex => `0x${parts.join("").replaceAll(" ", "")}`;

/**
 * A double of the predeploy from its published interface: `getL1Fee(bytes)` is slot 0 times (size + 68), the 68 for the
 * signature; `getOperatorFee(uint256)` is gas times slot 1 over a million, plus slot 2. Real ones compress the bytes.
 */
const ORACLE_CODE = assemble(
  "6000 35 60e0 1c", // the selector
  "80 63 49948e0e 14 60 1f 57", // getL1Fee: at 0x1f
  "80 63 275aedd2 14 60 32 57", // getOperatorFee: at 0x32
  "6000 6000 fd",
  "5b 6024 35 6044 01 6000 54 02 6000 52 6020 6000 f3",
  "5b 6004 35 6001 54 02 62 0f4240 90 04 6002 54 01 6000 52 6020 6000 f3",
);

/** A double of Arbitrum's node: `gasEstimateL1Component` says slot 0 times the size of the data, and two zeros. */
const NODE_INTERFACE_CODE = assemble("6064 35 6000 54 02 6000 52 6060 6000 f3");

/** Puts the predeploy there, with these charges from now on. */
export async function charge(
  chain: Pick<TestChain, "rpc">,
  { perByte, operatorScalar, operatorConstant }: Charges,
): Promise<void> {
  await chain.rpc.call("anvil_setCode", [ORACLE, ORACLE_CODE]);
  for (const [slot, value] of [perByte, operatorScalar, operatorConstant].entries()) {
    await chain.rpc.call("anvil_setStorageAt", [ORACLE, word(BigInt(slot)), word(value)]);
  }
}

/** Takes the predeploy away. */
export async function chargeUnknown(chain: TestChain): Promise<void> {
  await chain.rpc.call("anvil_setCode", [ORACLE, "0x"]);
}

/** Puts the node's interface there, with so much gas for a byte of data. */
export async function chargeGas(chain: TestChain, perByte: bigint): Promise<void> {
  await chain.rpc.call("anvil_setCode", [NODE_INTERFACE, NODE_INTERFACE_CODE]);
  await chain.rpc.call("anvil_setStorageAt", [NODE_INTERFACE, word(0n), word(perByte)]);
}

/** A node's front whose receipts say what was charged on top of gas, as those of rollups do. */
export interface RollupNode extends NodeFront {
  /** from now on; undefined: receipts report nothing */
  receiptsSay(charged: Readonly<Record<string, Hex>> | undefined): void;
  /** calls of contracts since the start */
  calls(): number;
}

interface Message {
  readonly id: number;
  readonly method?: string;
  readonly result?: unknown;
}

export async function startRollupNode(chain: TestChain): Promise<RollupNode> {
  let charged: Readonly<Record<string, Hex>> | undefined;
  let calls = 0;
  async function answer(body: string): Promise<string> {
    const asked = [JSON.parse(body) as Message | Message[]].flat();
    calls += asked.filter(({ method }) => method === "eth_call").length;
    const receipts = new Set(asked.filter(({ method }) => method === "eth_getTransactionReceipt").map(({ id }) => id));
    const headers = { "content-type": "application/json" };
    const answered = (await (await fetch(chain.url, { method: "POST", headers, body })).json()) as Message | Message[];
    const amend = (one: Message) =>
      receipts.has(one.id) && one.result ? { ...one, result: { ...one.result, ...charged } } : one;
    return JSON.stringify(Array.isArray(answered) ? answered.map(amend) : amend(answered));
  }
  const front = await startNodeFront(answer);
  return {
    ...front,
    receiptsSay: (fields) => {
      charged = fields;
    },
    calls: () => calls,
  };
}
