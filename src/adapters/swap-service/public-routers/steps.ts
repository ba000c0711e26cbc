import { Interface, type Result } from "ethers";
import { type Address, type Hex, NATIVE_TOKEN, parseAddress } from "../../../domain/money/address.ts";
import { readPinnedCall } from "../pinned-call.ts";

/** What legs of a router mean. */
export interface RouterRules {
  /** whom the router takes for itself where a leg names it as the recipient */
  readonly custody: Address;
  /** each leg gives all native coins back that are left then, so that a second one would find none */
  readonly coinsInOneLeg: boolean;
}

/** How a router is told of a swap by calls in one call. Everything else is refused. */
interface PinnedForm extends RouterRules {
  readonly abi: Interface;
  /** the outer call, of which the calls of the swap are the last value */
  readonly multicall: string;
}

/** Recipients that a router takes for the caller (1) and for itself (2) where a leg names them. */
export const CALLER: Address = parseAddress(`0x${"0".repeat(39)}1`) ?? NATIVE_TOKEN;
export const CUSTODY: Address = parseAddress(`0x${"0".repeat(39)}2`) ?? NATIVE_TOKEN;

/** What follows the legs, in both forms alike. */
const ENDS = [
  "function sweepToken(address token, uint256 amountMinimum, address recipient) payable",
  "function unwrapWETH9(uint256 amountMinimum, address recipient) payable",
  "function refundETH() payable",
];

/** What is taken of SwapRouter02, whose names and selectors PancakeSwap's SmartRouter shares: one deadline for all. */
const SWAP_ROUTER_02: PinnedForm = {
  abi: new Interface([
    "function multicall(uint256 deadline, bytes[] data) payable returns (bytes[])",
    "function exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountIn," +
      " uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params) payable returns (uint256)",
    "function exactInput((bytes path, address recipient, uint256 amountIn, uint256 amountOutMinimum) params)" +
      " payable returns (uint256)",
    "function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to)" +
      " payable returns (uint256)",
    ...ENDS,
  ]),
  multicall: "multicall(uint256,bytes[])",
  custody: CUSTODY,
  coinsInOneLeg: false,
};

/** What is taken of Slipstream's SwapRouter: each leg has a deadline of its own. */
const SLIPSTREAM: PinnedForm = {
  abi: new Interface([
    "function multicall(bytes[] data) payable returns (bytes[])",
    "function exactInputSingle((address tokenIn, address tokenOut, int24 tickSpacing, address recipient," +
      " uint256 deadline, uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params)" +
      " payable returns (uint256)",
    "function exactInput((bytes path, address recipient, uint256 deadline, uint256 amountIn," +
      " uint256 amountOutMinimum) params) payable returns (uint256)",
    ...ENDS,
  ]),
  multicall: "multicall(bytes[])",
  custody: NATIVE_TOKEN,
  coinsInOneLeg: true,
};

const MAX_TOKENS_OF_PATH = 9;

/** Tokens of 20 bytes with 3 bytes between them, which tell the pool: its fee or its spacing. */
const PATH = /^0x([0-9a-f]{40})((?:[0-9a-f]{46})+)$/;

/** One leg: an exact amount through pools, to somebody. */
export interface Leg {
  readonly path: readonly Address[];
  readonly recipient: Address;
  readonly amountIn: bigint;
  readonly minimum: bigint;
  /** Unix seconds; undefined where the outer call has it */
  readonly deadline: bigint | undefined;
}

/** What one inner call does. */
export type Step =
  | { readonly kind: "leg"; readonly leg: Leg }
  | { readonly kind: "sweep"; readonly token: Address; readonly minimum: bigint; readonly recipient: Address }
  | { readonly kind: "unwrap"; readonly minimum: bigint; readonly recipient: Address }
  | { readonly kind: "refund" };

/** Ends a reading: these bytes are not the one form that is taken. */
export class NotPinned extends Error {}

/** The calls of a swap. */
export interface ReadCalls {
  readonly form: RouterRules;
  /** Unix seconds; undefined where the legs have it */
  readonly deadline: bigint | undefined;
  readonly steps: readonly Step[];
}

/**
 * Reads calldata in the form that its first bytes say. No router knows both: the legs of one have other selectors than
 * those of the other, so what is sent to the wrong router reverts.
 * @throws NotPinned when a call is none that is taken, or says something that must not be said
 */
