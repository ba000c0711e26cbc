import { larger, smaller } from "../money/bigint.ts";
import { valueUp } from "../money/price.ts";
import { type CalendarPeriod, calendarPeriod } from "../schedule/calendar-period.ts";
import { instantsSince } from "../schedule/instants-since.ts";
import { instantsBetween, shortestIntervalSeconds } from "../schedule/next-instants.ts";
import type { Schedule, ZoneOffsets } from "../schedule/schedule.ts";
import type { MostSold, Worth } from "../strategy/kind.ts";
import type { StrategySpec } from "../strategy/spec.ts";
import { mostSoldBy, tradedSides } from "../strategy/strategy.ts";
import { DAY_MS } from "../time/durations.ts";
import { runsAtOnce } from "./coming-runs.ts";
import type { ForecastStrategy, ForecastWorld } from "./forecast.ts";

/** How far the worst case looks ahead. */
const HORIZON_MS = 30 * DAY_MS;

/** A strategy with more slots than this in the horizon counts as always due: its instants are not listed. */
const MOST_INSTANTS = 10_000;

/** What keeps sales from being more. */
export type Bound = "amounts" | "budget" | "own_day" | "wallet" | "max_trade" | "max_per_day" | "max_per_month";

/** The most that something sells, in dollars scaled by 1e18, and why not more. */
export interface Sales {
  readonly usd: bigint;
  readonly bound: Bound;
}

/** What one strategy could sell by its own settings and the owner's ceiling of a trade. */
export interface Possible {
  readonly spec: StrategySpec;
  /** in the whole horizon */
  readonly month: Sales;
  /** in its own worst 24 hours */
  readonly day: Sales;
  /** its slots of the horizon; undefined when they are too many to be listed */
  readonly instants: readonly number[] | undefined;
  /** in the 24 hours from an instant on, where its slots are listed */
  readonly dayFrom: (startMs: number) => Sales;
}

/** The most that each strategy could sell, slot by slot. */
export function possibleSales(world: ForecastWorld): readonly Possible[] {
  const shared: Shared = { world, listed: new Map(), touched: new Map() };
  return world.strategies.map((strategy) => possibleOf(strategy, shared));
}

/** The slots of a schedule in a stretch of time; thousands of strategies share few schedules. */
interface Listed {
  readonly count: number;
  readonly instants: readonly number[] | undefined;
  readonly busiest: number;
}

/** What strategies have in common is found once. */
interface Shared {
  readonly world: ForecastWorld;
  readonly listed: Map<string, Listed>;
  readonly touched: Map<string, Touched>;
}

function possibleOf(strategy: ForecastStrategy, shared: Shared): Possible {
  const { world, listed } = shared;
  const { spec, memory, spent } = strategy;
  const most = mostSoldBy(spec, memory, spent);
  const bounds = budgetBounds(strategy, shared);
  const terms = { ...termsOf(most, world), bounds };
  const range = {
    afterMs: Math.max(world.nowMs, (most.fromMs ?? 0) - 1),
    untilMs: Math.min(
      ...[most.untilMs, spec.budget?.untilMs].flatMap((endMs) => endMs ?? []),
      world.nowMs + HORIZON_MS,
    ),
  };
  const key = JSON.stringify({ schedule: spec.schedule, range });
  const slots = listed.get(key) ?? listSlots(spec.schedule, range, world.zones);
  listed.set(key, slots);
  const isOpen = range.afterMs === world.nowMs && range.untilMs > world.nowMs;
  const { count, instants, busiest } = isOpen ? withRunsAtOnce(slots, strategy, world) : slots;
  return {
    spec,
    month: salesOf(terms, { runs: count, windowMs: HORIZON_MS }),
    day: salesOf(terms, { runs: busiest, windowMs: DAY_MS }),
    instants,
    dayFrom: (startMs) => salesOf(terms, { runs: countFrom(instants ?? [], startMs), windowMs: DAY_MS }),
  };
}

function listSlots(schedule: Schedule, range: { afterMs: number; untilMs: number }, zones: ZoneOffsets): Listed {
  const count = range.untilMs > range.afterMs ? instantsSince(schedule, range, zones) : 0;
  if (count <= MOST_INSTANTS) {
    const instants = instantsBetween(schedule, range, zones, MOST_INSTANTS);
    return { count, instants, busiest: mostWithin(instants, DAY_MS) };
  }
  // as if no window of the schedule were ever closed
  const aDay = Math.ceil(DAY_MS / (shortestIntervalSeconds(schedule) * 1_000));
  return { count, instants: undefined, busiest: Math.min(count, aDay) };
}

/** The same with what nothing holds back: it sells now, and a run for several slots as much as each of them. */
function withRunsAtOnce(listed: Listed, strategy: ForecastStrategy, world: ForecastWorld): Listed {
  const more = runsAtOnce(strategy, world).runs.reduce((sum, { slots }) => sum + slots, 0);
  if (more === 0) return listed;
  const count = listed.count + more;
  if (listed.instants === undefined) return { count, instants: undefined, busiest: listed.busiest + more };
  const instants = [...Array.from({ length: more }, () => world.nowMs), ...listed.instants];
  return { count, instants, busiest: mostWithin(instants, DAY_MS) };
}

/** The same in dollars. */
interface Terms {
  readonly perRun: Sales;
  readonly left: bigint | undefined;
  readonly runs: number | undefined;
  readonly perDay: bigint | undefined;
  readonly restMs: number;
}

