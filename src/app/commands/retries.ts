import type { RetryHistory } from "../../ports/history.ts";
import { formatInstant, formatTable } from "../terminal.ts";

/** Retries as the commands print them in JSON. */
export function retryJson(retry: RetryHistory): Record<string, unknown> {
  const { swapId, reason, detail, count, firstAtMs, lastAtMs, nextAtMs } = retry;
  const [firstAt, lastAt, nextAt] = [firstAtMs, lastAtMs, nextAtMs].map(formatInstant);
  return { swap: swapId, reason, detail, count, firstAt, lastAt, nextAt };
}

/** Retries as a table for people. */
export function formatRetries(retries: readonly RetryHistory[]): string {
  const rows = retries.map(({ reason, detail, count, lastAtMs, nextAtMs }) => [
    `${count}`,
    formatInstant(lastAtMs),
    formatInstant(nextAtMs),
    `${reason}: ${detail}`,
  ]);
  return formatTable([["ASKED AGAIN", "LAST AT", "NEXT AT", "WHY"], ...rows]);
}
