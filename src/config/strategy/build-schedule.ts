import { shortestIntervalSeconds } from "../../domain/schedule/next-instants.ts";
import { parseAt } from "../../domain/schedule/parse-at.ts";
import { parseCron } from "../../domain/schedule/parse-cron.ts";
import type { Schedule } from "../../domain/schedule/schedule.ts";
import { closest } from "../closest.ts";
import { DEFAULTS } from "../defaults.ts";
import { problemAt, problemAtKey } from "../source.ts";
import type { CommonFields } from "./common-schema.ts";
import type { StrategyFile } from "./scope.ts";

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
  const zoneIsRight = checkTimezone(file, fields);
  const timezone = fields.timezone ?? DEFAULTS.timezone;
  if (fields.every !== undefined) return zoneIsRight ? { kind: "every", seconds: fields.every } : undefined;
  if (fields.cron !== undefined) {
    const pattern = parseCron(fields.cron);
    if (!("problem" in pattern)) return zoneIsRight ? { kind: "cron", expression: fields.cron, timezone } : undefined;
    problems.push(problemAt(source, ["schedule", "cron"], pattern.problem));
    return undefined;
  }
  const rule = parseAt(fields.at ?? "");
  if (!("problem" in rule)) return zoneIsRight ? { kind: "at", ...rule, timezone } : undefined;
  problems.push(problemAt(source, ["schedule", "at"], rule.problem));
  return undefined;
}

function checkTimezone(file: StrategyFile, fields: CommonFields["schedule"]): boolean {
  const { source, problems } = file;
  const { timezone } = fields;
  if (timezone === undefined) return true;
  if (fields.every !== undefined) {
    const message = "elapsed time has no time zone";
    problems.push(problemAtKey(source, ["schedule", "timezone"], message, "drop the key, or use at or cron"));
    return false;
  }
  if (isTimezone(timezone)) return true;
  const meant = closest(timezone, Intl.supportedValuesOf("timeZone"));
  const suggestion =
    meant === undefined ? "write an IANA name such as Europe/Berlin, or UTC" : `did you mean "${meant}"?`;
  problems.push(
    problemAt(source, ["schedule", "timezone"], `"${timezone}" is no time zone that this machine knows`, suggestion),
  );
  return false;
}

const knownZones = new Map<string, boolean>();

/** Fixed offsets such as +02:00 are refused although Intl takes them: they do not follow summer time. */
function isTimezone(name: string): boolean {
  const known = knownZones.get(name);
  if (known !== undefined) return known;
  let right = false;
  if (/^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/.test(name)) {
    try {
      new Intl.DateTimeFormat("en-US", { timeZone: name });
      right = true;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  }
  if (knownZones.size < 1_000) knownZones.set(name, right);
  return right;
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
    const message = `is longer than the shortest time between two slots, ${interval}s`;
    file.problems.push(
      problemAt(file.source, ["retry_for"], message, "the next slot comes before: use a shorter time"),
    );
  }
  return retry_for;
}
