import { type OperatingMode, stricterMode } from "../domain/run/operating-mode.ts";
import type { ModeRow, OperationStore } from "../ports/store.ts";

/** Scope of the mode that holds for all strategies. */
export const GLOBAL_SCOPE = "global";

/** The mode that holds for a strategy: the stricter of its own and the global one, with who set it and why. */
export function effectiveMode(store: OperationStore, strategyId: string): ModeRow {
  const global = store.mode(GLOBAL_SCOPE) ?? activeRow(GLOBAL_SCOPE);
  const own = store.mode(strategyId) ?? activeRow(strategyId);
  const mode: OperatingMode = stricterMode(global.mode, own.mode);
  return mode === global.mode ? global : own;
}

function activeRow(scope: string): ModeRow {
  return { scope, mode: "active", setBy: "nobody", reason: "the default", atMs: 0 };
}
