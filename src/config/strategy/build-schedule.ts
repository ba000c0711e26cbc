import { nextInstant, shortestIntervalSeconds } from "../../domain/schedule/next-instants.ts";
import { parseAt } from "../../domain/schedule/parse-at.ts";
import { parseCron } from "../../domain/schedule/parse-cron.ts";
import { parseBlackout, parseWindow } from "../../domain/schedule/parse-window.ts";
import type { Schedule, ScheduleLimits } from "../../domain/schedule/schedule.ts";
import { DEFAULTS } from "../defaults.ts";
import { mendInstant, mendTimeOfDay, writeDuration } from "../mend.ts";
import { problemAt, problemAtKey } from "../source.ts";
import type { CommonFields } from "./common-schema.ts";
import type { StrategyFile } from "./scope.ts";
import { describeTimeZone, isTimeZone } from "./time-zones.ts";

/** The schedule of a strategy: exactly one of cron, at and every. */
export function buildSchedule(file: StrategyFile, fields: CommonFields["schedule"] | undefined): Schedule | undefined {
  if (fields === undefined) return undefined;
  const { source, problems } = file;
  const kinds = (["cron", "at", "every"] as const).filter((kind) => fields[kind] !== undefined);
  if (kinds.length !== 1) {
    const found = kinds.length === 0 ? "none is there" : `there are ${kinds.join(" and ")}`;
    problems.push(
      problemAt(
        source,
        ["schedule"],
        `needs exactly one of cron, at and every; ${found}`,
        'for example { at: "Mon 09:00", timezone: Europe/Berlin }',
      ),
    );
    return undefined;
  }
  const before = problems.length;
  checkTimezone(file, fields);
  const bare = buildPattern(file, fields);
  const limits = buildLimits(file, fields);
  if (bare === undefined || problems.length > before) return undefined;
  const schedule = { ...bare, ...limits };
  checkJitter(file, schedule);
  if (limits.windows === undefined || nextInstant(schedule, SEARCH_FROM_MS, utcOffsets) !== undefined) return schedule;
  const message = "none of the schedule's instants lies in these windows";
  problems.push(problemAt(source, ["schedule", "windows"], message, "widen a window, or move the schedule into one"));
  return undefined;
}

/** Whether a schedule ever lies in its windows is looked at in UTC, from an instant before any blackout that matters. */
const SEARCH_FROM_MS = Date.parse("2024-01-01");
const utcOffsets = { offsetMinutes: () => 0 };

function buildPattern(file: StrategyFile, fields: CommonFields["schedule"]): Schedule | undefined {
  const { source, problems } = file;
  const timezone = fields.timezone ?? DEFAULTS.timezone;
  const anchorSeconds = buildAnchor(file, fields);
  if (fields.every !== undefined)
    return { kind: "every", seconds: fields.every, anchorSeconds, timezone: fields.timezone };
  if (fields.cron !== undefined) {
    const pattern = parseCron(fields.cron);
    if (!("problem" in pattern)) return { kind: "cron", expression: fields.cron, timezone };
    const words = fields.cron.trim().split(/\s+/);
    const hint = words.length === 6 ? `without seconds: write "${words.slice(1).join(" ")}"` : undefined;
    problems.push(problemAt(source, ["schedule", "cron"], pattern.problem, hint));
    return undefined;
  }
  const rule = parseAt(fields.at ?? "");
  if (!("problem" in rule)) return { kind: "at", ...rule, timezone };
  const mended = mendTimeOfDay(fields.at ?? "");
  const isRight = mended !== undefined && !("problem" in parseAt(mended));
  problems.push(problemAt(source, ["schedule", "at"], rule.problem, isRight ? `write "${mended}"` : undefined));
  return undefined;
}

const ANCHOR = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:Z|[+-][0-9]{2}:[0-9]{2})$/;

