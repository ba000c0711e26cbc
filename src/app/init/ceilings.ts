import { createIntlZones } from "../../adapters/zones/intl-zones.ts";
import { describeDollars } from "../../domain/money/for-people.ts";
import { USD_DECIMALS } from "../../domain/money/price.ts";
import { instantsBetween, nextInstant } from "../../domain/schedule/next-instants.ts";
import type { Schedule } from "../../domain/schedule/schedule.ts";
import { DAY_MS } from "../../domain/time/durations.ts";

const MONTH_DAYS = 30;
/** So many have room for each stretch of 30 days that a year has. */
const AHEAD_DAYS = 366 + MONTH_DAYS;
/** A schedule that has more slots than this ahead is as busy in the next 30 days as in any. */
const MOST_AHEAD = 10_000;
const MOST_SLOTS = 50_000;
const SHOWN_SLOTS = 3;
const DOLLAR = 10n ** BigInt(USD_DECIMALS);

/**
 * How many slots a schedule has at most in 24 hours, and in 30 days, both ends included: a sale counts from its
 * confirmation on, so at a slot that one of a day before still does.
 */
export interface SlotCounts {
  readonly perDay: number;
  readonly perMonth: number;
}

export function countSlots(schedule: Schedule, nowMs: number): SlotCounts {
  if (schedule.kind === "every") {
    const within = (days: number): number => Math.floor((days * DAY_MS) / (schedule.seconds * 1_000)) + 1;
    return { perDay: within(1), perMonth: within(MONTH_DAYS) };
  }
  const slots = slotsAhead(schedule, nowMs);
  return { perDay: mostWithin(slots, DAY_MS), perMonth: mostWithin(slots, MONTH_DAYS * DAY_MS) };
}

function slotsAhead(schedule: Schedule, nowMs: number): readonly number[] {
  const zones = createIntlZones();
  const within = (days: number, most: number): readonly number[] =>
    instantsBetween(schedule, { afterMs: nowMs, untilMs: nowMs + days * DAY_MS }, zones, most);
  const ahead = within(AHEAD_DAYS, MOST_AHEAD);
  return ahead.length < MOST_AHEAD ? ahead : within(MONTH_DAYS, MOST_SLOTS);
}

function mostWithin(slots: readonly number[], windowMs: number): number {
  let [most, first] = [0, 0];
  for (const [index, slotMs] of slots.entries()) {
    while ((slots[first] ?? slotMs) < slotMs - windowMs) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

/** The next slots by the wall clock of a zone, for a person. */
export function nextSlots(schedule: Schedule, timezone: string, nowMs: number): readonly string[] {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: timezone,
    ...{ weekday: "short", day: "2-digit", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" },
    timeZoneName: "short",
  });
  const zones = createIntlZones();
  const slots: string[] = [];
  for (let atMs = nextInstant(schedule, nowMs, zones); atMs !== undefined && slots.length < SHOWN_SLOTS; ) {
    slots.push(format.format(atMs));
    atMs = nextInstant(schedule, atMs, zones);
  }
  return slots;
}

/** Ceilings that leave what a strategy wants a little room, rounded up to two digits. */
export function ceilingsFor(
  slotUsd: bigint,
  counts: SlotCounts,
): { readonly trade: string; readonly day: string; readonly month: string } {
  const room = (slots: number): string => `${roundedUp((slotUsd * BigInt(Math.max(1, slots)) * 5n) / 4n)} USD`;
  return { trade: room(1), day: room(counts.perDay), month: room(counts.perMonth) };
}

function roundedUp(usd: bigint): string {
  const dollars = (usd + DOLLAR - 1n) / DOLLAR;
  const step = 10n ** BigInt(Math.max(0, dollars.toString().length - 2));
  return (((dollars + step - 1n) / step) * step).toString();
}

/** What slots come to, in words. */
export function describeSales(slotUsd: bigint, { perDay, perMonth }: SlotCounts): string {
  const times = (slots: number): string => describeDollars(slotUsd * BigInt(slots));
  return `this strategy sells up to ${times(perDay)} in 24 hours and ${times(perMonth)} in 30 days, slots at both ends counted, at today's prices`;
}
