import type { StepResult } from "./draft.ts";
import type { RunEvent } from "./events.ts";
import type { Evidence } from "./evidence.ts";
import type { Transition } from "./records.ts";
import type { Run } from "./run.ts";
import { step } from "./step.ts";

/** What a step was taken from, besides the run. */
export interface StepInput {
  readonly event: RunEvent;
  readonly evidence: Evidence;
}

/** A run as it is stored: where it has come to, every move on the way, and what each step was taken from. */
export interface StoredRun {
  readonly run: Run;
  /** from the second on: the first is the insertion of the run */
  readonly transitions: readonly Transition[];
  readonly steps: readonly StepInput[];
}

/** The first place where the stored run and the replayed one differ. */
export interface ReplayDifference {
  /** such as `transitions.3.to`, or `run.swaps.0.gross` */
  readonly path: string;
  readonly stored: unknown;
  readonly replayed: unknown;
}

/** A run whose steps were taken again. */
export interface Replay {
  readonly results: readonly StepResult[];
  readonly difference: ReplayDifference | undefined;
}

/**
 * Takes the steps of a stored run again and compares what comes out with what is stored.
 * @throws Error when a step cannot follow the one before it: steps are missing, or were changed
 */
export function replayRun({ run, transitions, steps }: StoredRun): Replay {
  let replayed: Run = { ...run, state: "due", reason: undefined, detail: undefined, retries: 0, swaps: [] };
  const results = steps.map(({ event, evidence }) => {
    const result = step(replayed, event, evidence);
    replayed = result.run;
    return result;
  });
  const moves = results.flatMap((result) => result.transitions);
  return { results, difference: findDifference({ transitions, run }, { transitions: moves, run: replayed }) };
}

/** A field that is missing is one that is undefined. */
function findDifference(
  stored: unknown,
  replayed: unknown,
  path: readonly string[] = [],
): ReplayDifference | undefined {
  if (Object.is(stored, replayed)) return undefined;
  if (!isRecord(stored) || !isRecord(replayed)) return { path: path.join("."), stored, replayed };
  for (const name of new Set([...Object.keys(stored), ...Object.keys(replayed)])) {
    const found = findDifference(stored[name], replayed[name], [...path, name]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
