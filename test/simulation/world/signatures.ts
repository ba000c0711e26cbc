import { createHash } from "node:crypto";
import { keccak256 } from "ethers";
import type { TypedData } from "../../../src/domain/guard/typed-data.ts";
import type { Address, Hex } from "../../../src/domain/money/address.ts";
import type { Signer, UnsignedTransaction } from "../../../src/ports/signer.ts";

/** A transaction as the bytes say it. */
export interface SignedTransaction extends UnsignedTransaction {
  readonly from: Address;
  readonly raw: Hex;
  readonly hash: Hex;
}

/** Everything that the key was ever used for. It outlives every process. */
export interface SignatureBook {
  readonly transactions: ReadonlyMap<string, SignedTransaction>;
  readonly messages: ReadonlyMap<string, TypedData>;
  readonly address: Address;
  signer(onSign: (signed: SignedTransaction | TypedData) => void): Signer;
}

/**
 * Signatures that nobody can make without the book, and that are the same for the same content, like those of RFC 6979:
 * the curve itself would take most of a simulation's time and decides nothing in it.
 */
export function createSignatureBook(address: Address): SignatureBook {
  const transactions = new Map<string, SignedTransaction>();
  const messages = new Map<string, TypedData>();
  return {
    address,
    transactions,
    messages,
    signer: (onSign) => ({
      address,
      signTransaction: async (transaction) => {
        const content = JSON.stringify({ from: address, ...transaction }, plain);
        const raw: Hex = `0x02${createHash("sha256").update(content).digest("hex")}`;
        const known = transactions.get(raw);
        const signed = known ?? { ...transaction, from: address, raw, hash: keccak256(raw) as Hex };
        onSign(signed);
        transactions.set(raw, signed);
        return { raw, hash: signed.hash };
      },
      signTypedData: async (typedData) => {
        const content = JSON.stringify(typedData, plain);
        const signature: Hex = `0x${createHash("sha512").update(content).digest("hex")}1b`;
        onSign(typedData);
        messages.set(signature, typedData);
        return signature;
      },
    }),
  };
}

function plain(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
