import { InvalidArgumentError } from "commander";
import { DAY_MS } from "../../domain/time/durations.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { readInstant } from "../read-instant.ts";

/** From when on. @throws InvalidArgumentError when it is no day and no instant */
export function sinceMs(text: string): number {
  return known(text).atMs;
}

/** Up to when: a day counts whole. @throws InvalidArgumentError when it is no day and no instant */
export function untilMs(text: string): number {
  const { atMs, isDay } = known(text);
  return atMs + (isDay ? DAY_MS : 0);
}

/**
 * The time that is asked about; all of it where nothing is said.
 * @throws CommandFailure when it ends before it begins: nothing at all would look like a quiet year
 */
export function timeRange(asked: { readonly since?: number | undefined; readonly until?: number | undefined }): {
  readonly since: number;
  readonly until: number;
} {
  const { since = 0, until = Number.MAX_SAFE_INTEGER } = asked;
  if (since < until) return { since, until };
  throw new CommandFailure(EXIT.usage, "--since lies behind --until: there is nothing between them");
}

function known(text: string): { readonly atMs: number; readonly isDay: boolean } {
  const found = readInstant(text);
  if (found !== undefined) return found;
  const message = `${JSON.stringify(text)} is no day and no instant; write 2026-01-31 (in UTC) or 2026-01-31T09:00:00+01:00`;
  throw new InvalidArgumentError(message);
}
