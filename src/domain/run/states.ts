/** The life of a run: the record of one slot of a strategy. */
export const RUN_STATES = ["due", "deciding", "executing", "filled", "partial", "skipped", "failed", "parked"] as const;
export type RunState = (typeof RUN_STATES)[number];

/** The life of a swap. `unknown` is no end: it holds its reservation until the chain answers. */
export const SWAP_STATES = [
  "planned",
  "quoted",
  "cleared",
  "approving",
  "signed",
  "submitted",
  "mined",
  "confirmed",
  "final",
  "unknown",
  "skipped",
  "denied",
  "reverted",
  "expired",
  "cancelled",
] as const;
export type SwapState = (typeof SWAP_STATES)[number];

/**
 * All transitions of a run. `filled -> executing` happens when a reorganisation takes back a fill that the run had
 * counted.
 */
export const RUN_TRANSITIONS: Readonly<Record<RunState, readonly RunState[]>> = {
  due: ["deciding", "skipped", "failed"],
  deciding: ["executing", "skipped", "failed"],
  executing: ["filled", "partial", "skipped", "failed", "parked"],
  filled: ["executing"],
  partial: ["executing"],
  skipped: [],
  failed: ["executing"],
  parked: ["executing", "failed", "skipped"],
};

/**
 * All transitions of a swap. Before `signed` nothing can happen on the chain; after it only the chain ends a swap, from
 * a finalised block. `mined` and `confirmed` fall back to `submitted` when their block is reorganised away.
 */
export const SWAP_TRANSITIONS: Readonly<Record<SwapState, readonly SwapState[]>> = {
  planned: ["quoted", "skipped", "denied"],
  quoted: ["quoted", "cleared", "skipped", "denied"],
  cleared: ["approving", "signed", "quoted", "skipped", "denied"],
  approving: ["quoted", "skipped", "denied"],
  signed: ["submitted", "mined", "unknown", "expired", "cancelled", "reverted"],
  submitted: ["mined", "unknown", "reverted", "expired", "cancelled"],
  mined: ["confirmed", "submitted", "reverted", "expired", "cancelled", "final"],
  confirmed: ["final", "submitted", "reverted", "cancelled", "expired"],
  final: [],
  unknown: ["mined", "submitted", "reverted", "expired", "cancelled"],
  skipped: [],
  denied: [],
  reverted: [],
  expired: [],
  cancelled: [],
};

const SIGNED_STATES: ReadonlySet<SwapState> = new Set(["signed", "submitted", "mined", "confirmed", "unknown"]);
const FILLED_STATES: ReadonlySet<SwapState> = new Set(["confirmed", "final"]);

/** Whether the swap may still move money: something was signed, and no finalised block has settled it. */
export function isLive(state: SwapState): boolean {
  return SIGNED_STATES.has(state);
}

/** Whether the swap brought its tokens, as far as the configured confirmations report. */
export function isFilled(state: SwapState): boolean {
  return FILLED_STATES.has(state);
}

/** Whether nothing more can happen to the swap. */
export function isSwapEnd(state: SwapState): boolean {
  return SWAP_TRANSITIONS[state].length === 0;
}

/** Whether the run has its recorded end (a reorganisation may still reopen a filled one). */
export function isRunEnd(state: RunState): boolean {
  return state === "filled" || state === "partial" || state === "skipped" || state === "failed";
}

/** A move that the table does not list: a broken invariant, never an outcome. */
export class InvalidTransition extends Error {
  constructor(machine: "run" | "swap", from: string, to: string) {
    super(`invalid ${machine} transition: ${from} -> ${to}`);
    this.name = "InvalidTransition";
  }
}

/** @throws InvalidTransition when the table does not list the move */
export function assertRunTransition(from: RunState, to: RunState): void {
  if (!RUN_TRANSITIONS[from].includes(to)) throw new InvalidTransition("run", from, to);
}

/** @throws InvalidTransition when the table does not list the move */
export function assertSwapTransition(from: SwapState, to: SwapState): void {
  if (!SWAP_TRANSITIONS[from].includes(to)) throw new InvalidTransition("swap", from, to);
}
