import type { Address } from "../domain/money/address.ts";
import { GLOBAL_SCOPE, type ModeRow, type OperatingMode, stricterMode } from "../domain/run/operating-mode.ts";
import { proceedsBarred } from "../domain/run/proceeds.ts";
import { swapOf } from "../domain/run/run.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import type { StepRows } from "../ports/changes.ts";
import type { IdentityMarker } from "../ports/identity-marker.ts";
import type { LaneRowStore } from "../ports/lane-row-store.ts";
import type { OperationStore, Store } from "../ports/store.ts";
import { judgeMarker } from "./reconcile/identity.ts";
import { halt, whyHalted } from "./reconcile/touches.ts";

/** The mode that holds for a strategy: the stricter of its own and the global one, with who set it and why. */
export function effectiveMode(store: OperationStore & Pick<Store, "openDifferences">, strategyId: string): ModeRow {
  const differences = store.openDifferences();
  const spec = differences.length === 0 ? undefined : store.strategy(strategyId)?.spec;
  const modes = { global: store.mode(GLOBAL_SCOPE), own: store.mode(strategyId) };
  return modeOf(strategyId, { modes, differences, spec });
}

/** The same of rows that were read. @param rows.spec of the strategy; undefined where it has no row, or nothing is open */
export function modeOf(
  strategyId: string,
  rows: Pick<StepRows, "modes" | "differences"> & { readonly spec: StrategySpec | undefined },
): ModeRow {
  const global = rows.modes.global ?? activeRow(GLOBAL_SCOPE);
  const own = rows.modes.own ?? activeRow(strategyId);
  const mode: OperatingMode = stricterMode(global.mode, own.mode);
  const row = mode === global.mode ? global : own;
  return mode === "halted" ? row : (haltByDifference(strategyId, rows) ?? row);
}

/** What the rows do not know of the chain halts the strategies that it touches, until a person accepts it. */
function haltByDifference(
  strategyId: string,
  { spec, differences }: Pick<StepRows, "differences"> & { readonly spec: StrategySpec | undefined },
): ModeRow | undefined {
  const halting = spec === undefined ? undefined : halt(differences, spec);
  if (halting === undefined) return undefined;
  const { foundAtMs: atMs } = halting;
  return { scope: strategyId, mode: "halted", setBy: "reconciliation", reason: whyHalted(halting), atMs };
}

/** What signing for an intent goes by. */
interface SigningTerms {
  readonly store: Store;
  readonly laneStore: LaneRowStore;
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
  if (!live && intent !== undefined && judgeMarker({ store, marker }, intent.account) !== undefined) return false;
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

/** A revocation ends something, and so do all later versions of what was signed once. */
function isNewTrade(laneStore: LaneRowStore, intentId: string): boolean {
  return laneStore.intent(intentId)?.purpose !== "revoke" && laneStore.signings(intentId).length === 0;
}

/** A swap or its approval of which there are no bytes: what has some is followed to its end. */
function isUnsignedTrade(laneStore: LaneRowStore, intentId: string): boolean {
  return laneStore.intent(intentId)?.purpose !== "revoke" && laneStore.attempts(intentId).length === 0;
}

/** Whether what is left of a wallet's allowances of a token may be taken back now. */
export function mayRevoke(store: Store, { wallet, token }: { wallet: Address; token: Address }): boolean {
  const isOpen = store.openDifferences().some((one) => one.wallet === wallet && (one.token ?? token) === token);
  if (isOpen) return false;
  const scopes = [GLOBAL_SCOPE, ...store.grantors(wallet, token)];
  return scopes.every((scope) => effectiveMode(store, scope).mode !== "halted");
}

function activeRow(scope: string): ModeRow {
  return { scope, mode: "active", setBy: "nobody", reason: "the default", atMs: 0 };
}
