import { Interface } from "ethers";
import type { Address, Hex } from "../../domain/money/address.ts";
import { POOL_KINDS } from "../pools/kinds.ts";
import type { Leg } from "../routing/plan.ts";
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

const ZERO_WORD = `0x${"0".repeat(64)}`;
const NO_PERMIT = { value: 0n, deadline: 0n, v: 0, r: ZERO_WORD, s: ZERO_WORD };

function encodeLegs(legs: readonly Leg[]) {
  return legs.map(({ pool, tokenIn, tokenOut, portion }) => {
    const fee = POOL_KINDS[pool.kind].encodeLeg(pool);
    return { protocol: pool.protocol, pool: pool.address, tokenIn, tokenOut, fee, portion };
  });
}

/** Calldata of a swap that its owner sends himself. */
export function encodeSwap(order: SwapOrder, legs: readonly Leg[]): Hex {
  return SETTLEMENT_INTERFACE.encodeFunctionData("swap", [order, encodeLegs(legs)]) as Hex;
}

/** Calldata of a swap that the relayer sends for its owner. */
export function encodeSwapWithSignature(
  signed: { owner: Address; order: SwapOrder; signature: Hex; permit: SignedPermit | undefined },
  legs: readonly Leg[],
): Hex {
  const { owner, order, signature, permit } = signed;
  const values = [owner, order, encodeLegs(legs), signature, permit ?? NO_PERMIT];
  return SETTLEMENT_INTERFACE.encodeFunctionData("swapWithSignature", values) as Hex;
}

/** Writes revert data as text: the error's name and values, or its first bytes. */
export function describeRevert(data: unknown): string {
  if (typeof data !== "string" || !/^0x[0-9a-f]*$/i.test(data)) return "without a reason";
  if (data === "0x") return "without a reason";
  const known = SETTLEMENT_INTERFACE.parseError(data);
  if (known === null) return `with ${data.slice(0, 10)}`;
  const values = known.fragment.inputs.map((input, index) => `${input.name} ${String(known.args[index])}`);
  return `${known.name}(${values.join(", ")})`;
}
