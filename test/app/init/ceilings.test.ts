import { expect, test } from "vitest";
import { createIntlZones } from "../../../src/adapters/zones/intl-zones.ts";
import type { Key } from "../../../src/app/init/answers.ts";
import { maxPerMonth } from "../../../src/app/init/ceiling-questions.ts";
import { ceilingsFor, countSlots } from "../../../src/app/init/ceilings.ts";
import { layoutOf } from "../../../src/app/init/files.ts";
import { createRuntime } from "../../../src/app/runtime.ts";
import { ceilingProblem, type TradeValue } from "../../../src/domain/forecast/ceilings.ts";
import { parseUsd, type UsdPrice } from "../../../src/domain/money/price.ts";
import { instantsBetween } from "../../../src/domain/schedule/next-instants.ts";
import type { Schedule } from "../../../src/domain/schedule/schedule.ts";
import { DAY_MS, HOUR_MS, SECOND_MS } from "../../../src/domain/time/durations.ts";

const timezone = "Europe/Berlin";
const cron = (expression: string): Schedule => ({ kind: "cron", expression, timezone });
const every = (hours: number): Schedule => ({ kind: "every", seconds: (hours * HOUR_MS) / SECOND_MS });
const DOLLARS = 10n ** 18n;
/** A sale counts from its confirmation on, some blocks after its slot. */
const CONFIRMED_AFTER_MS = 30 * SECOND_MS;

function dollarsIn(ceiling: string): UsdPrice {
  const usd = parseUsd(ceiling.replace(" USD", ""));
  if (usd === undefined) throw new Error(`${ceiling} is no amount of dollars`);
  return usd;
}

test.each([
  ["daily", cron("0 9 * * *")],
  ["once a week", cron("0 9 * * 1")],
  ["on workdays", cron("0 9 * * 1-5")],
  ["on the first of the month", cron("0 9 1 * *")],
  ["each hour of a Monday", cron("0 * * * 1")],
  ["every day of elapsed time", every(24)],
  ["every twelve hours", every(12)],
  ["every six hours", every(6)],
  ["every fortnight", every(14 * 24)],
])("the ceilings that init suggests deny no slot of a strategy that sells %s, in a year", (_, schedule) => {
  const slotUsd = 100n * DOLLARS;
  const nowMs = Date.parse("2026-01-06T12:00:00Z");
  const { trade, day, month } = ceilingsFor(slotUsd, countSlots(schedule, nowMs));
  const limits = {
    maxTradeUsd: dollarsIn(trade),
    maxPerDayUsd: dollarsIn(day),
    maxPerMonthUsd: dollarsIn(month),
    minTradeUsd: undefined,
  };
  // A dollar token is not always worth a dollar.
  const usd = (slotUsd * 1_001n) / 1_000n;
  const trades: TradeValue[] = [];
  const year = { afterMs: nowMs, untilMs: nowMs + 366 * DAY_MS };
  for (const atMs of instantsBetween(schedule, year, createIntlZones(), 9_999)) {
    const problem = ceilingProblem({ atMs, usd, atLeastUsd: usd }, { trades, limits });
    expect(problem, `${new Date(atMs).toISOString()} with ${day} and ${month}`).toBeUndefined();
    trades.push({ atMs: atMs + CONFIRMED_AFTER_MS, usd, atLeastUsd: usd });
  }
});

test.each([
  ["1_000 USD", "1000 USD"],
  ["150 USD", "630 USD"],
])("of a day's ceiling of %s the month's that is suggested is at least that", async (day, month) => {
  const answers = new Map<Key, string>([["maxPerDay", day]]);
  const session = {
    ...{ folder: "/nowhere", layout: layoutOf({}), present: undefined, answers },
    ...{ runtime: createRuntime({ level: "error", env: {} }), isOffline: true },
    ...{ secrets: new Map<string, string>(), unsaid: new Set<Key>(), slotUsd: 100n * DOLLARS },
  };
  expect(await maxPerMonth.fallback(session)).toBe(month);
});
