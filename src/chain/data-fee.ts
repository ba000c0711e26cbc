import { AbiCoder, getBytes, Transaction } from "ethers";
import { ChainReadError } from "../domain/chain-read-error.ts";
import { type Hex, toAddress } from "../domain/money/address.ts";
import type { Chain, DataFee } from "../ports/chain.ts";
import type { UnsignedTransaction } from "../ports/signer.ts";

/** How a network charges for a transaction's data; undefined: with its gas alone. */
export type DataFeeKind = "op-stack" | "arbitrum" | undefined;

/** Predeploy of the OP Stack: `getL1Fee` of unsigned bytes, to which it adds a signature's size; `getOperatorFee` of gas. */
const OP_ORACLE = toAddress("0x420000000000000000000000000000000000000F");
const GET_L1_FEE = "0x49948e0e";
const GET_OPERATOR_FEE = "0x275aedd2";

const UNKNOWN = `the network's predeploy ${OP_ORACLE} does not say what data costs (getL1Fee): correct rpc, or dataFee of the network`;

const abi = AbiCoder.defaultAbiCoder();

/**
 * Asks the network itself what a transaction costs on top of its gas. A cost that is not known is not taken for none. On
 * Arbitrum data is paid with gas, which what simulations used has in it.
 */
export function createDataFee(chain: Pick<Chain, "call" | "chainId">, kind: DataFeeKind): DataFee {
  return async (transaction, { gasUsed, block }) => {
    if (kind !== "op-stack") return undefined;
    const ask = async (selector: string, type: string, value: unknown): Promise<bigint | undefined> => {
      const data = `${selector}${abi.encode([type], [value]).slice(2)}` as Hex;
      const answer = await chain.call({ to: OP_ORACLE, data }, block);
      return answer === undefined || !/^0x[0-9a-f]{64}/i.test(answer) ? undefined : BigInt(answer.slice(0, 66));
    };
    const l1 = await ask(GET_L1_FEE, "bytes", getBytes(unsignedBytes({ ...transaction, chainId: chain.chainId })));
    if (l1 === undefined) throw new ChainReadError("malformed answer", UNKNOWN);
    // Before the Isthmus upgrade there is no such function, and no such fee.
    return l1 + ((await ask(GET_OPERATOR_FEE, "uint256", gasUsed)) ?? 0n);
  };
}

function unsignedBytes(transaction: UnsignedTransaction): string {
  const { chainId, nonce, to, data, value, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  return Transaction.from({ type: 2, chainId, nonce, to, data, value, gasLimit, maxFeePerGas, maxPriorityFeePerGas })
    .unsignedSerialized;
}