export function readCalls(data: Hex): ReadCalls {
  const form = data.startsWith(selectorOf(SLIPSTREAM)) ? SLIPSTREAM : SWAP_ROUTER_02;
  const call = readPinnedCall(form.abi, form.multicall, data);
  if (!call.ok) throw new NotPinned(call.problem);
  const inner: Result = call.args.at(-1);
  const deadline: bigint | undefined = form === SLIPSTREAM ? undefined : call.args[0];
  return { form, deadline, steps: inner.toArray().map((one: Hex, index) => readStep(form, one, index + 1)) };
}

function selectorOf({ abi, multicall }: PinnedForm): string {
  return abi.getFunction(multicall)?.selector ?? "";
}

function readStep({ abi }: PinnedForm, data: Hex, place: number): Step {
  const name = abi.getFunction(data.slice(0, 10))?.name;
  if (name === undefined || name === "multicall") {
    throw new NotPinned(
      `call ${place} of the multicall has the selector ${data.slice(0, 10)}, which is none of a swap's`,
    );
  }
  const call = readPinnedCall(abi, name, data);
  if (!call.ok) throw new NotPinned(`call ${place} of the multicall: ${call.problem}`);
  const { args } = call;
  if (name === "refundETH") return { kind: "refund" };
  if (name === "unwrapWETH9") return { kind: "unwrap", minimum: args[0], recipient: addressOf(args[1]) };
  if (name === "sweepToken")
    return { kind: "sweep", token: addressOf(args[0]), minimum: args[1], recipient: addressOf(args[2]) };
  return { kind: "leg", leg: readLeg(name, args, place) };
}

function readLeg(name: string, args: Result, place: number): Leg {
  if (name === "swapExactTokensForTokens") {
    const [amountIn, minimum, path, to] = args;
    const tokens = (path as Result).toArray().map(addressOf);
    return checked({ path: tokens, recipient: addressOf(to), amountIn, minimum, deadline: undefined }, place);
  }
  const params = args[0] as Result;
  const { recipient, amountIn, amountOutMinimum: minimum, deadline } = params.toObject();
  const bound = { recipient: addressOf(recipient), amountIn, minimum, deadline };
  if (name === "exactInput") return checked({ path: readPath(params[0], place), ...bound }, place);
  const { tokenIn, tokenOut, sqrtPriceLimitX96: limit } = params.toObject();
  if (limit !== 0n) throw new NotPinned(`leg ${place} has a price limit of ${limit}: it could sell a part and stop`);
  return checked({ path: [addressOf(tokenIn), addressOf(tokenOut)], ...bound }, place);
}

function readPath(bytes: string, place: number): readonly Address[] {
  const [, first, rest] = PATH.exec(bytes) ?? [];
  if (first === undefined || rest === undefined) throw new NotPinned(`leg ${place} has a malformed path`);
  const hops = rest.match(/.{46}/g) ?? [];
  return [addressOf(`0x${first}`), ...hops.map((hop) => addressOf(`0x${hop.slice(6)}`))];
}

/** @throws NotPinned when it sells nothing, or its tokens are those of no way */
export function checked(leg: Leg, place: number): Leg {
  const { path, amountIn } = leg;
  if (amountIn === 0n) throw new NotPinned(`leg ${place} sells 0, by which the router means all that it holds`);
  if (path.length < 2 || path.length > MAX_TOKENS_OF_PATH)
    throw new NotPinned(`the path of leg ${place} has ${path.length} tokens, 2 to ${MAX_TOKENS_OF_PATH} are taken`);
  // Tokens only: what is read as the native coin has to be wrapped or unwrapped by the router.
  if (path.includes(NATIVE_TOKEN)) throw new NotPinned(`the path of leg ${place} has the zero address for a token`);
  if (new Set(path).size < path.length) throw new NotPinned(`the path of leg ${place} meets a token twice`);
  return leg;
}

/** @throws NotPinned when it is none */
export function addressOf(value: unknown): Address {
  const address = parseAddress(typeof value === "string" ? value.toLowerCase() : value);
  if (address === undefined) throw new NotPinned(`${String(value).slice(0, 80)} is no address`);
  return address;
}
