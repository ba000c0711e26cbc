import type { DecodedSwap, Decoding, PinnedSettlement } from "../../../domain/guard/decoded-swap.ts";
import { oneContract } from "../../../domain/guard/swap-contracts.ts";
import type { TypedData } from "../../../domain/guard/typed-data.ts";
import { type Field, type MessagePin, pinnedTypedData, readPinnedMessage } from "../pinned-message.ts";

/** What a service that speaks the service interface pins of its swap signature. */
export interface TypedSwapPin {
  readonly domain: { readonly name: string; readonly version: string };
  readonly hasNonce: boolean;
}

const COMMON_FIELDS: readonly Field[] = [
  { name: "router", type: "address" },
  { name: "sender", type: "address" },
  { name: "recipient", type: "address" },
  { name: "fromAsset", type: "address" },
  { name: "toAsset", type: "address" },
  { name: "deadline", type: "uint256" },
  { name: "amountOutMin", type: "uint256" },
  { name: "swapFee", type: "uint256" },
  { name: "amountIn", type: "uint256" },
];
const NONCE_FIELD: Field = { name: "nonce", type: "uint256" };
const AFFILIATE_FIELDS: readonly Field[] = [
  { name: "affiliate", type: "address" },
  { name: "affiliateFee", type: "uint256" },
];

/** The pinned fields, in their order, of a signature with or without an affiliate. */
function swapFields(pin: TypedSwapPin, withAffiliate: boolean): readonly Field[] {
  return [...COMMON_FIELDS, ...(pin.hasNonce ? [NONCE_FIELD] : []), ...(withAffiliate ? AFFILIATE_FIELDS : [])];
}

function messagePin(pin: TypedSwapPin): MessagePin {
  return { domain: pin.domain, primaryType: "Swap", forms: [swapFields(pin, false), swapFields(pin, true)] };
}

/** Reads typed data that must be exactly the pinned one. */
export function decodeTypedSwap(pin: TypedSwapPin, typedData: TypedData, pinned: PinnedSettlement): Decoding {
  const message = readPinnedMessage(messagePin(pin), typedData, pinned);
  if (!message.ok) return message;
  const { address, number, has, verifyingContract } = message;
  return {
    ok: true,
    swap: {
      contracts: { ...oneContract(address("router")), verifyingContract },
      sender: address("sender"),
      recipient: address("recipient"),
      fromAsset: address("fromAsset"),
      toAsset: address("toAsset"),
      deadline: number("deadline"),
      amountOutMin: number("amountOutMin"),
      swapFee: number("swapFee"),
      amountIn: number("amountIn"),
      nonce: has("nonce") ? number("nonce") : undefined,
      affiliate: has("affiliate") ? { address: address("affiliate"), fee: number("affiliateFee") } : undefined,
      permitValue: undefined,
    },
  };
}

/**
 * Builds the typed data to sign from bound fields and the pin alone.
 * @throws Error when a field that the type needs is missing: the swap was not bound for this profile
 */
export function buildTypedSwap(pin: TypedSwapPin, swap: DecodedSwap, pinned: PinnedSettlement): TypedData {
  const { target: router } = swap.contracts;
  if (router === undefined) throw new Error("a swap signature needs its router; this swap names none");
  if (swap.sender === undefined) throw new Error("a swap signature needs its sender; this swap names none");
  if (pin.hasNonce && swap.nonce === undefined) throw new Error("a swap signature needs its nonce; this swap has none");
  const message: Record<string, string> = {
    router,
    sender: swap.sender,
    recipient: swap.recipient,
    fromAsset: swap.fromAsset,
    toAsset: swap.toAsset,
    deadline: swap.deadline.toString(),
    amountOutMin: swap.amountOutMin.toString(),
    swapFee: swap.swapFee.toString(),
    amountIn: swap.amountIn.toString(),
  };
  if (swap.nonce !== undefined && pin.hasNonce) message.nonce = swap.nonce.toString();
  if (swap.affiliate !== undefined) {
    message.affiliate = swap.affiliate.address;
    message.affiliateFee = swap.affiliate.fee.toString();
  }
  return pinnedTypedData(messagePin(pin), swapFields(pin, swap.affiliate !== undefined), { message, pinned });
}
