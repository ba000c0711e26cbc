import type { ZoneOffsets } from "../../domain/schedule/schedule.ts";
import { DAY_MS, MINUTE_MS } from "../../domain/time/durations.ts";

const MAX_CACHED_DAYS = 10_000;

/** Offsets of one UTC day: `before` holds up to `changeMs`, `after` from it on. */
interface DayOffsets {
  readonly before: number;
  readonly after: number;
  readonly changeMs: number;
}

/**
 * Zone offsets from the platform's own zone data (Intl). Formatting a date costs microseconds, so each UTC day of a
 * zone is read at once: its two ends, and by bisection the minute of a change between them.
 */
export function createIntlZones(): ZoneOffsets {
  const zones = new Map<string, { format: Intl.DateTimeFormat; days: Map<number, DayOffsets> }>();
  return {
    offsetMinutes(timezone, instantMs) {
      let zone = zones.get(timezone);
      if (zone === undefined) {
        zone = { format: zoneFormat(timezone), days: new Map() };
        zones.set(timezone, zone);
      }
      const dayNumber = Math.floor(instantMs / DAY_MS);
      let day = zone.days.get(dayNumber);
      if (day === undefined) {
        if (zone.days.size >= MAX_CACHED_DAYS) zone.days.clear();
        day = readDay(zone.format, dayNumber);
        zone.days.set(dayNumber, day);
      }
      return instantMs < day.changeMs ? day.before : day.after;
    },
  };
}

/** @throws RangeError when the platform does not know the zone: configurations are checked when they are loaded */
function zoneFormat(timezone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
}

function readDay(format: Intl.DateTimeFormat, dayNumber: number): DayOffsets {
  const startMs = dayNumber * DAY_MS;
  const before = readOffset(format, startMs);
  const after = readOffset(format, startMs + DAY_MS);
  if (before === after) return { before, after, changeMs: startMs };
  let low = 0;
  let high = DAY_MS / MINUTE_MS;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (readOffset(format, startMs + middle * MINUTE_MS) === before) low = middle;
    else high = middle;
  }
  return { before, after, changeMs: startMs + high * MINUTE_MS };
}

function readOffset(format: Intl.DateTimeFormat, instantMs: number): number {
  const found = new Map(format.formatToParts(instantMs).map((part) => [part.type, part.value]));
  const field = (name: Intl.DateTimeFormatPartTypes): number => Number(found.get(name));
  const wallMs = Date.UTC(field("year"), field("month") - 1, field("day"), field("hour"), field("minute"));
  return Math.round((wallMs - Math.floor(instantMs / MINUTE_MS) * MINUTE_MS) / MINUTE_MS);
}
