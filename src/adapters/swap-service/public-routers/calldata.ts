import { Interface, type Result } from "ethers";
import type { Decoding, PinnedSettlement, ProposedTransaction } from "../../../domain/guard/decoded-swap.ts";
import { oneContract } from "../../../domain/guard/swap-contracts.ts";
import { type Address, type Hex, NATIVE_TOKEN, parseAddress } from "../../../domain/money/address.ts";
import { readPinnedCall } from "../pinned-call.ts";

/** What is taken of SwapRouter02, whose names and selectors PancakeSwap's SmartRouter shares. Everything else is refused. */
const ROUTER = new Interface([
  "function multicall(uint256 deadline, bytes[] data) payable returns (bytes[])",
  "function exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountIn," +
    " uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params) payable returns (uint256)",
  "function exactInput((bytes path, address recipient, uint256 amountIn, uint256 amountOutMinimum) params)" +
    " payable returns (uint256)",
  "function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to)" +
    " payable returns (uint256)",
  "function sweepToken(address token, uint256 amountMinimum, address recipient) payable",
  "function unwrapWETH9(uint256 amountMinimum, address recipient) payable",
  "function refundETH() payable",
]);

/** Recipients that the router takes for the caller (1) and for itself (2) where a leg names them. */
const CALLER: Address = parseAddress(`0x${"0".repeat(39)}1`) ?? NATIVE_TOKEN;
const CUSTODY: Address = parseAddress(`0x${"0".repeat(39)}2`) ?? NATIVE_TOKEN;

const MAX_LEGS = 16;
const MAX_TOKENS_OF_PATH = 9;

/** Tokens of 20 bytes with 3 bytes of fee between them. */
const PATH = /^0x([0-9a-f]{40})((?:[0-9a-f]{46})+)$/;

/** One leg: an exact amount through pools, to somebody. */
interface Leg {
  readonly path: readonly Address[];
  readonly recipient: Address;
  readonly amountIn: bigint;
  readonly minimum: bigint;
}

/** Who gets what at least, whether of the token or of the native coin that it wraps. */
interface Payout {
  readonly token: Address;
  readonly recipient: Address;
  readonly minimum: bigint;
}

/** What one inner call does. */
type Step =
  | { readonly kind: "leg"; readonly leg: Leg }
  | { readonly kind: "sweep"; readonly token: Address; readonly minimum: bigint; readonly recipient: Address }
  | { readonly kind: "unwrap"; readonly minimum: bigint; readonly recipient: Address }
  | { readonly kind: "refund" };

/** Ends a reading: these bytes are not the one form that is taken. */
class NotPinned extends Error {}

/**
 * Reads a swap through a public router in the one form that binds everything: `multicall` with a deadline, legs with
 * exact amounts of one token for another, and either one leg that pays the recipient with the minimum, or legs into the
 * router's custody with one sweep that does. Native coins are sent along to the wei, and what is left of them is asked
 * back.
 */
export function decodeRouterCall(transaction: ProposedTransaction, pinned: PinnedSettlement): Decoding {
  const call = readPinnedCall(ROUTER, "multicall(uint256,bytes[])", transaction.data);
  if (!call.ok) return call;
  const [deadline, inner] = call.args;
  try {
    const steps = (inner as Result).toArray().map((data: Hex, index) => readStep(data, index + 1));
    return { ok: true, swap: readSwap(steps, { deadline, transaction, pinned }) };
  } catch (error) {
    if (error instanceof NotPinned) return { ok: false, problem: error.message };
    throw error;
  }
}

/** @throws NotPinned when it is no call that is taken, or says something that must not be said */
function readStep(data: Hex, place: number): Step {
  const name = ROUTER.getFunction(data.slice(0, 10))?.name;
  if (name === undefined || name === "multicall") {
    throw new NotPinned(
      `call ${place} of the multicall has the selector ${data.slice(0, 10)}, which is none of a swap's`,
    );
  }
  const call = readPinnedCall(ROUTER, name, data);
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
    return checked({ path: tokens, recipient: addressOf(to), amountIn, minimum }, place);
  }
  const params = args[0] as Result;
  const { recipient, amountIn, amountOutMinimum: minimum } = params.toObject();
  if (name === "exactInput") {
    return checked({ path: readPath(params[0], place), recipient: addressOf(recipient), amountIn, minimum }, place);
  }
  const { tokenIn, tokenOut, sqrtPriceLimitX96: limit } = params.toObject();
  if (limit !== 0n) throw new NotPinned(`leg ${place} has a price limit of ${limit}: it could sell a part and stop`);
  const path = [addressOf(tokenIn), addressOf(tokenOut)];
  return checked({ path, recipient: addressOf(recipient), amountIn, minimum }, place);
}

function readPath(bytes: string, place: number): readonly Address[] {
  const [, first, rest] = PATH.exec(bytes) ?? [];
  if (first === undefined || rest === undefined) throw new NotPinned(`leg ${place} has a malformed path`);
  const hops = rest.match(/.{46}/g) ?? [];
  return [addressOf(`0x${first}`), ...hops.map((hop) => addressOf(`0x${hop.slice(6)}`))];
}

