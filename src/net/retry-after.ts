const COUNT_PATTERN = /^[0-9]{1,9}$/;
const HTTP_DATE_PATTERN = /^[A-Za-z]{3,9}[, ].*[0-9]{2}:[0-9]{2}:[0-9]{2}/;

/** A count of at most nine digits; undefined for everything else, lists of repeated fields included. */
export function readCount(text: string | null | undefined): number | undefined {
  return typeof text === "string" && COUNT_PATTERN.test(text) ? Number(text) : undefined;
}

/**
 * Reads `Retry-After`: seconds, or one of the three date forms of HTTP. A bare number is always seconds, never a year.
 * @returns milliseconds from now, not negative; undefined when it is absent or malformed
 */
export function readRetryAfter(text: string | null, nowMs: number): number | undefined {
  if (text === null) return undefined;
  const seconds = readCount(text);
  if (seconds !== undefined) return seconds * 1_000;
  if (!HTTP_DATE_PATTERN.test(text)) return undefined;
  // The third form of HTTP (asctime) carries no zone and means UTC like the others.
  const atMs = Date.parse(text.includes("GMT") ? text : `${text} GMT`);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
