import { recoverAddress, Signature, TypedDataEncoder, type TypedDataField } from "ethers";
import type { TypedData } from "../../domain/guard/typed-data.ts";
import { type Address, type Hex, toAddress } from "../../domain/money/address.ts";

const HALF_OF_THE_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** Whether a signature is the one of two that chains and tokens take (EIP-2). */
export function isLowS(s: string): boolean {
  return BigInt(s) <= HALF_OF_THE_ORDER;
}

/** Typed data as a signer is asked for it, and its digest as we compute it. */
export interface AskedTypedData {
  /** JSON: what every web3signer reads, where those before 25.9.0 fail with an object */
  readonly payload: string;
  readonly digest: Hex;
}

/** @throws Error when the types describe something else than the primary type: a broken invariant */
export function askedTypedData({ domain, types: given, primaryType, message }: TypedData): AskedTypedData {
  const types: Record<string, TypedDataField[]> = {};
  for (const [name, fields] of Object.entries(given)) types[name] = fields.map((field) => ({ ...field }));
  const encoder = TypedDataEncoder.from(types);
  if (encoder.primaryType !== primaryType)
    throw new Error(`the types describe ${encoder.primaryType}, not the requested ${primaryType}: nothing was signed`);
  return {
    payload: JSON.stringify(TypedDataEncoder.getPayload({ ...domain }, types, { ...message })),
    digest: TypedDataEncoder.hash({ ...domain }, types, { ...message }) as Hex,
  };
}

/** What a signer's answer is worth. */
export type JudgedSignature =
  | { readonly kind: "as asked"; readonly signature: Hex }
  | { readonly kind: "different"; readonly detail: string };

const SIGNATURE = /^0x([0-9a-f]{64})([0-9a-f]{64})(00|01|1b|1c)$/;

/** Judges a signature of typed data: it has to be the account's, of the digest that we computed. */
export function judgeSignature(answer: unknown, digest: Hex, account: Address): JudgedSignature {
  const [, r, s, v] = SIGNATURE.exec(typeof answer === "string" ? answer.toLowerCase() : "") ?? [];
  if (r === undefined || s === undefined || v === undefined)
    return { kind: "different", detail: "its answer is no signature of 65 bytes" };
  if (!isLowS(`0x${s}`)) return { kind: "different", detail: "its signature has a high s, which contracts refuse" };
  const parity = v === "00" || v === "1b" ? 0 : 1;
  const by = signerOf(digest, { r: `0x${r}`, s: `0x${s}`, parity });
  if (by?.address !== account) {
    const whose = by === undefined ? "nobody" : by.address;
    return { kind: "different", detail: `its signature of this typed data is by ${whose}, not by ${account}` };
  }
  return { kind: "as asked", signature: by.signature };
}

/** Whose it is; undefined for numbers that no key signs with. */
function signerOf(
  digest: Hex,
  { r, s, parity }: { readonly r: string; readonly s: string; readonly parity: 0 | 1 },
): { readonly address: Address; readonly signature: Hex } | undefined {
  try {
    const signature = Signature.from({ r, s, yParity: parity });
    return { address: toAddress(recoverAddress(digest, signature)), signature: signature.serialized as Hex };
  } catch {
    return undefined;
  }
}
