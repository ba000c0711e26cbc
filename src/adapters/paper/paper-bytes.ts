import { keccak256 } from "ethers";
import { z } from "zod";
import { type Address, type Hex, isHex, parseAddress } from "../../domain/money/address.ts";
import type { Signer, UnsignedTransaction } from "../../ports/signer.ts";

/** No type of transaction that a chain knows begins with this byte: "p" for paper. */
const PAPER_TYPE = "0x70";

const hex = z.custom<Hex>(isHex);
const amount = z.string().transform(BigInt);
const fields = z.strictObject({
  account: z.string().transform((text) => parseAddress(text) as Address),
  chainId: z.number(),
  nonce: z.number(),
  to: z.string().transform((text) => parseAddress(text) as Address),
  data: hex,
  value: amount,
  gasLimit: amount,
  maxFeePerGas: amount,
  maxPriorityFeePerGas: amount,
});

/** An account on paper: it has no key. Its transactions are written down unsigned, and its orders not at all. */
export function paperSigner(address: Address): Signer {
  return {
    address,
    signTransaction: async (transaction) => writtenDown(address, transaction),
    signTypedData: async () => {
      throw new Error(`the account ${address} is on paper, and was asked for a signature`);
    },
  };
}

function writtenDown(account: Address, transaction: UnsignedTransaction): { raw: Hex; hash: Hex } {
  const text = JSON.stringify({ account, ...transaction }, (_key, part: unknown) =>
    typeof part === "bigint" ? part.toString() : part,
  );
  const raw: Hex = `${PAPER_TYPE}${Buffer.from(text, "utf8").toString("hex")}`;
  return { raw, hash: keccak256(raw) as Hex };
}

/** Reads what a paper account wrote down. @throws Error for anything else: a broken invariant */
export function readPaperBytes(raw: Hex): UnsignedTransaction & { readonly account: Address; readonly hash: Hex } {
  if (!raw.startsWith(PAPER_TYPE)) throw new Error("bytes that were signed reached the paper chain");
  const text = Buffer.from(raw.slice(PAPER_TYPE.length), "hex").toString("utf8");
  return { ...fields.parse(JSON.parse(text)), hash: keccak256(raw) as Hex };
}
