import { type Address, NATIVE_TOKEN } from "../money/address.ts";
import { describeAmount, describeBoth } from "../money/for-people.ts";
import type { SwapTokens } from "./bind-swap.ts";
import { type Check, firstDenial } from "./check.ts";
import type { PinnedSettlement } from "./decoded-swap.ts";
import type { Denial } from "./denial.ts";
import { formatMethods, type SimulationMethod } from "./simulation-method.ts";

/** A move of a token seen in a simulation; native moves carry the zero address. */
export interface SimulatedTransfer {
  readonly token: Address;
  readonly from: Address;
  readonly to: Address;
  readonly amount: bigint;
}

/** An allowance set in a simulation. */
export interface SimulatedApproval {
  readonly token: Address;
  readonly owner: Address;
  readonly spender: Address;
  readonly amount: bigint;
}

/** What trying a transaction out gave. The same shape as the chain port's outcome. */
export type SimulatedSwap =
  | {
      readonly kind: "ok";
      /** absent in rows of before: there was one way then, `simulate` */
      readonly way?: SimulationMethod | undefined;
      readonly transfers: readonly SimulatedTransfer[];
      readonly approvals: readonly SimulatedApproval[];
    }
  | { readonly kind: "reverted"; readonly way?: SimulationMethod | undefined; readonly reason: string }
  | { readonly kind: "unavailable"; readonly reason: string }
  | { readonly kind: "not-applicable" };

/** What a simulated swap may do to us. Amounts in the smallest unit of their token. */
export interface SimulationBounds {
  /** every account of ours: nothing else may leave any of them */
  readonly ours: readonly Address[];
  readonly owner: Address;
  readonly recipient: Address;
  readonly sold: Address;
  readonly bought: Address;
  /** the same two tokens, as people write their amounts */
  readonly tokens: SwapTokens;
  /** most that may leave the owner */
  readonly gross: bigint;
  /** least that must reach the recipient */
  readonly minimum: bigint;
  /** the pinned spender, the only one that may appear */
  readonly spender: Address;
  /** largest allowance of the sold token for the spender: the one before, or the exact one that we set ourselves */
  readonly allowanceLimit: bigint;
  /** how it may be simulated, by the policy */
  readonly ways: readonly SimulationMethod[];
  /** the contract that is called, where nothing may stay in it */
  readonly keepsNothing?: Pick<PinnedSettlement, "contracts" | "wrappedNative"> | undefined;
}

/** Checks the outcome against the bounds. @returns why it must not be signed, or undefined */
export function checkSimulation(outcome: SimulatedSwap | undefined, bounds: SimulationBounds): Denial | undefined {
  return firstDenial(simulationChecks(outcome, bounds));
}

/** Every comparison of {@link checkSimulation}, in its order. */
export function simulationChecks(outcome: SimulatedSwap | undefined, bounds: SimulationBounds): Check[] {
  if (outcome === undefined || outcome.kind === "unavailable" || outcome.kind === "not-applicable") {
    const value = outcome?.kind === "unavailable" ? outcome.reason : "not simulated";
    return [{ code: "SIMULATION_UNAVAILABLE", subject: "simulation", value, limit: "simulated", ok: false }];
  }
  const way = wayCheck(outcome.way ?? "simulate", bounds);
  if (outcome.kind === "reverted") {
    return [
      way,
      { code: "SIMULATION_REVERTED", subject: "simulation", value: outcome.reason, limit: "no revert", ok: false },
    ];
  }
  const { transfers, approvals } = outcome;
  return [
    way,
    soldCheck(transfers, bounds),
    ...boughtChecks(transfers, bounds),
    foreignTokenCheck(transfers, bounds),
    allowanceCheck(approvals, bounds),
    ...(bounds.keepsNothing === undefined ? [] : [leftoverCheck(transfers, bounds.keepsNothing)]),
  ];
}

/** The chain uses no other way than the policy permits; this check enforces it, whatever answered. */
function wayCheck(way: SimulationMethod, { ways }: SimulationBounds): Check {
  return {
    code: "SIMULATION_UNAVAILABLE",
    subject: "way of trying it out",
    value: formatMethods([way]),
    limit: formatMethods(ways),
    ok: ways.includes(way),
  };
}

/** What comes back to the owner is not set off: a swap that takes more and returns it needs more than it may have. */
function soldCheck(transfers: readonly SimulatedTransfer[], bounds: SimulationBounds): Check {
  const out = total(transfers, (move) => move.token === bounds.sold && move.from === bounds.owner);
  const [value, limit] = describeBoth(out, bounds.gross, bounds.tokens.sold);
  return {
    code: "SIMULATION_MISMATCH",
    subject: "sold token out of the wallet",
    value,
    limit: `at most ${limit}`,
    ok: out <= bounds.gross,
  };
}

