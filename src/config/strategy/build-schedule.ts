import { nextInstant, shortestIntervalSeconds } from "../../domain/schedule/next-instants.ts";
import { parseAt } from "../../domain/schedule/parse-at.ts";
import { parseCron } from "../../domain/schedule/parse-cron.ts";
import { parseBlackout, parseWindow } from "../../domain/schedule/parse-window.ts";
import type { Schedule } from "../../domain/schedule/schedule.ts";
import { at, atKey, type Complaint, each, type Found, type Part, refuse, refuseKey, sound } from "../complaint.ts";
import { suggestInstant, suggestTimeOfDay, writeDuration } from "../suggest.ts";
import type { CommonFields } from "./common-schema.ts";
import { describeTimeZone, isTimeZone } from "./time-zones.ts";

type Fields = CommonFields["schedule"];

/** Whether a schedule ever lies in its windows is checked in UTC, from an instant before any blackout that matters. */
const SEARCH_FROM_MS = Date.parse("2024-01-01");
const utcOffsets = { offsetMinutes: () => 0 };

/** An attempt is repeated for half of the schedule's interval, at most this long. */
export const RETRY_FOR_AT_MOST_SECONDS = 3_600;

/** The schedule of a strategy: exactly one of cron, at and every. */
export function* buildSchedule(fields: Fields | undefined): Part<Schedule> {
  if (fields === undefined) return undefined;
  const kinds = (["cron", "at", "every"] as const).filter((kind) => fields[kind] !== undefined);
  const found = kinds.length === 0 ? "none is there" : `there are ${kinds.join(" and ")}`;
  if (kinds.length !== 1)
    return yield* refuse`schedule: needs exactly one of cron, at and every; ${found} -> for example { at: "Mon 09:00", timezone: Europe/Berlin }`;
  const schedule = yield* sound(buildParts(fields));
  if (schedule === undefined) return undefined;
  const interval = shortestIntervalSeconds(schedule);
  const shortest = writeDuration(interval * 1_000);
  // A delay that may be as long as the interval would let neighbouring slots change places.
  if (schedule.jitterSeconds !== undefined && schedule.jitterSeconds >= interval)
    yield at`schedule.jitter: is not shorter than the shortest time between two slots, ${shortest} -> use less than ${shortest}, or slots further apart`;
  if (schedule.windows === undefined || nextInstant(schedule, SEARCH_FROM_MS, utcOffsets) !== undefined)
    return schedule;
  return yield* refuse`schedule.windows: none of the schedule's instants lies in these windows -> widen a window, or move the schedule into one`;
}

function* buildParts(fields: Fields): Part<Schedule> {
  yield* checkTimezone(fields);
  const pattern = yield* buildPattern(fields);
  const windows = yield* readAll("windows", fields.windows, parseWindow, suggestWindow);
  const blackouts = yield* readAll("blackouts", fields.blackouts, parseBlackout, suggestBlackout);
  return pattern === undefined ? undefined : { ...pattern, windows, blackouts, jitterSeconds: fields.jitter };
}

function* buildPattern(fields: Fields): Part<Schedule> {
  const { every, cron, at: rule = "", timezone = "UTC" } = fields;
  const anchorSeconds = yield* buildAnchor(fields);
  if (every !== undefined) return { kind: "every", seconds: every, anchorSeconds, timezone: fields.timezone };
  if (cron !== undefined) {
    const pattern = parseCron(cron);
    if (!("problem" in pattern)) return { kind: "cron", expression: cron, timezone };
    const words = cron.trim().split(/\s+/);
    const hint = words.length === 6 ? `without seconds: write "${words.slice(1).join(" ")}"` : undefined;
    return yield* refuse`schedule.cron: ${pattern.problem} -> ${hint}`;
  }
  const read = parseAt(rule);
  if (!("problem" in read)) return { kind: "at", ...read, timezone };
  return yield* refuse`schedule.at: ${read.problem} -> ${suggestionThatParses(parseAt, suggestTimeOfDay(rule))}`;
}

function suggestionThatParses(parse: (text: string) => object, suggested: string | undefined): string | undefined {
  return suggested !== undefined && !("problem" in parse(suggested)) ? `write "${suggested}"` : undefined;
}

const ANCHOR = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:Z|[+-][0-9]{2}:[0-9]{2})$/;

function* buildAnchor({ anchor, every }: Fields): Part<number> {
  if (anchor === undefined) return undefined;
  if (every === undefined)
    return yield* refuseKey`schedule.anchor: only elapsed time is counted from an anchor -> drop the key, or use every`;
  const atMs = ANCHOR.test(anchor) ? Date.parse(anchor) : Number.NaN;
  if (!Number.isNaN(atMs) && atMs >= 0) return atMs / 1_000;
  const example = suggestInstant(anchor) ?? "2026-11-03T08:00Z";
  return yield* refuse`schedule.anchor: "${anchor}" is no instant -> write date, time and offset, for example ${example}`;
}

function* readAll<Value extends object>(
  key: "windows" | "blackouts",
  texts: readonly string[] | undefined,
  parse: (text: string) => Value | { readonly problem: string },
  suggest: (text: string) => string | undefined,
): Part<readonly Value[]> {
  if (texts === undefined) return undefined;
  return yield* each(texts, function* (text, index) {
    const value = parse(text);
    if (!("problem" in value)) return value;
    return yield* refuse`schedule.${key}.${index}: ${value.problem} -> ${suggestionThatParses(parse, suggest(text))}`;
  });
}

/** `9-17` is 09:00-17:00. */
function suggestWindow(text: string): string | undefined {
  const [, days = "", from = "", until = ""] = /^(\S+\s+)?([0-9:]+)\s*-\s*([0-9:]+)$/.exec(text.trim()) ?? [];
  const suggested = [from, until].map(suggestTimeOfDay);
  return suggested.includes(undefined) ? undefined : `${days}${suggested.join("-")}`;
}

function suggestBlackout(text: string): string | undefined {
  const suggested = text.split(/\s*(?:\.\.|to|until)\s*/).map((day) => suggestInstant(day.trim()));
  return suggested.includes(undefined) ? undefined : suggested.join("..");
}

function* checkTimezone({ timezone, every, windows, blackouts }: Fields): Iterable<Complaint> {
  if (timezone === undefined) return;
  if (every !== undefined && windows === undefined && blackouts === undefined)
    yield atKey`schedule.timezone: elapsed time has no time zone -> drop the key, or use at or cron`;
  else if (!isTimeZone(timezone)) {
    const { message, suggestion } = describeTimeZone(timezone);
    yield at`schedule.timezone: ${message} -> ${suggestion}`;
  }
}

/** How long an attempt that signed nothing is repeated: as configured, else half the interval, an hour at most. */
export function* buildRetryFor(asked: number | undefined, schedule: Schedule | undefined): Found<number> {
  if (schedule === undefined) return 1;
  const interval = shortestIntervalSeconds(schedule);
  if (asked === undefined) return Math.max(1, Math.min(Math.floor(interval / 2), RETRY_FOR_AT_MOST_SECONDS));
  const shortest = writeDuration(interval * 1_000);
  if (asked > interval)
    yield at`retry_for: is longer than the shortest time between two slots, ${shortest} -> the next slot comes before: use at most ${shortest}`;
  return asked;
}
