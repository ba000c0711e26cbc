import { formatDuration } from "../domain/time/format-duration.ts";
import type { OperatorRequest } from "../ports/daemon-rows.ts";
import { isRunId } from "./operator-answers.ts";

/** Who asks waits for seconds. Long after that it is no word on what would be done now, as at a start days later. */
const TAKEN_WITHIN_MS = 300_000;

/**
 * Why a request is not to be carried out now, for the operator; undefined where it is. What stops is carried out by any
 * clock, and however long it was left untaken.
 * @param clockProblem why the wall clock cannot be believed
 */
export function whyUntimely(
  request: OperatorRequest,
  clockProblem: string | undefined,
  nowMs: number,
): string | undefined {
  const isTimed = needsTime(request);
  // An order for lots is dated when it is taken: only the clock matters.
  if (clockProblem !== undefined && (isTimed || request.command === "lot-order"))
    return `${clockProblem}; then ask again`;
  if (!isTimed) return undefined;
  const ageMs = nowMs - request.madeAtMs;
  if (ageMs <= TAKEN_WITHIN_MS) return undefined;
  return `it was asked ${formatDuration(ageMs)} ago, and no daemon took it in time; ask again`;
}

/**
 * Whether the request uses up a slot, or says from when on something may trade: slots again, as accepting does, or a run
 * that waits for a person.
 */
function needsTime(request: OperatorRequest): boolean {
  const { command, arguments: of } = request;
  if (refusesRun(request)) return false;
  return ["run", "skip", "approve", "accept"].includes(command) || (command === "mode" && of.mode === "active");
}

/** Whether it is a person's no to a run, and not about a slot. */
export function refusesRun({ command, arguments: { run, strategy = "" } }: OperatorRequest): boolean {
  return command === "skip" && (run !== undefined || isRunId(strategy));
}
