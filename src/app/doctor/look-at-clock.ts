import { SECOND_MS } from "../../domain/time/durations.ts";
import { formatDuration } from "../../domain/time/format-duration.ts";
import type { BoundedFetch } from "../../net/bounded-fetch.ts";
import type { BlockHead } from "../../ports/chain.ts";
import type { Machine } from "../machine.ts";
import { fine, type Judged } from "./diagnosis.ts";

/** How far this machine's clock is ahead of the `Date` of one answer, and how far off that figure may be. */
export interface ClockReading {
  readonly host: string;
  readonly aheadMs: number;
  readonly withinMs: number;
}

/** `Date` has whole seconds, so that it is half a second off in the middle. */
const HALF_SECOND_MS = SECOND_MS / 2;

/** A way to send requests that notes what the `Date` of each answer says of this machine's clock. */
export function readingClocks({ clock, fetch }: Pick<Machine, "clock" | "fetch">): {
  readonly fetch: BoundedFetch;
  readings(host: string): readonly ClockReading[];
} {
  const seen: Omit<ClockReading, "host">[] = [];
  return {
    readings: (host) => seen.map((reading) => ({ host, ...reading })),
    fetch: async (request) => {
      const fromMs = clock.nowMs();
      const began = clock.monotonicMs();
      const answer = await fetch(request);
      const halfMs = (clock.monotonicMs() - began) / 2;
      const saidMs = Date.parse(answer.header("date") ?? "");
      if (!Number.isNaN(saidMs))
        seen.push({ aheadMs: fromMs + halfMs - (saidMs + HALF_SECOND_MS), withinMs: halfMs + HALF_SECOND_MS });
      return answer;
    },
  };
}

/** The best reading of each host: that which was answered quickest. */
export function bestReadings(readings: readonly ClockReading[]): readonly ClockReading[] {
  const best = new Map<string, ClockReading>();
  for (const reading of readings) {
    const before = best.get(reading.host);
    if (before === undefined || reading.withinMs < before.withinMs) best.set(reading.host, reading);
  }
  return [...best.values()];
}

/** What the clocks of others say together: the middle one of them; undefined where none said anything. */
export function aheadOfOthersMs(readings: readonly ClockReading[]): number | undefined {
  const sorted = [...readings].sort((one, other) => one.aheadMs - other.aheadMs);
  return sorted[sorted.length >> 1]?.aheadMs;
}

/** Slots are instants of whole seconds: a clock that is kept by a time service is never so far off. */
const KEPT_WITHIN_MS = 5 * SECOND_MS;
const MEND = "timedatectl set-ntp true";

/**
 * Judges this machine's clock by what answers said, and by the newest block of the chain. A block that is old proves
 * nothing, because a node may stand still; one from the future does.
 */
export function judgeClock(
  readings: readonly ClockReading[],
  { nowMs, head, boundSeconds }: { nowMs: number; head: BlockHead | undefined; boundSeconds: number },
): readonly Judged[] {
  const boundMs = boundSeconds * SECOND_MS;
  const judged = readings.map(({ host, aheadMs, withinMs }): Judged => {
    const what = `against ${host}`;
    const offMs = Math.max(0, Math.abs(aheadMs) - withinMs);
    if (offMs <= KEPT_WITHIN_MS) return fine(what, `the same as its Date, within ${formatSeconds(withinMs + offMs)}`);
    const found = `${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? "ahead of" : "behind"} its Date`;
    if (offMs <= boundMs) return { what, state: "warning", found, mend: MEND };
    return { what, state: "error", found: `${found}, and timing.maxClockSkew is ${boundSeconds}s`, mend: MEND };
  });
  if (readings.length === 0) {
    const found = "no answer had a Date: nothing but the chain can be compared with";
    judged.push({ what: "against others", state: "not tried", found });
  }
  return [...judged, judgeHead({ nowMs, head, boundMs }, readings)];
}

function judgeHead(
  { nowMs, head, boundMs }: { nowMs: number; head: BlockHead | undefined; boundMs: number },
  readings: readonly ClockReading[],
): Judged {
  const what = "against the chain";
  if (head === undefined) return { what, state: "not tried", found: "no endpoint showed a block", mend: "swapd check" };
  const aheadMs = nowMs - head.timestamp * SECOND_MS;
  const found = `${formatDuration(Math.abs(aheadMs))} ${aheadMs < 0 ? "behind" : "after"} the time of block ${head.number}`;
  if (Math.abs(aheadMs) <= boundMs) return fine(what, found);
  const isKept = readings.some(({ aheadMs: by, withinMs }) => Math.abs(by) - withinMs <= KEPT_WITHIN_MS);
  // The others say that the clock is right: then it is the node that is behind, which its own line says.
  if (aheadMs > 0 && isKept) return fine(what, `${found}, which is old: the clock is right, as others say`);
  return { what, state: "error", found: `${found}, and timing.maxClockSkew is ${boundMs / SECOND_MS}s`, mend: MEND };
}

function formatSeconds(ms: number): string {
  return `${(ms / SECOND_MS).toFixed(1)} s`;
}
