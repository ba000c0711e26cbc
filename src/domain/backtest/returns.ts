import { DAY_MS } from "../time/durations.ts";
import type { ValueSample } from "./record.ts";

/** Fewer days than these say nothing about a year. */
export const LEAST_DAYS = 30;

/** Fewer losing days than these say nothing about losses. */
const LEAST_LOSING_DAYS = 5;

const YEAR_DAYS = 365;

/** One day's result as a share of what there was at its beginning. */
export interface DayReturn {
  /** beginning of the day in UTC, Unix milliseconds */
  readonly atMs: number;
  readonly share: number;
  /** dollars (1e-18) */
  readonly change: bigint;
}

/** How far a value fell from its high, and for how long it was below it. */
export interface Fall {
  readonly share: number;
  /** dollars (1e-18) */
  readonly amount: bigint;
  readonly highMs: number;
  readonly lowMs: number;
  /** when the high was reached again; undefined: it was not */
  readonly recoveredMs: number | undefined;
}

/** Ratios of a year; each is undefined where there is too little to say it. */
export interface Ratios {
  readonly cagr: number | undefined;
  readonly sharpe: number | undefined;
  readonly sortino: number | undefined;
  readonly calmar: number | undefined;
}

const shareOf = (after: bigint, before: bigint): number => Number(after - before) / Number(before);

/**
 * The results of whole days in UTC, by the last value of each. What passed since another day than the one before, in a gap
 * or in a candle of a week, is the result of no day, and so is what passed in a part of one.
 */
export function dayReturns(samples: readonly ValueSample[]): readonly DayReturn[] {
  const ends = new Map<number, bigint>();
  const stepMs = stepOf(samples);
  for (const [index, { atMs, value }] of samples.entries()) {
    const endMs = Math.ceil(atMs / DAY_MS) * DAY_MS;
    // The last value is that of the moment before the end.
    const isLast = index === samples.length - 1;
    if (isLast ? endMs - atMs <= 1 : endMs - atMs < stepMs) ends.set(endMs, value);
  }
  const days = [...ends];
  return days.flatMap(([endMs, value], index) => {
    const [beforeMs, before = 0n] = days[index - 1] ?? [];
    if (before <= 0n || beforeMs !== endMs - DAY_MS) return [];
    return [{ atMs: endMs - DAY_MS, share: shareOf(value, before), change: value - before }];
  });
}

/** How far values usually lie apart: the last one may come sooner. */
function stepOf(samples: readonly ValueSample[]): number {
  let stepMs = Number.POSITIVE_INFINITY;
  for (const [index, { atMs }] of samples.slice(0, -1).entries()) {
    const before = samples[index - 1];
    if (before !== undefined) stepMs = Math.min(stepMs, atMs - before.atMs);
  }
  return stepMs;
}

/** The deepest fall; undefined where the value never fell. */
export function deepestFall(samples: readonly ValueSample[]): Fall | undefined {
  let high: ValueSample | undefined;
  let found: Fall | undefined;
  for (const sample of samples) {
    if (high === undefined || sample.value >= high.value) {
      if (found !== undefined && found.highMs === high?.atMs && found.recoveredMs === undefined)
        found = { ...found, recoveredMs: sample.atMs };
      high = sample;
      continue;
    }
    const share = -shareOf(sample.value, high.value);
    if (found !== undefined && share <= found.share) continue;
    found = {
      ...{ share, amount: high.value - sample.value, highMs: high.atMs, lowMs: sample.atMs, recoveredMs: undefined },
    };
  }
  return found;
}

/** Computes the ratios that people compare, over days, a year being 365 of them and the riskless rate nothing. */
export function ratiosOf(samples: readonly ValueSample[], days: readonly DayReturn[], fall: Fall | undefined): Ratios {
  const none = { cagr: undefined, sharpe: undefined, sortino: undefined, calmar: undefined };
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || first.value <= 0n) return none;
  const spanMs = last.atMs - first.atMs;
  // The last value is that of the moment before the end.
  if (spanMs + 1 < LEAST_DAYS * DAY_MS) return none;
  const years = spanMs / (YEAR_DAYS * DAY_MS);
  const cagr = (Number(last.value) / Number(first.value)) ** (1 / years) - 1;
  const calmar = fall === undefined || fall.share === 0 ? undefined : cagr / fall.share;
  return { cagr, calmar, ...ofDays(days) };
}

function ofDays(days: readonly DayReturn[]): Pick<Ratios, "sharpe" | "sortino"> {
  if (days.length < LEAST_DAYS) return { sharpe: undefined, sortino: undefined };
  const shares = days.map(({ share }) => share);
  const mean = meanOf(shares);
  const losses = shares.filter((share) => share < 0);
  const downside = Math.sqrt(losses.reduce((sum, share) => sum + share ** 2, 0) / shares.length);
  const deviation = deviationOf(shares);
  const yearly = Math.sqrt(YEAR_DAYS);
  return {
    sharpe: deviation > 0 ? (mean / deviation) * yearly : undefined,
    sortino: losses.length >= LEAST_LOSING_DAYS ? (mean / downside) * yearly : undefined,
  };
}

/** The mean of some numbers; there must be one. */
export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The sample's standard deviation; zero of fewer than two. */
export function deviationOf(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const mean = meanOf(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}
