import { Transaction } from "ethers";
import { type Address, type Hex, parseAddress } from "../domain/money/address.ts";

/**
 * The signed bytes of a transaction as a block lists it, put together from its fields: they count where they have its hash
 * and its signature is the sender's, so that no node can make them up.
 * @returns undefined where it is of another type, or the node shows no signature
 */
export function signedBytes(
  { type, chainId, nonce, to, input, value, gas, accessList, ...listed }: Readonly<Record<string, unknown>>,
  { hash, sender }: { readonly hash: Hex; readonly sender: Address },
): Hex | undefined {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas, r, s, yParity, v } = listed;
  if (type !== "0x0" && type !== "0x2") return undefined;
  const isPlain = type === "0x0";
  try {
    const fields = { chainId, nonce, to, data: input, value, gasLimit: gas };
    const fees = isPlain ? { gasPrice } : { maxFeePerGas, maxPriorityFeePerGas, accessList: accessList ?? [] };
    // What is missing or malformed is refused by the library; whatever it takes is held against the hash.
    const transaction = Transaction.from({ type: isPlain ? 0 : 2, ...fields, ...fees } as never);
    const parity = isPlain ? { v: String(v) } : { yParity: Number(yParity ?? v) as 0 | 1 };
    transaction.signature = { r: word(r), s: word(s), ...parity };
    const isSenders = transaction.from !== null && parseAddress(transaction.from) === sender;
    return isSenders && transaction.hash === hash ? (transaction.serialized as Hex) : undefined;
  } catch {
    return undefined;
  }
}

/** Nodes leave out leading zeros. */
function word(value: unknown): string {
  return `0x${BigInt(String(value)).toString(16).padStart(64, "0")}`;
}
