import { Interface } from "ethers";
import { addressWord, bytesWords, callData, splitBytes, uintWord, type WordText } from "../../chain/at-block/words.ts";
import type { Address, Hex } from "../../domain/money/address.ts";
import { kindOf } from "../pools/kinds.ts";
import type { Hop } from "../routing/plan.ts";
import type { SwapOrder } from "./order.ts";

const SWAP = `(address recipient, address fromAsset, address toAsset, uint256 deadline, uint256 amountOutMin,
  uint256 swapFee, uint256 amountIn, uint256 nonce, address affiliate, uint256 affiliateFee)`;
const LEGS = "(uint8 protocol, address pool, address tokenIn, address tokenOut, uint24 fee, uint64 portion)[]";
const PERMIT = "(uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)";

/** The part of the settlement contract that the service speaks. */
export const SETTLEMENT_INTERFACE = new Interface([
  `function swap(${SWAP} order, ${LEGS} route) payable returns (uint256 amountOut)`,
  `function swapWithSignature(address owner, ${SWAP} order, ${LEGS} route, bytes signature, ${PERMIT} permit)
    returns (uint256 amountOut)`,
  "function isNonceUsed(address owner, uint256 nonce) view returns (bool)",
  `event Swapped(address indexed owner, uint256 indexed nonce, address indexed sender, address recipient,
    address fromAsset, address toAsset, uint256 amountIn, uint256 amountOut, uint256 swapFee, address affiliate,
    uint256 affiliateFee)`,
  "event NonceCancelled(address indexed owner, uint256 indexed nonce)",
  "error DeadlinePassed(uint256 deadline, uint256 timestamp)",
  "error OutputBelowMinimum(uint256 amountOut, uint256 amountOutMin)",
  "error NonceUsed(address owner, uint256 nonce)",
  "error WrongSigner(address signer, address owner)",
  "error AllowanceTooLow(uint256 allowance, uint256 needed)",
  "error WrongNativeValue(uint256 value, uint256 expected)",
  "error NativeTransferFailed(address to, uint256 amount)",
  "error NotFunded(address token, uint256 balance, uint256 amount)",
  "error LegWithoutInput(uint256 leg, address tokenIn)",
  "error CallbackOverdrawn(uint256 amount, uint256 maximum)",
  "error UnknownPool(uint256 leg, address pool, address expected)",
  "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
  "error SafeERC20FailedOperation(address token)",
  "error Error(string reason)",
  "error Panic(uint256 code)",
]);

/** A permit signature with what it signs; undefined stands for no permit. */
export interface SignedPermit {
  readonly value: bigint;
  readonly deadline: bigint;
  readonly v: number;
  readonly r: Hex;
  readonly s: Hex;
}

const ZERO_WORD: Hex = `0x${"0".repeat(64)}`;
const NO_PERMIT: SignedPermit = { value: 0n, deadline: 0n, v: 0, r: ZERO_WORD, s: ZERO_WORD };

const SWAP_SELECTOR = selectorOf("swap");
const SWAP_WITH_SIGNATURE_SELECTOR = selectorOf("swapWithSignature");

const WORD_BYTES = 32;

function selectorOf(name: string): Hex {
  const fragment = SETTLEMENT_INTERFACE.getFunction(name);
  if (fragment === null) throw new Error(`the settlement has no function ${name}`);
  return fragment.selector as Hex;
}

function orderWords(order: SwapOrder): readonly WordText[] {
  return [
    addressWord(order.recipient),
    addressWord(order.fromAsset),
    addressWord(order.toAsset),
    uintWord(order.deadline, 256),
    uintWord(order.amountOutMin, 256),
    uintWord(order.swapFee, 256),
    uintWord(order.amountIn, 256),
    uintWord(order.nonce, 256),
    addressWord(order.affiliate),
    uintWord(order.affiliateFee, 256),
  ];
}

