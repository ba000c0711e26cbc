import { DAY_MS, HOUR_MS, MINUTE_MS } from "../time/durations.ts";
import { isOpen, openingAfter } from "./opening-hours.ts";
import type { ElapsedSchedule, Schedule, WallSchedule, ZoneOffsets } from "./schedule.ts";
import { civilDay, instantOfWall, wallAt } from "./wall-clock.ts";
import { admitsDay, followsElapsedTime, nextWall, patternOf, type WallPattern } from "./wall-pattern.ts";

/** Minutes of the longest change of a clock, with room: after so many repeated readings a later one must come. */
const MAX_REPEATED_READINGS = 2 * 24 * 60;
const MAX_ELAPSED_STEPS = 41 * 366 + 4 * 1_440;

/** After so many instants in a row that windows or blackouts take away, there is none. */
const MAX_CLOSED_INSTANTS = 1_000;

/**
 * The first instant of a schedule strictly after `afterMs` (Unix milliseconds; the answer is a whole second).
 *
 * `every` counts multiples of its period from its anchor. Wall-clock rules: a time that a change of the clock skips is
 * due once, at the first instant after the gap; one that is repeated is due once, at the first. Cron patterns that name
 * every hour follow elapsed time instead ({@link followsElapsedTime}). What lies outside of the windows, or on a
 * blackout date, is no instant of the schedule.
 * @returns undefined when the schedule has no further instant
 */
export function nextInstant(schedule: Schedule, afterMs: number, zones: ZoneOffsets): number | undefined {
  let fromMs = afterMs;
  for (let closed = 0; closed < MAX_CLOSED_INSTANTS; closed += 1) {
    const next = schedule.kind === "every" ? nextElapsed(schedule, fromMs) : nextReading(schedule, fromMs, zones);
    if (next === undefined || isOpen(schedule, next, zones)) return next;
    const opensMs = openingAfter(schedule, next, zones);
    if (opensMs === undefined) return undefined;
    fromMs = opensMs - 1;
  }
  return undefined;
}

function nextElapsed(schedule: ElapsedSchedule, afterMs: number): number {
  const anchorMs = (schedule.anchorSeconds ?? 0) * 1_000;
  if (schedule.anchorSeconds !== undefined && afterMs < anchorMs) return anchorMs;
  const periodMs = schedule.seconds * 1_000;
  return anchorMs + (Math.floor((afterMs - anchorMs) / periodMs) + 1) * periodMs;
}

function nextReading(schedule: WallSchedule, afterMs: number, zones: ZoneOffsets): number | undefined {
  const pattern = patternOf(schedule);
  if (followsElapsedTime(pattern)) return nextMatchingReading(pattern, { afterMs, timezone: schedule.timezone }, zones);
  let wallMs = wallAt(afterMs, schedule.timezone, zones);
  for (let readings = 0; readings < MAX_REPEATED_READINGS; readings += 1) {
    const next = nextWall(pattern, wallMs);
    if (next === undefined) return undefined;
    const instantMs = instantOfWall(next, schedule.timezone, zones);
    if (instantMs > afterMs) return instantMs;
    wallMs = next;
  }
  return undefined;
}

/**
 * The instants of a schedule after `afterMs` and up to and including `untilMs`, oldest first, at most `limit`.
 */
export function instantsBetween(
  schedule: Schedule,
  range: { readonly afterMs: number; readonly untilMs: number },
  zones: ZoneOffsets,
  limit: number,
): number[] {
  const instants: number[] = [];
  let atMs = range.afterMs;
  while (instants.length < limit) {
    const next = nextInstant(schedule, atMs, zones);
    if (next === undefined || next > range.untilMs) break;
    instants.push(next);
    atMs = next;
  }
  return instants;
}

const UTC_ONLY: ZoneOffsets = { offsetMinutes: () => 0 };
/** A Monday at midnight, UTC: 2024-01-01. */
const SAMPLE_START_MS = 1_704_067_200_000;
const SAMPLED_INSTANTS = 64;

/**
 * The shortest time between two neighbouring instants of a schedule in seconds, changes of the clock aside. Cron patterns
 * are sampled over their first 64 instants; one that hardly ever occurs counts as a day. Windows and blackouts are left
 * aside: they only make intervals longer.
 */
export function shortestIntervalSeconds(schedule: Schedule): number {
  if (schedule.kind === "every") return schedule.seconds;
  const key = schedule.kind === "cron" ? schedule.expression : JSON.stringify({ ...schedule, timezone: undefined });
  const known = shortest.get(key);
  if (known !== undefined) return known;
  const seconds = sampleShortest(schedule);
  if (shortest.size >= MAX_REMEMBERED) shortest.clear();
  shortest.set(key, seconds);
  return seconds;
}

/** Thousands of strategies share few patterns, and each is asked about several times. */
const shortest = new Map<string, number>();
const MAX_REMEMBERED = 10_000;

function sampleShortest(schedule: WallSchedule): number {
  const range = { afterMs: SAMPLE_START_MS, untilMs: SAMPLE_START_MS + 3 * 366 * DAY_MS };
  const unlimited = { ...schedule, windows: undefined, blackouts: undefined };
  const instants = instantsBetween(unlimited, range, UTC_ONLY, SAMPLED_INSTANTS);
  let shortestMs = Number.POSITIVE_INFINITY;
  for (const [index, instantMs] of instants.entries()) {
    const previous = instants[index - 1];
    if (previous !== undefined) shortestMs = Math.min(shortestMs, instantMs - previous);
  }
  return Number.isFinite(shortestMs) ? shortestMs / 1_000 : DAY_MS / 1_000;
}

/** Steps through real time, reading the wall clock: hour by hour, and minute by minute where the clock changes. */
function nextMatchingReading(
  pattern: WallPattern,
  from: { afterMs: number; timezone: string },
  zones: ZoneOffsets,
): number | undefined {
  let instantMs = (Math.floor(from.afterMs / MINUTE_MS) + 1) * MINUTE_MS;
  for (let steps = 0; steps < MAX_ELAPSED_STEPS; steps += 1) {
    const wallMs = wallAt(instantMs, from.timezone, zones);
    const distanceMs = distanceToCandidate(pattern, wallMs);
    if (distanceMs === 0) return instantMs;
    const landed = wallAt(instantMs + distanceMs, from.timezone, zones) === wallMs + distanceMs;
    instantMs += landed ? distanceMs : MINUTE_MS;
  }
  return undefined;
}

/** Zero when a reading matches; else how far, at least, the next match is on an unchanged clock. */
function distanceToCandidate(pattern: WallPattern, wallMs: number): number {
  const dayNumber = Math.floor(wallMs / DAY_MS);
  if (!admitsDay(pattern, civilDay(dayNumber))) return (dayNumber + 1) * DAY_MS - wallMs;
  const intoHourMs = ((wallMs % HOUR_MS) + HOUR_MS) % HOUR_MS;
  const minute = pattern.minutes.find((candidate) => candidate * MINUTE_MS >= intoHourMs);
  return (minute === undefined ? HOUR_MS : minute * MINUTE_MS) - intoHourMs;
}
