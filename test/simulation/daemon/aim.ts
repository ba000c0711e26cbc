import type { SwapState } from "../../../src/domain/run/states.ts";
import { CRASH_LABELS, LABELS_OF_A_DAEMON } from "../../e2e/kill/crash-labels.ts";
import type { Faults } from "../faults.ts";
import type { Rows } from "../oracle/rows.ts";

/** Every named instant at which a simulated daemon can be killed. */
export const LABELS: readonly string[] = [...LABELS_OF_A_DAEMON, "marker.before", "marker.after"];

/** The states of a swap that has not ended. */
export const OPEN_STATES: readonly SwapState[] = [
  ...(["planned", "quoted", "cleared", "approving", "signed", "submitted", "mined", "confirmed", "unknown"] as const),
];

/** Swaps are seldom in some of them: more seeds aim there. */
const AIMED_STATES: readonly SwapState[] = [
  ...OPEN_STATES,
  ...(["mined", "cleared", "mined", "signed", "mined", "unknown", "mined", "cleared", "signed"] as const),
];

/** so often a seed kills where it aims: then the daemon has to get past it */
const MOST_AIMED = 4;
/** one seed in a hundred passes them, or fewer: each seed aims there, so that each is reached */
const RARE_LABELS: readonly string[] = [...CRASH_LABELS.rare, ...CRASH_LABELS.replacement];
/** one seed in two hundred passes them */
const PLACES_OF_A_CANCELLATION: ReadonlySet<string> = new Set(CRASH_LABELS.cancellation);
/** far apart, so that most seeds pass one of them */
const OWN_LABELS = 3;
const SHARE_OF_LABELS = 0.15;

/** The states in which swaps that have not ended are now. */
export function openStates(rows: Rows): readonly string[] {
  return rows.all<{ state: string }>(OPEN_NOW).map(({ state }) => state);
}

const OPEN_NOW = `SELECT DISTINCT state FROM swaps WHERE state IN (${OPEN_STATES.map((state) => `'${state}'`).join(", ")})`;

/** Decides at each named instant whether the daemon is killed there. */
export interface Aim {
  /** @returns why it is killed at this passing, if it is */
  strikes(label: string): string | undefined;
  /** how often each named instant was passed */
  readonly passed: ReadonlyMap<string, number>;
}

/**
 * Kills at any label at a low rate, at some labels of the seed's own at a higher one, at those labels that are the
 * seed's in turn, so that each label is aimed at, and right after a commit while some swap is in the state that is its own.
 * In such a state, too, each seed strikes with a fault of its own: seeds take all pairs of fault and state in turn.
 */
export function createAim(faults: Faults, rows: Rows): Aim {
  const { chance } = faults;
  const passed = new Map<string, number>();
  const some = new Set(LABELS.filter((label) => chance.of("some labels", label) < SHARE_OF_LABELS));
  const inTurn = Array.from({ length: OWN_LABELS }, (_, turn) => LABELS[(chance.seed + 24 * turn) % LABELS.length]);
  const own = new Set([...inTurn, ...RARE_LABELS]);
  const state = chance.pick(OPEN_STATES, "state aimed at");
  let left = MOST_AIMED;
  const strikesAimed = (label: string): boolean => {
    if (left === 0) return false;
    const isOwn = own.has(label) && faults.strikes("kill: where aimed", label);
    const isAtState = !isOwn && strikesState(label);
    if (isOwn || isAtState) left -= 1;
    return isOwn || isAtState;
  };
  const isIn = (wanted: SwapState): boolean => openStates(rows).includes(wanted);
  const strikesState = (label: string): boolean =>
    faults.on.includes("kill: in a state") &&
    label.endsWith(".after") &&
    isIn(state) &&
    faults.strikes("kill: in a state", state);
  const faultAimedAt = faults.aimedState ?? AIMED_STATES[faults.aimTurn % AIMED_STATES.length] ?? state;
  // What is not committed yet is no state.
  faults.aimWhen(() => !rows.connection().inTransaction && isIn(faultAimedAt));
  return {
    passed,
    strikes: (label) => {
      passed.set(label, (passed.get(label) ?? 0) + 1);
      const isHit =
        faults.strikes("kill: at a label", label) ||
        (some.has(label) && faults.strikes("kill: at some labels", label)) ||
        (PLACES_OF_A_CANCELLATION.has(label) && faults.strikes("kill: in a cancellation", label)) ||
        strikesAimed(label);
      return isHit ? `killed at ${label}` : undefined;
    },
  };
}
