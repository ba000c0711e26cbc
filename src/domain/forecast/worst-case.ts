import { tradedSides } from "../strategy/strategy.ts";
import type { ForecastWorld } from "./forecast.ts";
import { moneyInReach } from "./money-in-reach.ts";
import { type Bound, type Possible, possibleSales, type Sales } from "./possible-sales.ts";

const MONTH_DAYS = 30n;

/** So many sums are made to find the worst window of all strategies; beyond, each one's own worst day counts for it. */
const MOST_SUMS = 1_000_000;

/** The most that all strategies together could sell, in dollars scaled by 1e18, and what keeps it from being more. */
export interface WorstCase {
  readonly perDayUsd: bigint;
  readonly perMonthUsd: bigint;
  /** what bounds the largest part comes first */
  readonly perDayBounds: readonly Bound[];
  readonly perMonthBounds: readonly Bound[];
}

interface Sum {
  readonly usd: bigint;
  readonly bounds: readonly Bound[];
}

/**
 * The most that could be sold in any 24 hours of the next 30 days, and in these 30 days, at today's prices and whatever
 * the market does: each slot at the strategy's own largest amount, within its budget, within what its wallet holds or can
 * come to hold, and within the owner's ceilings. A slot to come counts when it is due, and one that is caught up now.
 */
export function worstCase(world: ForecastWorld): WorstCase {
  const { maxPerDayUsd, maxPerMonthUsd } = world.limits;
  const all = possibleSales(world);
  const sharing = groupsOf(all, world);
  const day = within(worstDay(all, sharing), maxPerDayUsd, "max_per_day");
  const inAll = sumUp(sharing, ({ month }) => month);
  const byDays = { usd: day.usd * MONTH_DAYS, bounds: day.bounds };
  const least = inAll.usd <= byDays.usd ? inAll : byDays;
  const month = maxPerMonthUsd === undefined ? least : within(least, maxPerMonthUsd, "max_per_month");
  return { perDayUsd: day.usd, perDayBounds: day.bounds, perMonthUsd: month.usd, perMonthBounds: month.bounds };
}

function within(sum: Sum, most: bigint, bound: Bound): Sum {
  return sum.usd <= most ? sum : { usd: most, bounds: [bound] };
}

/** Strategies that sell the same tokens of one wallet: together no more than `reach`, undefined where that is not known. */
interface Sharing {
  readonly strategies: readonly Possible[];
  readonly reach: bigint | undefined;
}

function groupsOf(all: readonly Possible[], world: ForecastWorld): readonly Sharing[] {
  const reachOf = moneyInReach(all, world);
  const groups = Map.groupBy(all, ({ spec }) => {
    const tokens = tradedSides(spec).sells.map(({ address }) => address);
    return [spec.wallet.address, ...tokens.sort()].join(" ");
  });
  return [...groups.values()].map((strategies) => {
    const [first] = strategies;
    return { strategies, reach: first === undefined ? undefined : reachOf(first) };
  });
}

function sumUp(groups: readonly Sharing[], salesOf: (one: Possible) => Sales): Sum {
  const parts = groups.flatMap(({ strategies, reach }): readonly Sales[] => {
    const sales = strategies.map(salesOf);
    const usd = sales.reduce((sum, one) => sum + one.usd, 0n);
    return reach !== undefined && reach < usd ? [{ usd: reach, bound: "wallet" }] : sales;
  });
  const largest = parts.filter(({ usd }) => usd > 0n).sort((a, b) => (a.usd < b.usd ? 1 : a.usd > b.usd ? -1 : 0));
  return {
    usd: largest.reduce((sum, { usd }) => sum + usd, 0n),
    bounds: [...new Set(largest.map(({ bound }) => bound))],
  };
}

/** The worst of the windows that begin at a slot; a strategy whose slots are not listed sells its most in each. */
function worstDay(all: readonly Possible[], groups: readonly Sharing[]): Sum {
  const starts = [...new Set(all.flatMap(({ instants }) => instants ?? []))];
  if (starts.length === 0 || starts.length * all.length > MOST_SUMS) return sumUp(groups, ({ day }) => day);
  return starts
    .map((startMs) => sumUp(groups, ({ instants, day, dayFrom }) => (instants === undefined ? day : dayFrom(startMs))))
    .reduce((worst, next) => (next.usd > worst.usd ? next : worst));
}
