import { id } from "ethers";
import { type Address, type Hex, NATIVE_TOKEN, toAddress } from "../domain/money/address.ts";

/** A log as a node gives it. */
export interface ChainLog {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly logIndex: number;
  readonly transactionHash: Hex;
  readonly blockNumber: number;
}

/** A movement of tokens that an event reports. Wrapping and unwrapping move tokens from and to nobody. */
export interface Transfer {
  readonly token: Address;
  readonly from: Address | undefined;
  readonly to: Address | undefined;
  readonly amount: bigint;
  readonly hash: Hex;
  readonly blockNumber: number;
}

/** The settlement contract's statement about a fill. */
export interface SwappedEvent {
  readonly contract: Address;
  readonly owner: Address;
  readonly nonce: bigint;
  readonly recipient: Address;
  readonly fromAsset: Address;
  readonly toAsset: Address;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly swapFee: bigint;
  readonly affiliateFee: bigint;
  readonly hash: Hex;
  readonly blockNumber: number;
}

/** ERC-20. */
export const TRANSFER = id("Transfer(address,address,uint256)") as Hex;
export const APPROVAL = id("Approval(address,address,uint256)") as Hex;
/**
 * The wrapped native token (WETH9) reports wrapping and unwrapping by these instead of by transfers; some report transfers
 * from and to the zero address (Arbitrum's).
 */
export const DEPOSIT = id("Deposit(address,uint256)") as Hex;
export const WITHDRAWAL = id("Withdrawal(address,uint256)") as Hex;

/** A Safe's own word that its owners executed something: the hash is its first argument, indexed in later versions. */
export const EXECUTED = id("ExecutionSuccess(bytes32,uint256)") as Hex;
/** Its word that a module acted for its owners. */
export const EXECUTED_BY_MODULE = id("ExecutionFromModuleSuccess(address)") as Hex;

/** The settlement contract's. */
export const SWAPPED = id(
  "Swapped(address,uint256,address,address,address,address,uint256,uint256,uint256,address,uint256)",
) as Hex;

const OF_MATTER: ReadonlySet<Hex> = new Set([TRANSFER, DEPOSIT, WITHDRAWAL, SWAPPED, EXECUTED, EXECUTED_BY_MODULE]);

const WORD_HEX_DIGITS = 64;

/** An address as an indexed event parameter. */
export function topicOf(address: Address): Hex {
  return `0x${address.slice(2).padStart(WORD_HEX_DIGITS, "0")}`;
}

/**
 * Reads a movement of tokens. Movements of nothing are left out: anybody can make a token say that nothing left a
 * wallet. Events of other shapes (those of ERC-721, for one) are left out too.
 */
export function readTransfer(log: ChainLog, wrappedNative: Address): Transfer | undefined {
  const [kind, first, second] = log.topics;
  const amount = wordOf(log.data);
  if (amount === undefined || amount === 0n || first === undefined) return undefined;
  const common = { token: log.address, amount, hash: log.transactionHash, blockNumber: log.blockNumber };
  if (kind === TRANSFER && second !== undefined && log.topics.length === 3) {
    const [from, to] = [addressOf(first), addressOf(second)];
    const isUnwrapping = log.address === wrappedNative && to === NATIVE_TOKEN;
    return { ...common, from, to: isUnwrapping ? undefined : to };
  }
  if (log.address !== wrappedNative || log.topics.length !== 2) return undefined;
  if (kind === DEPOSIT) return { ...common, from: undefined, to: addressOf(first) };
  if (kind === WITHDRAWAL) return { ...common, from: addressOf(first), to: undefined };
  return undefined;
}

/** Reads who was allowed to spend whose tokens. */
export function readApproval(log: ChainLog): { token: Address; owner: Address; spender: Address } | undefined {
  const [kind, owner, spender] = log.topics;
  if (kind !== APPROVAL || owner === undefined || spender === undefined || log.topics.length !== 3) return undefined;
  return { token: log.address, owner: addressOf(owner), spender: addressOf(spender) };
}

/**
 * Reads a fill as the settlement contract reports it: owner, nonce and sender are topics; recipient, sold and bought token,
 * amount in, amount out, swap fee, affiliate and affiliate fee follow as words.
 */
export function readSwapped(log: ChainLog): SwappedEvent | undefined {
  const [kind, owner, nonce] = log.topics;
  if (kind !== SWAPPED || owner === undefined || nonce === undefined || log.topics.length !== 4) return undefined;
  const words = log.data.slice(2).match(/.{64}/g) ?? [];
  const [recipient, fromAsset, toAsset, amountIn, amountOut, swapFee, affiliate, affiliateFee] = words;
  if (affiliate === undefined || affiliateFee === undefined) return undefined;
  return {
    contract: log.address,
    owner: addressOf(owner),
    nonce: BigInt(nonce),
    recipient: addressOf(recipient),
    fromAsset: addressOf(fromAsset),
    toAsset: addressOf(toAsset),
    amountIn: BigInt(`0x${amountIn}`),
    amountOut: BigInt(`0x${amountOut}`),
    swapFee: BigInt(`0x${swapFee}`),
    affiliateFee: BigInt(`0x${affiliateFee}`),
    hash: log.transactionHash,
    blockNumber: log.blockNumber,
  };
}

/** What else a receipt reports is of no matter here, and takes up room. */
export function isOfMatter({ topics }: Pick<ChainLog, "topics">): boolean {
  return topics[0] !== undefined && OF_MATTER.has(topics[0]);
}

function wordOf(data: Hex): bigint | undefined {
  return data.length === 2 + WORD_HEX_DIGITS ? BigInt(data) : undefined;
}

function addressOf(word = ""): Address {
  return toAddress(`0x${word.slice(-40).toLowerCase()}`);
}
