import { type Signature, Transaction, toQuantity } from "ethers";
import { type Address, type Hex, toAddress } from "../../domain/money/address.ts";
import type { UnsignedTransaction } from "../../ports/signer.ts";
import { isLowS } from "./signature.ts";

/** The transaction as a signer is asked for it. One like web3signer takes the chain id of its own start, whatever stands here. */
export function askedTransaction(fields: UnsignedTransaction, from: Address): Readonly<Record<string, string>> {
  return {
    from,
    to: fields.to,
    nonce: toQuantity(fields.nonce),
    gas: toQuantity(fields.gasLimit),
    value: toQuantity(fields.value),
    data: fields.data,
    maxFeePerGas: toQuantity(fields.maxFeePerGas),
    maxPriorityFeePerGas: toQuantity(fields.maxPriorityFeePerGas),
    chainId: toQuantity(fields.chainId),
  };
}

/** What a signer's answer is worth. */
export type JudgedTransaction =
  | { readonly kind: "as asked"; readonly raw: Hex; readonly hash: Hex }
  | { readonly kind: "different"; readonly detail: string };

const HEX = /^0x(?:[0-9a-f]{2})+$/;

/**
 * Judges what a signer answered: our own fields with its signature have to be the bytes that it gave, so that no field
 * can be another one, and the signature has to be the account's.
 */
export function judgeTransaction(answer: unknown, fields: UnsignedTransaction, account: Address): JudgedTransaction {
  const raw = typeof answer === "string" ? answer.toLowerCase() : "";
  const signed = HEX.test(raw) ? parsed(raw) : undefined;
  if (signed === undefined) return different("its answer is no signed transaction");
  const { signature } = signed;
  if (signature === null) return different("its transaction has no signature");
  const names = differences(signed, fields);
  if (names.length > 0) return different(`it signed another transaction: ${names.join(", ")}`);
  if (!isLowS(signature._s)) return different("its signature has a high s, which no block takes");
  const ours = withSignature(fields, signature);
  if (ours?.raw !== raw) return different("its bytes are not those of the transaction with its signature");
  if (ours.from !== account) return different(`its signature is by ${ours.from}, not by ${account}`);
  return { kind: "as asked", raw: ours.raw, hash: ours.hash };
}

/** Our own fields with a signature, and whose it is; undefined for numbers that no key signs with. */
function withSignature(
  fields: UnsignedTransaction,
  signature: Signature,
): { readonly raw: Hex; readonly hash: Hex; readonly from: Address } | undefined {
  try {
    const ours = Transaction.from({ type: 2, ...unsigned(fields) });
    ours.signature = signature;
    const { from, hash, serialized } = ours;
    return from === null ? undefined : { raw: serialized as Hex, hash: hash as Hex, from: toAddress(from) };
  } catch {
    return undefined;
  }
}

function different(detail: string): JudgedTransaction {
  return { kind: "different", detail };
}

function unsigned({ chainId, nonce, to, data, value, gasLimit, ...fees }: UnsignedTransaction) {
  const { maxFeePerGas, maxPriorityFeePerGas } = fees;
  return { chainId, nonce, to, data, value, gasLimit, maxFeePerGas, maxPriorityFeePerGas };
}

/** What the bytes are; undefined where they are no transaction. The library's words for that help nobody. */
function parsed(raw: string): Transaction | undefined {
  try {
    return Transaction.from(raw);
  } catch {
    return undefined;
  }
}

/** The fields that are not as asked, for people. Whether there is any is decided by the bytes. */
function differences(signed: Transaction, asked: UnsignedTransaction): readonly string[] {
  const { to, data, accessList } = signed;
  const found: readonly (readonly [string, unknown, unknown])[] = [
    ["type", signed.type, 2],
    ["chainId", signed.chainId, BigInt(asked.chainId)],
    ["nonce", signed.nonce, asked.nonce],
    ["to", to?.toLowerCase() ?? "a new contract", asked.to],
    ["value", signed.value, asked.value],
    ["data", data, asked.data.toLowerCase()],
    ["gas", signed.gasLimit, asked.gasLimit],
    ["maxFeePerGas", signed.maxFeePerGas, asked.maxFeePerGas],
    ["maxPriorityFeePerGas", signed.maxPriorityFeePerGas, asked.maxPriorityFeePerGas],
    ["accessList", accessList?.length ?? 0, 0],
  ];
  return found.flatMap(([name, is, was]) => (is === was ? [] : [`${name} is ${shown(is)}, asked was ${shown(was)}`]));
}

const LONGEST_SHOWN = 50;

function shown(value: unknown): string {
  const text = String(value);
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}... (${text.length} characters)` : text;
}
