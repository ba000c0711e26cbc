import { createIntlZones } from "../../../src/adapters/zones/intl-zones.ts";

export const zones = createIntlZones();
export const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Zones with all sorts of changes: whole and half hours, at midnight, in summer and during Ramadan, abolished ones. */
export const ZONES = [
  "UTC",
  "Europe/Berlin",
  "Europe/London",
  "America/New_York",
  "America/St_Johns",
  "America/Havana",
  "America/Santiago",
  "America/Sao_Paulo",
  "Africa/Casablanca",
  "Africa/Cairo",
  "Asia/Beirut",
  "Asia/Kathmandu",
  "Asia/Tehran",
  "Australia/Lord_Howe",
  "Pacific/Auckland",
  "Pacific/Chatham",
];

/** A change of a zone's clock: what it shows before and from the instant on, in minutes from UTC. */
export interface ClockChange {
  readonly timezone: string;
  readonly atMs: number;
  readonly before: number;
  readonly after: number;
}

/** Every change of the clock in the zones from 2020 to 2040, found by walking through the platform's own zone data. */
export function clockChanges(): readonly ClockChange[] {
  return ZONES.flatMap((timezone) => {
    const changes: ClockChange[] = [];
    const offset = (atMs: number): number => zones.offsetMinutes(timezone, atMs);
    for (let hourMs = Date.parse("2020-01-01"); hourMs < Date.parse("2041-01-01"); hourMs += 12 * HOUR_MS) {
      if (offset(hourMs) === offset(hourMs + 12 * HOUR_MS)) continue;
      let atMs = hourMs;
      while (offset(atMs) === offset(atMs + 60_000)) atMs += 60_000;
      changes.push({ timezone, atMs: atMs + 60_000, before: offset(atMs), after: offset(atMs + 60_000) });
    }
    return changes;
  });
}

/** The reading of a wall clock, as the five fields of a cron expression would name it. */
export function readingOf(wallMs: number): { minute: number; hour: number } {
  const wall = new Date(wallMs);
  return { minute: wall.getUTCMinutes(), hour: wall.getUTCHours() };
}
