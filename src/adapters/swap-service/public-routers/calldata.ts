import type { Decoding, PinnedSettlement, ProposedTransaction } from "../../../domain/guard/decoded-swap.ts";
import { oneContract } from "../../../domain/guard/swap-contracts.ts";
import { type Address, NATIVE_TOKEN } from "../../../domain/money/address.ts";
import { readSolidlyCall } from "./solidly.ts";
import {
  CALLER,
  CUSTODY,
  type Leg,
  NotPinned,
  type ReadCalls,
  type RouterRules,
  readCalls,
  type Step,
} from "./steps.ts";

const MAX_LEGS = 16;

/** Who gets what at least, whether of the token or of the native coin that it wraps. */
interface Payout {
  readonly token: Address;
  readonly recipient: Address;
  readonly minimum: bigint;
}

/**
 * Reads a swap through a public router in the one form that binds everything: a `multicall` under one deadline, legs with
 * exact amounts of one token for another, and either one leg that pays the recipient with the minimum, or legs into the
 * router's custody with one sweep that does. Native coins are sent along to the wei, and what is left of them is asked
 * back. Solidly's router has one call and one leg, which is read as such.
 */
export function decodeRouterCall(transaction: ProposedTransaction, pinned: PinnedSettlement): Decoding {
  try {
    const { data, value } = transaction;
    return { ok: true, swap: readSwap(readSolidlyCall(data, value) ?? readCalls(data), { transaction, pinned }) };
  } catch (error) {
    if (error instanceof NotPinned) return { ok: false, problem: error.message };
    throw error;
  }
}

interface Read {
  readonly transaction: ProposedTransaction;
  readonly pinned: PinnedSettlement;
}

function readSwap({ form, deadline: ofAll, steps }: ReadCalls, { transaction, pinned }: Read) {
  const { to, value } = transaction;
  const { legs, after } = inOrder(steps);
  const deadline = ofAll ?? onlyDeadline(legs);
  const [sold, bought] = [onlyToken(legs, 0, "sell"), onlyToken(legs, -1, "buy")];
  if (sold === bought) throw new NotPinned(`the legs sell and buy the same token ${sold}`);
  const amountIn = legs.reduce((sum, leg) => sum + leg.amountIn, 0n);
  const { wrappedNative } = pinned;
  if (value > 0n && form.coinsInOneLeg && legs.length > 1)
    throw new NotPinned("native coins are sold in several legs, and the first one gives back what the others sell");
  const ends = value === 0n ? after : withRefund(after, { value, amountIn, sold, wrappedNative });
  const payout = payoutOf(legs, ends, { bought, wrappedNative, form });
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

function onlyDeadline(legs: readonly Leg[]): bigint {
  const deadlines = [...new Set(legs.map(({ deadline }) => deadline))];
  const [deadline] = deadlines;
  if (deadline === undefined || deadlines.length > 1)
    throw new NotPinned(`the legs have different deadlines: ${deadlines.join(", ")}`);
  return deadline;
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
  { bought, wrappedNative, form }: { bought: Address; wrappedNative: Address; form: RouterRules },
): Payout {
  const [leg] = legs;
  const [end] = after;
  if (end === undefined) {
    if (leg === undefined || legs.length > 1) throw new NotPinned("several legs without one sweep bind no minimum");
    return { token: bought, recipient: leg.recipient, minimum: leg.minimum };
  }
  if (after.length > 1 || end.kind === "refund") throw new NotPinned("after the legs comes more than one sweep");
  for (const { recipient, minimum } of legs) {
    if (recipient !== form.custody) throw new NotPinned(`a leg before the sweep pays ${recipient}, not the router`);
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