function buildAnchor(file: StrategyFile, { anchor, every }: CommonFields["schedule"]): number | undefined {
  if (anchor === undefined) return undefined;
  const { source, problems } = file;
  if (every === undefined) {
    const message = "only elapsed time is counted from an anchor";
    problems.push(problemAtKey(source, ["schedule", "anchor"], message, "drop the key, or use every"));
    return undefined;
  }
  const atMs = ANCHOR.test(anchor) ? Date.parse(anchor) : Number.NaN;
  if (!Number.isNaN(atMs) && atMs >= 0) return atMs / 1_000;
  const suggestion = `write date, time and offset, for example ${mendInstant(anchor) ?? "2026-11-03T08:00Z"}`;
  problems.push(problemAt(source, ["schedule", "anchor"], `"${anchor}" is no instant`, suggestion));
  return undefined;
}

function buildLimits(file: StrategyFile, fields: CommonFields["schedule"]): ScheduleLimits {
  const { source, problems } = file;
  const readAll = <Value extends object>(
    key: "windows" | "blackouts",
    parse: (text: string) => Value | { readonly problem: string },
    mend: (text: string) => string | undefined,
  ): readonly Value[] | undefined =>
    fields[key]?.flatMap((text, index) => {
      const value = parse(text);
      if (!("problem" in value)) return [value];
      const mended = mend(text);
      const isRight = mended !== undefined && !("problem" in parse(mended));
      const suggestion = isRight ? `write "${mended}"` : undefined;
      problems.push(problemAt(source, ["schedule", key, index], value.problem, suggestion));
      return [];
    });
  return {
    windows: readAll("windows", parseWindow, mendWindow),
    blackouts: readAll("blackouts", parseBlackout, mendBlackout),
    jitterSeconds: fields.jitter,
  };
}

/** `9-17` is 09:00-17:00. */
function mendWindow(text: string): string | undefined {
  const [, days = "", from = "", until = ""] = /^(\S+\s+)?([0-9:]+)\s*-\s*([0-9:]+)$/.exec(text.trim()) ?? [];
  const mended = [from, until].map(mendTimeOfDay);
  return mended.includes(undefined) ? undefined : `${days}${mended.join("-")}`;
}

function mendBlackout(text: string): string | undefined {
  const mended = text.split(/\s*(?:\.\.|to|until)\s*/).map((day) => mendInstant(day.trim()));
  return mended.includes(undefined) ? undefined : mended.join("..");
}

/** A delay that may be as long as the interval would let neighbouring slots change places. */
function checkJitter(file: StrategyFile, schedule: Schedule): void {
  const interval = shortestIntervalSeconds(schedule);
  if (schedule.jitterSeconds === undefined || schedule.jitterSeconds < interval) return;
  const message = `is not shorter than the shortest time between two slots, ${writeDuration(interval * 1_000)}`;
  file.problems.push(
    problemAt(
      file.source,
      ["schedule", "jitter"],
      message,
      `use less than ${writeDuration(interval * 1_000)}, or slots further apart`,
    ),
  );
}

function checkTimezone(file: StrategyFile, fields: CommonFields["schedule"]): void {
  const { source, problems } = file;
  const { timezone } = fields;
  if (timezone === undefined) return;
  if (fields.every !== undefined && fields.windows === undefined && fields.blackouts === undefined) {
    const message = "elapsed time has no time zone";
    problems.push(problemAtKey(source, ["schedule", "timezone"], message, "drop the key, or use at or cron"));
    return;
  }
  if (isTimeZone(timezone)) return;
  const { message, suggestion } = describeTimeZone(timezone);
  problems.push(problemAt(source, ["schedule", "timezone"], message, suggestion));
}

/** How long an attempt that signed nothing is repeated: as configured, else half the interval, an hour at most. */
export function buildRetryFor(
  file: StrategyFile,
  fields: Pick<CommonFields, "retry_for">,
  schedule: Schedule | undefined,
): number {
  if (schedule === undefined) return 1;
  const interval = shortestIntervalSeconds(schedule);
  const { retry_for } = fields;
  if (retry_for === undefined) return Math.max(1, Math.min(Math.floor(interval / 2), DEFAULTS.retryForAtMostSeconds));
  if (retry_for > interval) {
    const message = `is longer than the shortest time between two slots, ${writeDuration(interval * 1_000)}`;
    file.problems.push(
      problemAt(
        file.source,
        ["retry_for"],
        message,
        `the next slot comes before: use at most ${writeDuration(interval * 1_000)}`,
      ),
    );
  }
  return retry_for;
}
