import type { IntentFields, LaneChange } from "../ports/lane-changes.ts";
import type { LaneEvent } from "../ports/lane-event.ts";
import type { AttemptRow, AttemptState, IntentRow, IntentState } from "../ports/lane-store.ts";
import type { LaneDecided, LaneRows } from "../ports/lane-unit-of-work.ts";
import type { Known, LaneParts } from "./lane-context.ts";
import { assertAttemptTransition, assertIntentTransition } from "./transitions.ts";

/** A move of an intent. `event` is left out where the move must stay internal. */
interface IntentMove {
  readonly to: IntentState;
  readonly fields?: IntentFields;
  readonly event?: Omit<LaneEvent, "intentId">;
  readonly detail?: string | undefined;
}

/**
 * Moves an intent from what it is in the rows, together with what else changes then.
 * @returns what is to be written; its value is the row as it is after that
 * @throws Error when no table lists the move: a broken invariant
 */
export function moveIntent(
  { deps }: LaneParts,
  { intent }: Known<LaneRows>,
  { move, alongside = [] }: { readonly move: IntentMove; readonly alongside?: readonly LaneChange[] },
): LaneDecided<IntentRow> {
  const { id, state: from } = intent;
  const { to, fields = {}, event, detail } = move;
  assertIntentTransition(from, to);
  return {
    changes: [...alongside, { kind: "intent-moved", intentId: id, from, to, fields, detail }],
    atMs: deps.clock.nowMs(),
    value: { ...intent, ...fields, state: to },
    ...(event === undefined ? {} : { event: { intentId: id, ...event } }),
    // Whatever became of it, a node took it; what was only signed no node has seen yet.
    ...(to === "signed" ? {} : { refusal: { intentId: id, detail: undefined } }),
  };
}

/** Moves an attempt from what it is in the rows. @throws Error when no table lists the move: a broken invariant */
export function moveAttempt(
  { intentId, hash, state: from }: AttemptRow,
  to: AttemptState,
  detail?: string,
): LaneChange {
  assertAttemptTransition(from, to);
  return { kind: "attempt-moved", intentId, hash, from, to, detail };
}

/** An attempt of an intent as it is in the rows. @throws Error when it is not there: a broken invariant */
export function attemptIn({ intent, attempts }: Known<LaneRows>, hash: string): AttemptRow {
  const found = attempts.find((attempt) => attempt.hash === hash);
  if (found === undefined) throw new Error(`attempt ${hash} of ${intent.id} is gone from the database`);
  return found;
}