/** No swap is worth more than the owner's largest trade; neither is one whose token has no price. */
function termsOf(most: MostSold, world: ForecastWorld): Terms {
  const ceiling = world.limits.maxTradeUsd * BigInt(most.swaps ?? 1);
  const own = most.perRun === undefined ? undefined : dollarsOf(most.perRun, world);
  return {
    perRun: own === undefined || own > ceiling ? { usd: ceiling, bound: "max_trade" } : { usd: own, bound: "amounts" },
    left: most.left === undefined ? undefined : dollarsOf(most.left, world),
    runs: most.runs,
    perDay: most.perDayUsd,
    restMs: (most.restSeconds ?? 0) * 1_000,
  };
}

/** The most that a budget lets through in a window of a day and in the horizon, in dollars. */
interface BudgetBounds {
  readonly day: bigint | undefined;
  readonly horizon: bigint | undefined;
}

/** So many periods of a calendar the horizon touches, and 24 hours of it at most. */
interface Touched {
  readonly day: bigint;
  readonly horizon: bigint;
}

/** Three months at the end of January; and where clocks go forward, 24 hours may touch a day before and one behind it. */
function touchedBy(period: CalendarPeriod, timezone: string, { world, touched }: Shared): Touched {
  const key = `${period} ${timezone}`;
  const known = touched.get(key);
  if (known !== undefined) return known;
  let [horizon, day] = [0n, 2n];
  for (let atMs = world.nowMs; atMs <= world.nowMs + HORIZON_MS; horizon += 1n) {
    const { sinceMs, renewsMs } = calendarPeriod(period, { atMs, timezone }, world.zones);
    if (renewsMs - sinceMs < DAY_MS) day = 3n;
    atMs = renewsMs;
  }
  const found = { horizon, day: smaller(day, horizon) };
  touched.set(key, found);
  return found;
}

/** A budget in one token bounds a strategy that sells several ones in part only, so it is left aside there. */
function budgetBounds({ spec, spent, budget: done }: ForecastStrategy, shared: Shared): BudgetBounds {
  const { world } = shared;
  const { budget } = spec;
  const [token, ...others] = tradedSides(spec).sells;
  const isInDollars = budget?.inDollars === true;
  if (budget === undefined || token === undefined || (!isInDollars && others.length > 0)) {
    return { day: undefined, horizon: undefined };
  }
  const worth = (most: bigint): bigint | undefined => (isInDollars ? most : dollarsOf({ token, raw: most }, world));
  const inDollars = done?.counts.find(({ bound }) => bound === "total")?.usd ?? 0n;
  const sold = isInDollars ? inDollars : (spent.get(token.address) ?? 0n);
  const left = budget.total === undefined ? undefined : worth(budget.total - sold);
  const { timezone = "UTC", limits: most = [] } = budget.calendar ?? {};
  const limits = most.map((limit) => ({ usd: worth(limit.most), touched: touchedBy(limit.period, timezone, shared) }));
  const within = (window: "day" | "horizon"): bigint | undefined =>
    [left, ...limits.map(({ touched, usd }) => (usd === undefined ? undefined : usd * touched[window]))]
      .filter((bound) => bound !== undefined)
      .reduce<bigint | undefined>((least, bound) => (least === undefined ? bound : smaller(least, bound)), undefined);
  return { day: within("day"), horizon: within("horizon") };
}

function dollarsOf(worth: Worth, { prices }: ForecastWorld): bigint | undefined {
  if ("usd" in worth) return worth.usd;
  const price = prices.get(worth.token.address);
  if (price === undefined) return undefined;
  return valueUp({ raw: larger(worth.raw, 0n), decimals: worth.token.decimals }, price.usd);
}

function salesOf(
  terms: Terms & { readonly bounds: BudgetBounds },
  window: { readonly runs: number; readonly windowMs: number },
): Sales {
  const { perRun, left, perDay, restMs } = terms;
  const rested = restMs === 0 ? window.runs : Math.min(window.runs, Math.ceil(window.windowMs / restMs));
  const runs = Math.min(rested, terms.runs ?? rested);
  const days = BigInt(Math.ceil(window.windowMs / DAY_MS));
  const sales: Sales = { usd: BigInt(runs) * perRun.usd, bound: runs < rested ? "budget" : perRun.bound };
  const inDays = perDay === undefined ? sales : bounded(sales, perDay * days, "own_day");
  const inLife = left === undefined ? inDays : bounded(inDays, left, "budget");
  const budget = window.windowMs === DAY_MS ? terms.bounds.day : terms.bounds.horizon;
  return budget === undefined ? inLife : bounded(inLife, budget, "budget");
}

function bounded(sales: Sales, most: bigint, bound: Bound): Sales {
  return sales.usd <= most ? sales : { usd: smaller(sales.usd, most), bound };
}

/** How many of the sorted instants lie in the window that holds most of them. A window's end is not part of it. */
function mostWithin(instants: readonly number[], windowMs: number): number {
  let first = 0;
  let most = 0;
  for (const [last, atMs] of instants.entries()) {
    while (atMs - (instants[first] ?? atMs) >= windowMs) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

function countFrom(instants: readonly number[], startMs: number): number {
  return lowerBound(instants, startMs + DAY_MS) - lowerBound(instants, startMs);
}

/** The place of the first sorted instant that is not before another one. */
function lowerBound(instants: readonly number[], atMs: number): number {
  let low = 0;
  let high = instants.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((instants[middle] ?? atMs) < atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