/**
 * A shortfall that the last senders of the bought token moved to somebody else instead is a tax of the token; it gets
 * its own name because the operator can do something about it. Either way the swap is denied.
 */
function boughtChecks(transfers: readonly SimulatedTransfer[], bounds: SimulationBounds): Check[] {
  const moves = transfers.filter((move) => move.token === bounds.bought && move.amount > 0n);
  const arrived = total(moves, (move) => move.to === bounds.recipient);
  const received = arrived - total(moves, (move) => move.from === bounds.recipient);
  const payers = new Set(moves.filter((move) => move.to === bounds.recipient).map((move) => move.from));
  const diverted = total(moves, (move) => payers.has(move.from) && move.to !== bounds.recipient);
  const short = received < bounds.minimum;
  const [value, limit] = describeBoth(received, bounds.minimum, bounds.tokens.bought);
  const taxed = short && received > 0n && diverted > 0n && received + diverted >= bounds.minimum;
  return [
    {
      code: "TOKEN_TAX",
      subject: "bought token diverted on its way",
      value: taxed ? describeAmount(diverted, bounds.tokens.bought) : "none",
      limit: "none",
      ok: !taxed,
    },
    {
      code: "SIMULATION_MISMATCH",
      subject: "bought token in to the recipient",
      value,
      limit: `at least ${limit}`,
      ok: !short,
    },
  ];
}

function foreignTokenCheck(transfers: readonly SimulatedTransfer[], bounds: SimulationBounds): Check {
  const moved = transfers.find(
    (move) =>
      bounds.ours.includes(move.from) &&
      move.amount > 0n &&
      !(move.token === bounds.sold && move.from === bounds.owner),
  );
  return {
    code: "SIMULATION_MISMATCH",
    subject: "other tokens out of our accounts",
    value: moved === undefined ? "none" : `${moved.amount} units of ${moved.token} from ${moved.from}`,
    limit: "none",
    ok: moved === undefined,
  };
}

function allowanceCheck(approvals: readonly SimulatedApproval[], bounds: SimulationBounds): Check {
  const risen = approvals.find(
    (approval) =>
      bounds.ours.includes(approval.owner) &&
      approval.amount > 0n &&
      !(
        approval.token === bounds.sold &&
        approval.owner === bounds.owner &&
        approval.spender === bounds.spender &&
        approval.amount <= bounds.allowanceLimit
      ),
  );
  return {
    code: "SIMULATION_MISMATCH",
    subject: "allowances of our accounts",
    value: risen === undefined ? "none rises" : `${risen.amount} units of ${risen.token} for ${risen.spender}`,
    limit: "none rises",
    ok: risen === undefined,
  };
}

/** What stays in a router is anybody's. */
function leftoverCheck(
  transfers: readonly SimulatedTransfer[],
  { contracts: { target }, wrappedNative }: NonNullable<SimulationBounds["keepsNothing"]>,
): Check {
  const wraps = hiddenWraps(transfers, wrappedNative);
  const left = new Map<Address, bigint>();
  for (const { token, from, to, amount } of [...transfers, ...wraps]) {
    const net = (to === target ? amount : 0n) - (from === target ? amount : 0n);
    left.set(token, (left.get(token) ?? 0n) + net);
  }
  const [token, amount] = [...left].find(([, net]) => net > 0n) ?? [];
  return {
    code: "SIMULATION_MISMATCH",
    subject: "left in the contract that is called",
    value: token === undefined ? "nothing" : `${amount} units of ${token}`,
    limit: "nothing",
    ok: token === undefined,
  };
}

/**
 * The moves of wrapped coins that no transfer shows. They come out of their contract for native ones that go there, and
 * go into it for those that come from there. Some contracts report that as a transfer from or to the zero address
 * (Arbitrum's does), others by an event of their own: what is reported is not counted again.
 */
function hiddenWraps(transfers: readonly SimulatedTransfer[], wrappedNative: Address): readonly SimulatedTransfer[] {
  const shown = transfers.filter(
    ({ token, from, to }) => token === wrappedNative && (from === NATIVE_TOKEN || to === NATIVE_TOKEN),
  );
  return transfers.flatMap((move) => {
    const isWrap = move.token === NATIVE_TOKEN && (move.from === wrappedNative || move.to === wrappedNative);
    if (!isWrap) return [];
    const wrap = { token: wrappedNative, from: move.to, to: move.from, amount: move.amount };
    const at = shown.findIndex(({ from, to, amount }) => {
      const isSame = move.to === wrappedNative ? to === wrap.to : from === wrap.from;
      return isSame && amount === wrap.amount;
    });
    if (at < 0) return [wrap];
    shown.splice(at, 1);
    return [];
  });
}

function total(moves: readonly SimulatedTransfer[], chosen: (move: SimulatedTransfer) => boolean): bigint {
  return moves.reduce((sum, move) => (chosen(move) ? sum + move.amount : sum), 0n);
}
