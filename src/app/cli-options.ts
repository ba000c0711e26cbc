import { InvalidArgumentError } from "commander";
import { milliseconds } from "../config/units.ts";

/** Options that several commands share, and how their values are read. */

const DURATION = milliseconds("how long to run", "60s");

/** Ports end at 65535. */
const LAST_FIRST_PORT = 65_533;

export const CONFIG = [
  "--config <file>",
  "configuration file (else SWAPD_CONFIG, ./swapd.yaml, or the last sandbox)",
] as const;
/** Of commands that change something: they never take the sandbox for want of anything else. */
export const CHANGED_CONFIG = ["--config <file>", "configuration file (else SWAPD_CONFIG or ./swapd.yaml)"] as const;
export const SANDBOX_FLAG = ["--sandbox", "act on the sandbox that was started in this folder"] as const;
export const REHEARSAL = ["--rehearsal", "of the last rehearsal in this folder, on a fork"] as const;
export const JSON_FLAG = ["--json", "one JSON document, amounts as strings"] as const;
export const FOR = ["--for <duration>", "stop cleanly after this time, for example 60s", duration] as const;
/** How long something that is given out is in force. */
export const IN_FORCE_FOR = [
  "--for <duration>",
  "in force so long, for example 90d; else until it is revoked",
  duration,
] as const;

export function integer(text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new InvalidArgumentError(`${JSON.stringify(text)} is no whole number`);
  return Number(text);
}

/** How many of something are shown: none of them would look like there were none. */
export function atLeastOne(text: string): number {
  const count = integer(text);
  if (count === 0) throw new InvalidArgumentError("give 1 or more");
  return count;
}

/** The first port of a sandbox; the service's and the status server's follow it. */
export function firstPort(text: string): number {
  const port = integer(text);
  if (port > LAST_FIRST_PORT)
    throw new InvalidArgumentError(
      `${port} leaves no room for three ports in a row; give 1 to ${LAST_FIRST_PORT}, or 0, which takes free ones`,
    );
  return port;
}

export function slotCount(text: string): number {
  const count = integer(text);
  if (count < 1 || count > 1_000) throw new InvalidArgumentError(`${text} slots are none or too many; give 1 to 1000`);
  return count;
}

export function seconds(text: string): number {
  const value = Number(text.replace(/s$/, ""));
  if (!(value >= 0.05 && value <= 3_600)) throw new InvalidArgumentError("give seconds from 0.05 to 3600");
  return value;
}

function duration(text: string): number {
  const parsed = DURATION.safeParse(text);
  if (!parsed.success) throw new InvalidArgumentError(`${JSON.stringify(text)} is no duration; write 90s, 10m or 6h`);
  return parsed.data;
}
