import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";

/** A swap as the settlement contract takes it; amounts in the smallest unit, `deadline` in Unix seconds. */
export interface SwapOrder {
  readonly recipient: Address;
  readonly fromAsset: Address;
  readonly toAsset: Address;
  readonly deadline: bigint;
  readonly amountOutMin: bigint;
  readonly swapFee: bigint;
  readonly amountIn: bigint;
  readonly nonce: bigint;
  /** zero address and fee 0: no affiliate */
  readonly affiliate: Address;
  readonly affiliateFee: bigint;
}

/** The settlement contract's own cap on the affiliate's part of the gross amount, `MAX_AFFILIATE_FEE_BPS` of `BPS`. */
export const MAX_AFFILIATE_BPS = 300n;
export const BPS = 10_000n;

/** Where orders settle and how signatures name it. */
export interface Settlement {
  readonly chainId: number;
  readonly address: Address;
}

interface Field {
  readonly name: string;
  readonly type: string;
}

/** EIP-712 typed data as the interface writes it: without EIP712Domain, the chain id and all numbers as decimal text. */
export interface WireTypedData {
  readonly domain: Readonly<Record<string, string>>;
  readonly types: Readonly<Record<string, readonly Field[]>>;
  readonly primaryType: string;
  readonly message: Readonly<Record<string, string>>;
}

const SWAP_FIELDS: readonly Field[] = [
  { name: "router", type: "address" },
  { name: "sender", type: "address" },
  { name: "recipient", type: "address" },
  { name: "fromAsset", type: "address" },
  { name: "toAsset", type: "address" },
  { name: "deadline", type: "uint256" },
  { name: "amountOutMin", type: "uint256" },
  { name: "swapFee", type: "uint256" },
  { name: "amountIn", type: "uint256" },
  { name: "nonce", type: "uint256" },
];

const AFFILIATE_FIELDS: readonly Field[] = [
  { name: "affiliate", type: "address" },
  { name: "affiliateFee", type: "uint256" },
];

/** The EIP-712 domain of the settlement contract. */
export function settlementDomain({ chainId, address }: Settlement) {
  return { name: "swapd", version: "1", chainId: chainId.toString(), verifyingContract: address };
}

/** What leaves the owner. */
export function grossAmount(order: SwapOrder): bigint {
  return order.amountIn + order.swapFee + order.affiliateFee;
}

/**
 * The typed data of an order.
 * @param sender the only account that may bring the order to the contract
 */
export function swapTypedData(order: SwapOrder, settlement: Settlement, sender: Address): WireTypedData {
  const hasAffiliate = order.affiliate !== NATIVE_TOKEN;
  const message = {
    router: settlement.address,
    sender,
    recipient: order.recipient,
    fromAsset: order.fromAsset,
    toAsset: order.toAsset,
    deadline: order.deadline.toString(),
    amountOutMin: order.amountOutMin.toString(),
    swapFee: order.swapFee.toString(),
    amountIn: order.amountIn.toString(),
    nonce: order.nonce.toString(),
  };
  const affiliate = { affiliate: order.affiliate, affiliateFee: order.affiliateFee.toString() };
  return {
    domain: settlementDomain(settlement),
    types: { Swap: hasAffiliate ? [...SWAP_FIELDS, ...AFFILIATE_FIELDS] : SWAP_FIELDS },
    primaryType: "Swap",
    message: hasAffiliate ? { ...message, ...affiliate } : message,
  };
}
