import { addressWord, callData, firstWord } from "../../chain/at-block/words.ts";
import { type JsonRpc, RpcError } from "../../chain/json-rpc.ts";
import { isFailedCall } from "../../chain/node-errors.ts";
import type { Address } from "../../domain/money/address.ts";
import { type Refusal, refuse } from "../errors/errors.ts";
import type { SettledNetwork } from "../options.ts";
import { SELECTOR } from "../pools/selectors.ts";
import type { Quote } from "../quotes/quote.ts";
import type { Tokens } from "../quotes/tokens.ts";
import type { SignedPermit } from "../settlement/calldata.ts";
import { grossAmount, swapTypedData } from "../settlement/order.ts";
import { parseSignature, permitTypedData, readCalled, recoverSigner } from "../settlement/permit.ts";

/** A gasless swap to execute: what `/user-manager/execute-swap` takes. */
export interface ExecuteRequest {
  readonly quoteId: string;
  readonly swapSignature: `0x${string}`;
  /** `deadline` in Unix seconds */
  readonly permit: { readonly signature: `0x${string}`; readonly deadline: bigint } | undefined;
}

/** Whether the owner signed exactly this quote, for this relayer. */
export function checkSwapSignature(
  quote: Quote & { readonly owner: Address; readonly sender: Address },
  signature: `0x${string}`,
  network: SettledNetwork,
): Refusal | undefined {
  const settlement = { chainId: network.chainId, address: network.settlement };
  const signer = recoverSigner(swapTypedData(quote.order, settlement, quote.sender), signature);
  if (signer === quote.owner) return undefined;
  const detail = signer === undefined ? "it is no canonical 65-byte signature" : `it is one of ${signer}`;
  return refuse("SWAP_SIGNATURE_INVALID", { parameter: "swapSignature", detail });
}

/** A permit that will work, or none where none is needed. */
export type PermitCheck = { readonly kind: "ok"; readonly permit: SignedPermit | undefined } | Refusal;

/**
 * Checks a permit against the token itself, now: its domain, its nonce for the owner, the gross amount. It has to hold as
 * long as the order: one that ends before would pass every simulation and fail in the block, at the relayer's expense.
 */
export async function checkPermit(
  quote: Quote & { readonly owner: Address },
  given: ExecuteRequest["permit"],
  context: { rpc: JsonRpc; tokens: Tokens; network: SettledNetwork },
): Promise<PermitCheck> {
  const { rpc, network } = context;
  const { owner, order } = quote;
  const value = grossAmount(order);
  const spender = network.settlement;
  const [allowance, nonce] = await Promise.all([
    readWord(rpc, order.fromAsset, callData(SELECTOR.allowance, addressWord(owner), addressWord(spender))),
    readWord(rpc, order.fromAsset, callData(SELECTOR.nonces, addressWord(owner))),
  ]);
  const enough = (allowance ?? 0n) >= value;
  if (given === undefined) {
    if (enough) return { kind: "ok", permit: undefined };
    return refuse("PERMIT_MISSING", {
      parameter: "permitSignature",
      detail: `allowance ${allowance}, needed ${value}`,
    });
  }
  const { deadline } = given;
  if (deadline < order.deadline) {
    const detail = `it holds until ${deadline}, and the order until ${order.deadline}`;
    return refuse("PERMIT_EXPIRED", { parameter: "permitDeadline", detail });
  }
  const support = await context.tokens.permitSupport(order.fromAsset);
  const signature = parseSignature(given.signature);
  if (support.kind !== "eip-2612" || nonce === undefined || signature === undefined) {
    return refuse("PERMIT_SIGNATURE_INVALID", { parameter: "permitSignature" });
  }
  const signed = [nonce, nonce - 1n].find((candidate) => {
    if (candidate < 0n) return false;
    const terms = { owner, spender, value, nonce: candidate, deadline };
    return recoverSigner(permitTypedData(support.domain, terms), given.signature) === owner;
  });
  if (signed === undefined) return refuse("PERMIT_SIGNATURE_INVALID", { parameter: "permitSignature" });
  // Anyone may have brought the permit to the token already; then its nonce is used and the allowance is there.
  if (signed < nonce && !enough) {
    const detail = `it has nonce ${signed}, which is used: the next one is ${nonce}; ask for a new quote`;
    return refuse("PERMIT_SIGNATURE_INVALID", { parameter: "permitSignature", detail });
  }
  const { v, r, s } = signature;
  return { kind: "ok", permit: { value, deadline, v, r: r as `0x${string}`, s: s as `0x${string}` } };
}

/** One word of a view at the newest block; undefined when the token has no such view. */
async function readWord(rpc: JsonRpc, to: Address, data: `0x${string}`): Promise<bigint | undefined> {
  const [answer] = await rpc.batch([{ method: "eth_call", params: [{ to, data }, "latest"] }]);
  if (answer instanceof RpcError) {
    if (!isFailedCall(answer)) throw answer;
    return undefined;
  }
  return firstWord(readCalled(rpc, answer));
}

/** What a wallet has now of what it sells, smallest unit. @throws RpcError when the node does not answer */
export async function readBalance(
  rpc: JsonRpc,
  { wallet, fromToken }: { wallet: Address; fromToken: Address },
): Promise<bigint> {
  return (await readWord(rpc, fromToken, callData(SELECTOR.balanceOf, addressWord(wallet)))) ?? 0n;
}
