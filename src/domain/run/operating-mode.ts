/**
 * How much the daemon does: `active` all; `exits-only` starts only runs that leave a position; `paused` starts no runs
 * and finishes the open ones; `halted` signs nothing. All of them go on watching.
 */
export const OPERATING_MODES = ["active", "exits-only", "paused", "halted"] as const;
export type OperatingMode = (typeof OPERATING_MODES)[number];

/** The stricter of two modes. */
export function stricterMode(left: OperatingMode, right: OperatingMode): OperatingMode {
  return OPERATING_MODES.indexOf(left) >= OPERATING_MODES.indexOf(right) ? left : right;
}

/** Scope of the mode that holds for all strategies. */
export const GLOBAL_SCOPE = "global";

/** A mode with who set it, when and why. `scope` is `global` or a strategy's id. */
export interface ModeRow {
  readonly scope: string;
  readonly mode: OperatingMode;
  readonly setBy: string;
  readonly reason: string;
  readonly atMs: number;
}

/** So many strategies are named. */
const MOST_NAMED = 8;

/**
 * What is stricter than active still, where a mode was just set to that: nobody is to believe that he let something trade
 * which does not. Undefined: nothing.
 */
export function stricterBesides(
  { scope, mode }: Pick<ModeRow, "scope" | "mode">,
  modes: readonly ModeRow[],
): string | undefined {
  const others = modes.filter((row) => row.scope !== scope && row.mode !== "active");
  if (mode !== "active" || others.length === 0) return undefined;
  if (scope !== GLOBAL_SCOPE) {
    const global = others.find((row) => row.scope === GLOBAL_SCOPE);
    return global && `everything is ${global.mode}, and the stricter of the two holds`;
  }
  const names = others.slice(0, MOST_NAMED).map((row) => `${row.scope} (${row.mode})`);
  const more = others.length > MOST_NAMED ? ` and ${others.length - MOST_NAMED} more` : "";
  return `a mode of their own have still ${names.join(", ")}${more}`;
}

/** That open runs are signed again, where a mode with no entries was set in place of a halt. Undefined: they are not. */
export function signedAgain(
  { scope, mode }: Pick<ModeRow, "scope" | "mode">,
  { mode: before, modes }: { readonly mode: ModeRow | undefined; readonly modes: readonly ModeRow[] },
): string | undefined {
  if (before?.mode !== "halted" || mode === "halted" || mode === "active") return undefined;
  const isAllHalted = modes.some((row) => row.scope === GLOBAL_SCOPE && row.mode === "halted");
  return scope !== GLOBAL_SCOPE && isAllHalted ? undefined : "it was halted, and open runs are signed again";
}
