/**
 * Until when a rest lasts, Unix milliseconds. One that would last longer than its own length from now was noted by a clock
 * that ran ahead, or the file has a shorter one since: it begins now. To be remembered, or it would begin at each check.
 */
export function restUntil(untilMs: number, seconds: number, nowMs: number): number {
  return Math.min(untilMs, nowMs + seconds * 1_000);
}
