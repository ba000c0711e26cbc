import { Interface } from "ethers";
import type {
  DecodedSwap,
  Decoding,
  PinnedSettlement,
  ProposedTransaction,
  RouteLeg,
} from "../../../domain/guard/decoded-swap.ts";
import { oneContract } from "../../../domain/guard/swap-contracts.ts";
import type { TypedData } from "../../../domain/guard/typed-data.ts";
import { type Address, type Hex, NATIVE_TOKEN, parseAddress } from "../../../domain/money/address.ts";
import { mulDivDown } from "../../../domain/money/amount.ts";
import type { ChainLog } from "../../../ports/chain.ts";
import type { RecordedFill, ServiceProfile } from "../../../ports/swap-service.ts";
import { buildTypedSwap, decodeTypedSwap, type TypedSwapPin } from "../wire/typed-swap.ts";

const PIN: TypedSwapPin = { domain: { name: "swapd", version: "1" }, hasNonce: true };

const ORDER =
  "(address recipient, address fromAsset, address toAsset, uint256 deadline, uint256 amountOutMin, uint256 swapFee," +
  " uint256 amountIn, uint256 nonce, address affiliate, uint256 affiliateFee) order";
const ROUTE = "(uint8 protocol, address pool, address tokenIn, address tokenOut, uint24 fee, uint64 portion)[] route";

/** The parts of the settlement contract's interface that are used here. */
const SETTLEMENT = new Interface([
  `function swap(${ORDER}, ${ROUTE}) payable returns (uint256 amountOut)`,
  "function isNonceUsed(address owner, uint256 nonce) view returns (bool)",
  "event Swapped(address indexed owner, uint256 indexed nonce, address indexed sender, address recipient," +
    " address fromAsset, address toAsset, uint256 amountIn, uint256 amountOut, uint256 swapFee, address affiliate," +
    " uint256 affiliateFee)",
  "event NonceCancelled(address indexed owner, uint256 indexed nonce)",
]);

const IS_NONCE_USED = selectorOf("isNonceUsed");
const SWAPPED = topicOf("Swapped");
const NONCE_CANCELLED = topicOf("NonceCancelled");

function selectorOf(name: string): Hex {
  const found = SETTLEMENT.getFunction(name);
  if (found === null) throw new Error(`the settlement contract has no function ${name}`);
  return found.selector as Hex;
}

function topicOf(name: string): Hex {
  const found = SETTLEMENT.getEvent(name);
  if (found === null) throw new Error(`the settlement contract has no event ${name}`);
  return found.topicHash as Hex;
}

/** Our own aggregation service: signatures carry a nonce, `execute-swap` is idempotent by quote id. */
export const swapdProfile: ServiceProfile = {
  name: "swapd",
  idempotentExecuteSwap: true,
  signatureHasNonce: true,
  expectedLimits: { keyless: 50, keyed: 200 },
  decodeTypedData: decodeSignedSwap,
  decodeTransaction: decodeSwapCall,
  typedData: (swap, pinned) => buildTypedSwap(PIN, swap, pinned),
  trialOfOrder: encodeOwnSwap,
  nonceRecord: {
    at: "verifyingContract",
    usedCall: (owner, nonce) => `${IS_NONCE_USED}${ownerWord(owner)}${nonceWord(nonce)}`,
    isUsed: readBool,
    fillTopics: (owner, nonce) => [SWAPPED, `0x${ownerWord(owner)}`, `0x${nonceWord(nonce)}`],
    readFill: readSwapped,
    cancelTopics: (owner, nonce) => [NONCE_CANCELLED, `0x${ownerWord(owner)}`, `0x${nonceWord(nonce)}`],
  },
};

/**
 * The order as its owner's own call: without the relayer's fee, and without a nonce, which only signatures have. The
 * affiliate keeps its share: its fee itself could be more than the contract allows of the smaller gross amount.
 */
