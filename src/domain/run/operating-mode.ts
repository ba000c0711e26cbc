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