/** What the settlement reads as a hop's fee: each kind of pool has a number of its own there. */
export function feeOfHop(pool: Hop["pool"]): bigint {
  const { leg, source } = kindOf(pool);
  if (leg === undefined) throw new Error(`our executor has no branch for pools of ${source}, such as ${pool.address}`);
  return BigInt(leg.fee(pool));
}

/** An array of hops: how many, then six words each. */
function hopsWords(hops: readonly Hop[]): readonly WordText[] {
  const words = hops.flatMap(({ pool, tokenIn, tokenOut, portion }) => [
    uintWord(pool.protocol, 8),
    addressWord(pool.address),
    addressWord(tokenIn),
    addressWord(tokenOut),
    uintWord(feeOfHop(pool), 24),
    uintWord(portion, 64),
  ]);
  return [uintWord(hops.length, 256), ...words];
}

function permitWords({ value, deadline, v, r, s }: SignedPermit): readonly WordText[] {
  return [uintWord(value, 256), uintWord(deadline, 256), uintWord(v, 8), ...splitBytes(r), ...splitBytes(s)];
}

/** Calldata of a swap that its owner sends himself. Every quote is encoded, so it is laid out by hand. */
export function encodeSwap(order: SwapOrder, hops: readonly Hop[]): Hex {
  const fixed = orderWords(order);
  const hopsAt = (fixed.length + 1) * WORD_BYTES;
  return callData(SWAP_SELECTOR, ...fixed, uintWord(hopsAt, 256), ...hopsWords(hops));
}

/** Calldata of a swap that the relayer sends for its owner. */
export function encodeSwapWithSignature(
  signed: { owner: Address; order: SwapOrder; signature: Hex; permit: SignedPermit | undefined },
  hops: readonly Hop[],
): Hex {
  const before = [addressWord(signed.owner), ...orderWords(signed.order)];
  const permit = permitWords(signed.permit ?? NO_PERMIT);
  const route = hopsWords(hops);
  // Two words between them say where the route and the signature begin.
  const routeAt = (before.length + 2 + permit.length) * WORD_BYTES;
  const signatureAt = routeAt + route.length * WORD_BYTES;
  const places = [uintWord(routeAt, 256), uintWord(signatureAt, 256)];
  const signature = bytesWords(signed.signature);
  return callData(SWAP_WITH_SIGNATURE_SELECTOR, ...before, ...places, ...permit, ...route, ...signature);
}

/** Reasons are shown to people and kept in rows; a contract may revert with a text of any length. */
const LONGEST_REASON = 300;
/** Digits of revert data that are read; of longer data only the first bytes are shown. */
const LONGEST_REVERT_DATA = 20_000;

/** Writes revert data as text: the error's name and values, or its first bytes. Any contract may have written the data. */
export function describeRevert(data: unknown): string {
  if (typeof data !== "string" || data === "0x") return "without a reason";
  // A contract may revert with megabytes: what is too long to be read is not looked through either.
  if (!/^0x(?:[0-9a-f]{2})*$/i.test(data.slice(0, LONGEST_REVERT_DATA))) return "without a reason";
  const text = knownError(data) ?? `with ${data.slice(0, 10)}`;
  return text.length > LONGEST_REASON ? `${text.slice(0, LONGEST_REASON)}...` : text;
}

/** The error's name and values; undefined when it is none that is known, or says that it is one and is not. */
function knownError(data: string): string | undefined {
  if (data.length > LONGEST_REVERT_DATA) return undefined;
  try {
    const known = SETTLEMENT_INTERFACE.parseError(data);
    if (known === null) return undefined;
    const values = known.fragment.inputs.map((input, index) => `${input.name} ${printable(known.args[index])}`.trim());
    return `${known.name}(${values.join(", ")})`;
  } catch {
    // The library throws in many ways at data that is cut or points beyond its end: its selector is all that is known.
    return undefined;
  }
}

function printable(value: unknown): string {
  return String(value).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "?");
}