function encodeOwnSwap(swap: DecodedSwap, route: readonly RouteLeg[]): Hex {
  const { recipient, fromAsset, toAsset, deadline, amountOutMin, amountIn, swapFee } = swap;
  const affiliate = swap.affiliate ?? { address: NATIVE_TOKEN, fee: 0n };
  const affiliateFee = affiliate.fee === 0n ? 0n : mulDivDown(affiliate.fee, amountIn, amountIn + swapFee);
  const order = [recipient, fromAsset, toAsset, deadline, amountOutMin, 0n, amountIn, 0n];
  const legs = route.map(({ protocol, pool, tokenIn, tokenOut, fee, portion }) => [
    ...[protocol, pool, tokenIn, tokenOut, fee, portion],
  ]);
  return SETTLEMENT.encodeFunctionData("swap", [[...order, affiliate.address, affiliateFee], legs]) as Hex;
}

/** The contract's events name a signed swap by its nonce, and all self-executed ones by zero: one of them would be taken for it. */
function decodeSignedSwap(typedData: TypedData, pinned: PinnedSettlement): Decoding {
  const decoding = decodeTypedSwap(PIN, typedData, pinned);
  if (!decoding.ok || decoding.swap.nonce !== 0n) return decoding;
  return { ok: false, problem: "the message has the nonce 0, by which self-executed swaps go" };
}

/** The words of an owner and a nonce, laid out by hand: the library takes a millisecond for them at each look at a swap. */
function ownerWord(owner: Address): string {
  return owner.slice(2).padStart(64, "0");
}

function nonceWord(nonce: bigint): string {
  return nonce.toString(16).padStart(64, "0");
}

/**
 * Reads a call of `swap(order, route)`. What was read is encoded again and must give the same bytes, so nothing hides
 * in padding, in reordered tails or behind the end. The route itself is bound by simulation and by `amountOutMin`.
 */
function decodeSwapCall(transaction: ProposedTransaction, _pinned: PinnedSettlement): Decoding {
  const selector = SETTLEMENT.getFunction("swap")?.selector;
  if (transaction.data.slice(0, 10) !== selector) {
    return { ok: false, problem: `the selector is ${transaction.data.slice(0, 10)}, only swap (${selector}) is known` };
  }
  let order: Record<string, unknown>;
  try {
    const call = SETTLEMENT.decodeFunctionData("swap", transaction.data);
    if (SETTLEMENT.encodeFunctionData("swap", call) !== transaction.data) {
      return { ok: false, problem: "the calldata of swap carries bytes that its arguments do not explain" };
    }
    order = call[0].toObject();
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 80) : "not the ABI of swap";
    return { ok: false, problem: `the calldata of swap cannot be decoded: ${reason}` };
  }
  return readOrder(order, transaction);
}

function readOrder(order: Record<string, unknown>, transaction: ProposedTransaction): Decoding {
  const number = (name: string): bigint => order[name] as bigint;
  const address = (name: string): Address => parseAddress(order[name]) ?? NATIVE_TOKEN;
  if (number("nonce") !== 0n) return { ok: false, problem: `a self-executed swap has nonce 0, not ${number("nonce")}` };
  const affiliate = { address: address("affiliate"), fee: number("affiliateFee") };
  const swap: DecodedSwap = {
    contracts: oneContract(transaction.to),
    sender: undefined,
    recipient: address("recipient"),
    fromAsset: address("fromAsset"),
    toAsset: address("toAsset"),
    deadline: number("deadline"),
    amountOutMin: number("amountOutMin"),
    swapFee: number("swapFee"),
    amountIn: number("amountIn"),
    nonce: undefined,
    affiliate: affiliate.address === NATIVE_TOKEN && affiliate.fee === 0n ? undefined : affiliate,
    permitValue: undefined,
  };
  return { ok: true, swap };
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

/** @throws Error when the answer is no ABI boolean: no contract, or another one, stands at the pinned address */
function readBool(answer: Hex): boolean {
  if (!/^0x0{63}[01]$/.test(answer))
    throw new Error(`isNonceUsed answered ${answer.slice(0, 80)}, which is no boolean`);
  return answer.endsWith("1");
}
