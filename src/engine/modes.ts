import type { Address } from "../domain/money/address.ts";
import { GLOBAL_SCOPE, type ModeRow, type OperatingMode, stricterMode } from "../domain/run/operating-mode.ts";
import { proceedsBarred } from "../domain/run/proceeds.ts";
import { swapOf } from "../domain/run/run.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import { isExitStrategy } from "../domain/strategy/strategy.ts";
import type { LaneSigningRows, SigningTerms } from "../ports/lane-questions.ts";
import type { LaneRows } from "../ports/lane-unit-of-work.ts";
import type { GrantTerms } from "../ports/reconciliation-questions.ts";
import type { ModeRows } from "../ports/view-questions.ts";
import { judgeMarker, type MarkedState } from "./reconcile/identity.ts";
import { halt, whyHalted } from "./reconcile/touches.ts";

/** Who halts where the rows do not know what the chain does: no resume ends that. */
export const RECONCILIATION = "reconciliation";

/** The mode that holds for a strategy: the stricter of its own and the global one, with who set it and why. */
export function modeOf(strategyId: string, rows: ModeRows): ModeRow {
  const global = rows.modes.global ?? activeRow(GLOBAL_SCOPE);
  const own = rows.modes.own ?? activeRow(strategyId);
  const mode: OperatingMode = stricterMode(global.mode, own.mode);
  const row = mode === global.mode ? global : own;
  return mode === "halted" ? row : (haltByDifference(strategyId, rows) ?? row);
}

/** The mode, where a strategy starts no runs in it. */
export function barringMode(mode: OperatingMode, spec: StrategySpec): Exclude<OperatingMode, "active"> | undefined {
  return mode === "active" || (mode === "exits-only" && isExitStrategy(spec)) ? undefined : mode;
}

/**
 * The same for taking an order's allowance back. What cannot be proved of a wallet does not bar that: it is accepted once
 * the order has ended, and the order ends once its allowance is taken back.
 */
export function revokingModeOf(strategyId: string, rows: ModeRows): ModeRow {
  const differences = rows.differences.filter(({ kind, scope }) => kind !== "cannot-prove" || scope !== "gasless");
  return modeOf(strategyId, { ...rows, differences });
}

/** What the rows do not know of the chain halts the strategies that it touches, until a person accepts it. */
function haltByDifference(
  strategyId: string,
  { spec, differences }: Pick<ModeRows, "differences" | "spec">,
): ModeRow | undefined {
  const halting = spec === undefined ? undefined : halt(differences, spec);
  if (halting === undefined) return undefined;
  const { foundAtMs: atMs } = halting;
  return { scope: strategyId, mode: "halted", setBy: RECONCILIATION, reason: whyHalted(halting), atMs };
}

/** How a daemon signs, and the marker that its database has for the account. */
export interface SigningMarker {
  readonly live: boolean;
  /** the account's key is here; what was signed before for one that is only watched is followed and sent again, no more */
  readonly hasKey: boolean;
  /** undefined: none is kept, or it is not needed, because a check of the chain has compared the database with it */
  readonly seen: MarkedState | undefined;
}

/**
 * Whether a lane may sign for one of its intents now: not while the strategy that wants it is halted, alone or with all
 * others, no new trade for a run that another database may have made, and none that sells proceeds which are not there. A
 * revocation of a leftover belongs to no run: it is a signature for those who were granted the allowance. In a dry run what
 * was signed before is followed to its end, by the newest database alone, and nothing else is signed.
 */
export function maySignIntent(
  { lane, owner, revocation, database }: LaneSigningRows<SigningTerms>,
  { live, hasKey, seen }: SigningMarker,
): boolean {
  const { intent } = lane;
  if (intent === undefined || lane.halt !== undefined || !hasKey) return false;
  if (!live && lane.attempts.length === 0) return false;
  // No check of the chain halts a dry run, so that the marker is asked each time.
  if (!live && (database === undefined || judgeMarker({ ours: database, seen }, intent.account) !== undefined)) {
    return false;
  }
  if (owner !== undefined) return maySignFor(owner, lane);
  return revocation !== undefined && mayTakeBack(revocation, { wallet: intent.account, token: intent.to });
}

function maySignFor(
  { run, swapId, rows }: NonNullable<LaneSigningRows<SigningTerms>["owner"]>,
  lane: LaneRows,
): boolean {
  if (rows.isBarred && isNewTrade(lane)) return false;
  if (isUnsignedTrade(lane) && proceedsBarred(run, swapOf(run, swapId))) return false;
  const mode = lane.intent?.purpose === "revoke" ? revokingModeOf : modeOf;
  return mode(run.strategyId, rows).mode !== "halted";
}

/** A revocation ends something, and so do all later versions of what was signed once. */
function isNewTrade({ intent, signings }: LaneRows): boolean {
  return intent?.purpose !== "revoke" && signings.length === 0;
}

/** A swap or its approval of which there are no bytes: what has some is followed to its end. */
function isUnsignedTrade({ intent, attempts }: LaneRows): boolean {
  return intent?.purpose !== "revoke" && attempts.length === 0;
}

/**
 * Whether what is left of a wallet's allowances of a token may be taken back: a revocation is a signature for those who
 * were granted the allowance.
 */
export function mayTakeBack(
  { differences, mode: global, grantors }: GrantTerms,
  { wallet, token }: { readonly wallet: Address; readonly token: Address },
): boolean {
  const isOpen = differences.some((one) => one.wallet === wallet && (one.token ?? token) === token);
  if (isOpen || global?.mode === "halted") return false;
  return grantors.every(
    ({ strategyId, spec, mode: own }) =>
      modeOf(strategyId, { modes: { global, own }, differences, spec }).mode !== "halted",
  );
}

function activeRow(scope: string): ModeRow {
  return { scope, mode: "active", setBy: "nobody", reason: "the default", atMs: 0 };
}
