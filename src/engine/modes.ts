import type { Address } from "../domain/money/address.ts";
import { GLOBAL_SCOPE, type ModeRow, type OperatingMode, stricterMode } from "../domain/run/operating-mode.ts";
import { proceedsBarred } from "../domain/run/proceeds.ts";
import { swapOf } from "../domain/run/run.ts";
import type { IdentityMarker } from "../ports/identity-marker.ts";
import type { LaneStore } from "../ports/lane-store.ts";
import type { GrantRows } from "../ports/reconciliation-questions.ts";
import type { OperationStore, Store } from "../ports/store.ts";
import type { ModeRows } from "../ports/view-questions.ts";
import { judgeMarker } from "./reconcile/identity.ts";
import { halt, whyHalted } from "./reconcile/touches.ts";

/** The mode that holds for a strategy: the stricter of its own and the global one, with who set it and why. */
export function effectiveMode(store: OperationStore & Pick<Store, "openDifferences">, strategyId: string): ModeRow {
  const differences = store.openDifferences();
  const spec = differences.length === 0 ? undefined : store.strategy(strategyId)?.spec;
  const modes = { global: store.mode(GLOBAL_SCOPE), own: store.mode(strategyId) };
  return modeOf(strategyId, { modes, differences, spec });
}

/** The same of rows that were read. */
export function modeOf(strategyId: string, rows: ModeRows): ModeRow {
  const global = rows.modes.global ?? activeRow(GLOBAL_SCOPE);
  const own = rows.modes.own ?? activeRow(strategyId);
  const mode: OperatingMode = stricterMode(global.mode, own.mode);
  const row = mode === global.mode ? global : own;
  return mode === "halted" ? row : (haltByDifference(strategyId, rows) ?? row);
}

/** What the rows do not know of the chain halts the strategies that it touches, until a person accepts it. */
function haltByDifference(
  strategyId: string,
  { spec, differences }: Pick<ModeRows, "differences" | "spec">,
): ModeRow | undefined {
  const halting = spec === undefined ? undefined : halt(differences, spec);
  if (halting === undefined) return undefined;
  const { foundAtMs: atMs } = halting;
  return { scope: strategyId, mode: "halted", setBy: "reconciliation", reason: whyHalted(halting), atMs };
}

/** What signing for an intent goes by. */
interface SigningTerms {
  readonly store: Store;
  readonly laneStore: LaneStore;
  readonly live: boolean;
  readonly marker: IdentityMarker | undefined;
}

/**
 * Whether a lane may sign for one of its intents now: not while the strategy that wants it is halted, alone or with all
 * others, no new trade for a run that another database may have made, and none that sells proceeds which are not there. A
 * revocation of a leftover belongs to no run: it is a signature for those who were granted the allowance. In a dry run what
 * was signed before is followed to its end, by the newest database alone, and nothing else is signed.
 */
export function maySignIntent({ store, laneStore, live, marker }: SigningTerms, intentId: string): boolean {
  if (!live && laneStore.attempts(intentId).length === 0) return false;
  const intent = laneStore.intent(intentId);
  // No look at the chain halts a dry run, so that the marker is asked each time.
  if (!live && intent !== undefined && isBehindMarker(store, marker, intent.account)) return false;
  const owner = store.runOfIntent(intentId);
  if (owner !== undefined) {
    if (store.isRunBarred(owner.runId) && isNewTrade(laneStore, intentId)) return false;
    const run = store.run(owner.runId);
    if (run !== undefined && isUnsignedTrade(laneStore, intentId) && proceedsBarred(run, swapOf(run, owner.swapId))) {
      return false;
    }
    return run !== undefined && effectiveMode(store, run.strategyId).mode !== "halted";
  }
  return intent !== undefined && mayRevoke(store, { wallet: intent.account, token: intent.to });
}

function isBehindMarker(store: Store, marker: IdentityMarker | undefined, wallet: Address): boolean {
  const { database: ours } = store.answer({ kind: "standing", keys: [] });
  return judgeMarker({ ours, seen: marker?.read(wallet)?.state }, wallet) !== undefined;
}

/** A revocation ends something, and so do all later versions of what was signed once. */
function isNewTrade(laneStore: LaneStore, intentId: string): boolean {
  return laneStore.intent(intentId)?.purpose !== "revoke" && laneStore.signings(intentId).length === 0;
}

/** A swap or its approval of which there are no bytes: what has some is followed to its end. */
function isUnsignedTrade(laneStore: LaneStore, intentId: string): boolean {
  return laneStore.intent(intentId)?.purpose !== "revoke" && laneStore.attempts(intentId).length === 0;
}

/** Whether what is left of a wallet's allowances of a token may be taken back now. */
function mayRevoke(store: Store, of: { readonly wallet: Address; readonly token: Address }): boolean {
  const { wallet, token } = of;
  return mayTakeBack(store.answer({ kind: "grant", wallet, token }), of);
}

/** The same of rows that were read: a revocation is a signature for those who were granted the allowance. */
export function mayTakeBack(
  { differences, mode: global, grantors }: GrantRows,
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
