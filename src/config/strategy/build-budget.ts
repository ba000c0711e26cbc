import { parseUsd } from "../../domain/money/price.ts";
import type { Token } from "../../domain/money/token.ts";
import { CALENDAR_PERIODS } from "../../domain/schedule/calendar-period.ts";
import type { Schedule } from "../../domain/schedule/schedule.ts";
import { type Budget, type BudgetCurrency, plannedDollars } from "../../domain/strategy/budget.ts";
import { at, atKey, type Complaint, type Part, refuse } from "../complaint.ts";
import type { MoneyText, Span } from "../units.ts";
import type { CommonFields } from "./common-schema.ts";
import { readAmountOf, type StrategyFile } from "./scope.ts";
import { describeTimeZone, isTimeZone } from "./time-zones.ts";

type Fields = NonNullable<CommonFields["budget"]>;

/** Amounts of a budget, from the shortest time to the longest. */
const AMOUNTS = ["per_day", "per_week", "per_month", "total"] as const;
type AmountKey = (typeof AMOUNTS)[number];

/** What a budget is read with. */
export interface BudgetTerms {
  /** undefined where the token is broken */
  readonly currency: Token | "USD" | undefined;
  readonly schedule: Schedule | undefined;
  /** keys of the kind that say the same as one of the budget's */
  readonly instead?: Partial<Record<"total" | "until", string>>;
  readonly startMs?: number | undefined;
  /** the least that one swap sells, in the currency, and the key that says so; `isOfTotal`: the whole needs room for it, too */
  readonly least?: { readonly raw: bigint; readonly key: string; readonly isOfTotal?: true } | undefined;
}

/** `budget: { per_week: "200 USDC", total: "5200 USDC" }`: what every kind has. */
export function* buildBudget(file: StrategyFile, fields: CommonFields["budget"], terms: BudgetTerms): Part<Budget> {
  if (fields === undefined) return undefined;
  const example = terms.currency === "USD" ? '{ per_week: "500 USD" }' : '{ total: "5200 USDC" }';
  if ([...AMOUNTS, "until" as const, "max_runs" as const].every((key) => fields[key] === undefined))
    yield at`budget: needs per_day, per_week, per_month, total, until or max_runs -> for example ${example}`;
  for (const [key, other] of Object.entries(terms.instead ?? {}))
    if (fields[key as "total" | "until"] !== undefined)
      yield atKey`budget.${key}: ${other} says the same for this kind -> write it there`;
  const amounts: Partial<Record<AmountKey, bigint | undefined>> = {};
  for (const key of AMOUNTS) amounts[key] = yield* readBudgeted(file, ["budget", key], fields[key], terms.currency);
  yield* checkAmounts(amounts, terms);
  if (terms.startMs !== undefined && fields.until !== undefined && fields.until.lastMs < terms.startMs)
    yield at`budget.until: lies before start, so nothing would ever be bought`;
  const timezone = yield* findZone(fields, terms.schedule);
  const limits = CALENDAR_PERIODS.flatMap((period) => {
    const most = amounts[`per_${period}`];
    return most === undefined ? [] : [{ period, most }];
  });
  return {
    total: amounts.total,
    untilMs: fields.until?.lastMs,
    maxRuns: fields.max_runs,
    calendar: limits.length === 0 || timezone === undefined ? undefined : { timezone, limits },
    inDollars: terms.currency === "USD" ? true : undefined,
  };
}

/** The first instant of a `start`; undefined where it is now, or not written. */
export function startMsOf(start: Span | "now" | undefined): number | undefined {
  return start === "now" ? undefined : start?.firstMs;
}

/** An amount of the currency that a budget is counted in. */
function* readBudgeted(
  file: StrategyFile,
  path: readonly [string, string],
  money: MoneyText | undefined,
  currency: BudgetCurrency | undefined,
): Part<bigint> {
  if (money === undefined || currency === undefined) return undefined;
  if (currency !== "USD") return yield* readAmountOf(file, path, money, currency);
  if (money.symbol !== "USD")
    return yield* refuse`${path}: this kind may sell several tokens, so its budget is in dollars, not in ${money.symbol} -> write for example "500 USD"`;
  const usd = parseUsd(money.number);
  if (usd !== undefined && usd > 0n) return usd;
  return yield* refuse`${path}: "${money.number} USD" is no amount that can be traded -> write for example "500 USD"`;
}

/** A bound that a longer one is tighter than never binds: one of the two is a mistake. */
function* checkAmounts(
  amounts: Partial<Record<AmountKey, bigint | undefined>>,
  { least, currency }: BudgetTerms,
): Iterable<Complaint> {
  for (const [index, key] of AMOUNTS.entries()) {
    const amount = amounts[key];
    if (amount === undefined) continue;
    const longer = AMOUNTS.slice(index + 1).find((other) => (amounts[other] ?? amount) < amount);
    if (longer !== undefined)
      yield at`budget.${key}: is more than ${longer}, so it would never bind -> lower it, or leave it out`;
    const usable = currency === "USD" ? plannedDollars(amount) : amount;
    if (
      least !== undefined &&
      usable < least.raw &&
      (key !== "total" || currency === "USD" || least.isOfTotal === true)
    )
      yield at`budget.${key}: is less than ${least.key} lets through, so nothing would ever be sold -> raise it, or lower ${least.key}`;
  }
}

/** Whose midnight a day, week and month begin at: a time zone of its own, else that of the schedule. */
function* findZone(fields: Fields, schedule: Schedule | undefined): Part<string> {
  const isNeeded = CALENDAR_PERIODS.some((period) => fields[`per_${period}`] !== undefined);
  const { timezone } = fields;
  if (timezone !== undefined && !isNeeded)
    yield atKey`budget.timezone: only a day, week or month begins at a midnight -> drop the key, or use per_day, per_week or per_month`;
  if (timezone !== undefined && !isTimeZone(timezone)) {
    const { message, suggestion } = describeTimeZone(timezone);
    return yield* refuse`budget.timezone: ${message} -> ${suggestion}`;
  }
  if (!isNeeded || schedule === undefined) return timezone;
  const zone = timezone ?? schedule.timezone;
  if (zone === undefined)
    yield at`budget: a day, week or month begins at midnight, and neither budget nor schedule says where -> add timezone: Europe/Berlin, or timezone: UTC`;
  return zone;
}
