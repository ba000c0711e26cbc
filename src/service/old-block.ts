import { MINUTE_MS, SECOND_MS } from "../domain/time/durations.ts";
import { formatDuration } from "../domain/time/format-duration.ts";

/** A newest block that is older says nothing of now: its node stands still, or the clock of this machine is ahead. */
const OLDEST_MS = 5 * MINUTE_MS;

/** Why a newest block cannot be the chain's own newest one, by a clock that is right; undefined: it may be. */
export function tooOld(
  { number, timestamp }: { readonly number: number; readonly timestamp: number },
  nowMs: number,
): string | undefined {
  const ageMs = nowMs - timestamp * SECOND_MS;
  return ageMs > OLDEST_MS ? `the newest block ${number} is ${formatDuration(ageMs)} old` : undefined;
}