function checked(leg: Leg, place: number): Leg {
  const { path, amountIn } = leg;
  if (amountIn === 0n) throw new NotPinned(`leg ${place} sells 0, by which the router means all that it holds`);
  if (path.length < 2 || path.length > MAX_TOKENS_OF_PATH)
    throw new NotPinned(`the path of leg ${place} has ${path.length} tokens, 2 to ${MAX_TOKENS_OF_PATH} are taken`);
  // Tokens only: what is read as the native coin has to be wrapped or unwrapped by the router.
  if (path.includes(NATIVE_TOKEN)) throw new NotPinned(`the path of leg ${place} has the zero address for a token`);
  if (new Set(path).size < path.length) throw new NotPinned(`the path of leg ${place} meets a token twice`);
  return leg;
}

function addressOf(value: unknown): Address {
  const address = parseAddress(typeof value === "string" ? value.toLowerCase() : value);
  if (address === undefined) throw new NotPinned(`${String(value).slice(0, 80)} is no address`);
  return address;
}

interface Read {
  readonly deadline: bigint;
  readonly transaction: ProposedTransaction;
  readonly pinned: PinnedSettlement;
}

function readSwap(steps: readonly Step[], { deadline, transaction, pinned }: Read) {
  const { to, value } = transaction;
  const { legs, after } = inOrder(steps);
  const [sold, bought] = [onlyToken(legs, 0, "sell"), onlyToken(legs, -1, "buy")];
  if (sold === bought) throw new NotPinned(`the legs sell and buy the same token ${sold}`);
  const amountIn = legs.reduce((sum, leg) => sum + leg.amountIn, 0n);
  const { wrappedNative } = pinned;
  const ends = value === 0n ? after : withRefund(after, { value, amountIn, sold, wrappedNative });
  const payout = payoutOf(legs, ends, { bought, wrappedNative });
  checkPayout(payout, to);
  return {
    contracts: oneContract(to),
    sender: undefined,
    recipient: payout.recipient,
    fromAsset: value === 0n ? sold : NATIVE_TOKEN,
    toAsset: payout.token,
    deadline,
    amountOutMin: payout.minimum,
    swapFee: 0n,
    amountIn,
    nonce: undefined,
    affiliate: undefined,
    permitValue: undefined,
  };
}

type After = Exclude<Step, { kind: "leg" }>;

/** Legs come first, and what is done with what they brought after them. */
function inOrder(steps: readonly Step[]): { legs: readonly Leg[]; after: readonly After[] } {
  const first = steps.findIndex(({ kind }) => kind !== "leg");
  const [before, rest] = first < 0 ? [steps, []] : [steps.slice(0, first), steps.slice(first)];
  const legs = before.flatMap((step) => (step.kind === "leg" ? [step.leg] : []));
  const after = rest.flatMap((step) => (step.kind === "leg" ? [] : [step]));
  if (after.length < rest.length) throw new NotPinned("a leg comes after the sweep, and nothing binds what it brings");
  if (legs.length === 0 || legs.length > MAX_LEGS)
    throw new NotPinned(`the multicall has ${legs.length} legs, 1 to ${MAX_LEGS} are taken`);
  return { legs, after };
}

function onlyToken(legs: readonly Leg[], end: 0 | -1, does: string): Address {
  const tokens = [...new Set(legs.map(({ path }) => path.at(end)))];
  const [token] = tokens;
  if (token === undefined || tokens.length > 1)
    throw new NotPinned(`the legs ${does} different tokens: ${tokens.join(", ")}`);
  return token;
}

function withRefund(
  after: readonly After[],
  { value, amountIn, sold, wrappedNative }: { value: bigint; amountIn: bigint; sold: Address; wrappedNative: Address },
): readonly After[] {
  if (sold !== wrappedNative) throw new NotPinned(`${value} wei are sent along, and the legs sell ${sold}`);
  if (value !== amountIn) throw new NotPinned(`${value} wei are sent along, and the legs sell ${amountIn}`);
  if (after.at(-1)?.kind !== "refund")
    throw new NotPinned("native coins are sent along, and what is left is not asked back");
  return after.slice(0, -1);
}

/** One leg pays the recipient itself; otherwise all of them leave what they bring to the router, and one sweep pays. */
function payoutOf(
  legs: readonly Leg[],
  after: readonly After[],
  { bought, wrappedNative }: { bought: Address; wrappedNative: Address },
): Payout {
  const [leg] = legs;
  const [end] = after;
  if (end === undefined) {
    if (leg === undefined || legs.length > 1) throw new NotPinned("several legs without one sweep bind no minimum");
    return { token: bought, recipient: leg.recipient, minimum: leg.minimum };
  }
  if (after.length > 1 || end.kind === "refund") throw new NotPinned("after the legs comes more than one sweep");
  for (const { recipient, minimum } of legs) {
    if (recipient !== CUSTODY) throw new NotPinned(`a leg before the sweep pays ${recipient}, not the router`);
    if (minimum !== 0n) throw new NotPinned(`a leg before the sweep has a minimum of its own, ${minimum}`);
  }
  const { minimum, recipient } = end;
  const token = end.kind === "sweep" ? end.token : wrappedNative;
  if (token !== bought) throw new NotPinned(`the sweep pays ${token}, and the legs buy ${bought}`);
  return { token: end.kind === "sweep" ? token : NATIVE_TOKEN, recipient, minimum };
}

function checkPayout({ recipient, minimum }: Payout, router: Address): void {
  if ([NATIVE_TOKEN, CALLER, CUSTODY, router].includes(recipient))
    throw new NotPinned(`the recipient is ${recipient}, which stands for somebody else`);
  if (minimum === 0n) throw new NotPinned("the minimum is 0");
}
