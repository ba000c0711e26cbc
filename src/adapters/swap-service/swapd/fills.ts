import { ChainReadError } from "../../../domain/chain-read-error.ts";
import { type Address, type Hex, NATIVE_TOKEN, parseAddress } from "../../../domain/money/address.ts";
import type { ChainLog } from "../../../ports/chain.ts";
import type { NonceRecord, RecordedFill } from "../../../ports/swap-service.ts";
import { selectorOf, topicOf } from "./settlement.ts";

const IS_NONCE_USED = selectorOf("isNonceUsed");
const SWAPPED = topicOf("Swapped");
const NONCE_CANCELLED = topicOf("NonceCancelled");

/** The settlement contract's own record: a used nonce has an event of its fill, or one of its cancellation. */
export const SWAPD_FILLS: NonceRecord = {
  at: "verifyingContract",
  usedCall: (owner, nonce) => `${IS_NONCE_USED}${ownerWord(owner)}${nonceWord(nonce)}`,
  isUsed: readBool,
  fillTopics: (owner, nonce) => [SWAPPED, `0x${ownerWord(owner)}`, `0x${nonceWord(nonce)}`],
  readFill: readSwapped,
  cancelTopics: (owner, nonce) => [NONCE_CANCELLED, `0x${ownerWord(owner)}`, `0x${nonceWord(nonce)}`],
};

/** The words of an owner and a nonce, laid out by hand: the library takes a millisecond for them at each check of a swap. */
function ownerWord(owner: Address): string {
  return owner.slice(2).padStart(64, "0");
}

function nonceWord(nonce: bigint): string {
  return nonce.toString(16).padStart(64, "0");
}

/** `Swapped`: recipient, fromAsset, toAsset, amountIn, amountOut, swapFee, affiliate and affiliateFee are its data. */
function readSwapped({ topics, data }: ChainLog): RecordedFill | undefined {
  const words = data.slice(2).match(/.{64}/g) ?? [];
  const nonce = topics[2];
  const [, from, to, amountIn, amountOut, swapFee, , affiliateFee] = words;
  if (topics[0] !== SWAPPED || nonce === undefined || affiliateFee === undefined) return undefined;
  const number = (word: string | undefined): bigint => BigInt(`0x${word ?? ""}`);
  const address = (word: string | undefined): Address => parseAddress(`0x${(word ?? "").slice(24)}`) ?? NATIVE_TOKEN;
  const sold = number(amountIn) + number(swapFee) + number(affiliateFee);
  return { nonce: BigInt(nonce), sell: address(from), buy: address(to), sold, bought: number(amountOut) };
}

/**
 * @throws ChainReadError when the answer is no ABI boolean: the contract was there at the start, so the node has it not
 * yet, or answers for another chain
 */
function readBool(answer: Hex): boolean {
  if (/^0x0{63}[01]$/.test(answer)) return answer.endsWith("1");
  const shown = answer.slice(0, 80);
  const detail = `isNonceUsed answered ${shown}, which is no boolean: check the RPC endpoint`;
  throw new ChainReadError("malformed answer", detail);
}
