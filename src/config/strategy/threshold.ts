import { formatPercent, ONE_PPM } from "../../domain/money/fraction.ts";
import type { Token } from "../../domain/money/token.ts";
import { shortestIntervalSeconds } from "../../domain/schedule/next-instants.ts";
import type { Schedule } from "../../domain/schedule/schedule.ts";
import { ONLY_LEG } from "../../domain/strategy/threshold-memory.ts";
import type { ThresholdLeg, ThresholdSpec } from "../../domain/strategy/threshold-spec.ts";
import type { Keys } from "../check-shape.ts";
import { at, atKey, type Complaint, each, type Found, type Part, type Path, refuse } from "../complaint.ts";
import { type BudgetTerms, buildBudget } from "./build-budget.ts";
import { buildCommon, checkGaslessSale } from "./build-common.ts";
import { RETRY_FOR_AT_MOST_SECONDS } from "./build-schedule.ts";
import { fileKind } from "./file-kind.ts";
import { checkPair, findToken, isWritten, readAmountOf, type StrategyFile } from "./scope.ts";
import { buildLeg, levelOf, type PlacedLeg, type ThresholdPair } from "./threshold-leg.ts";
import { type ThresholdFields, thresholdSchema } from "./threshold-schema.ts";

type Fields = Partial<ThresholdFields>;

/** A time without a check is a gap when it is longer than so many intervals, and longer than this. */
const MAX_GAP = { intervals: 3, atLeastSeconds: 60 };
/** The share of the time to the next check in which a trigger that fired is tried. */
const RETRY_SHARE = 0.9;
/** Keys of a single leg at the top of a file. */
const LEG_KEYS = ["id", "when", "sell", "floor", "rearm"] as const;

function* build(file: StrategyFile, id: string, { fields, whole }: Keys<typeof thresholdSchema>): Part<ThresholdSpec> {
  const common = yield* buildCommon(file, id, fields);
  const placed = [...(yield* placeLegs(file, fields))];
  const pair = yield* buildPair(file, fields, placed);
  const allocation = yield* buildAllocation(file, fields, pair);
  const minFill = yield* readAmountOf(file, ["min_fill"], fields.min_fill, pair?.sell);
  const legs = pair === undefined ? [] : yield* each(placed, (leg) => buildLeg(file, leg, pair));
  const budget = yield* buildBudget(file, fields.budget, {
    ...{ currency: pair?.sell, schedule: common?.schedule, instead: { until: "until" } },
    least: leastOf(legs, minFill),
  });
  const maxGapSeconds = yield* buildMaxGap(fields.max_gap, common?.schedule);
  yield* checkCatchUp(fields);
  if (pair === undefined) return undefined;
  yield* checkGaslessSale(fields, pair.sell);
  yield* checkLadder(legs);
  if (minFill !== undefined && legs.length > 0 && legs.every(({ amount }) => "raw" in amount))
    yield atKey`min_fill: a fixed amount is sold whole or not at all -> leave the key out, or sell a share such as { amount: 25%, of: ${pair.sell.symbol} }`;
  if (common === undefined || maxGapSeconds === undefined || whole === undefined) return undefined;
  const retryForSeconds = fields.retry_for ?? windowOf(common.schedule);
  const { attempts, until: untilMs } = whole;
  const terms = { maxGapSeconds, retryForSeconds, attempts, untilMs, budget };
  const least = minFill === undefined ? {} : { minFill };
  return { ...common, ...pair, kind: "threshold", legs, allocation, ...terms, ...least };
}

/** What a budget must have room for: the smallest sale of any leg; undefined where a share may sell next to nothing. */
function leastOf(legs: readonly ThresholdLeg[], minFill: bigint | undefined): BudgetTerms["least"] {
  const least = { raw: minFill ?? 0n, key: "min_fill" };
  const sales = legs.map(({ amount }) =>
    "raw" in amount ? { raw: amount.raw, key: "sell", isOfTotal: true as const } : least,
  );
  const smallest = sales.reduce<BudgetTerms["least"]>(
    (one, sale) => (one && one.raw <= sale.raw ? one : sale),
    undefined,
  );
  return smallest?.raw === 0n ? undefined : smallest;
}

/**
 * A trigger that fired is tried until shortly before the next check, so that one that is checked rarely rests no
 * longer.
 */
function windowOf(schedule: Schedule): number {
  const seconds = Math.floor(shortestIntervalSeconds(schedule) * RETRY_SHARE);
  return Math.max(1, Math.min(seconds, RETRY_FOR_AT_MOST_SECONDS));
}

/** The legs with their places: the one at the top, or those of the groups. */
function* placeLegs(file: StrategyFile, fields: Fields): Found<readonly PlacedLeg[]> {
  const { oco, ladder, if_already_true, on_missed } = fields;
  if (!isWritten(file, "oco", "ladder")) return yield* placeOnlyLeg(file, fields);
  for (const key of LEG_KEYS)
    if (isWritten(file, key))
      yield atKey`${key}: belongs to a leg, and the legs of this file stand in oco or ladder -> move it into a leg`;
  const place = (legs: Fields["oco"], key: "oco" | "ladder", role: PlacedLeg["role"]): readonly PlacedLeg[] =>
    (legs ?? []).map((leg, index) => ({
      id: leg.id,
      path: [key, index],
      role,
      fields: { ...sharedKeys(leg, { if_already_true, on_missed }), ...leg },
    }));
  const legs = [...place(oco, "oco", "only"), ...place(ladder, "ladder", "level")];
  if (oco?.length === 1 && !isWritten(file, "ladder"))
    yield at`oco: a group has at least two legs -> add the other leg, or write this one at the top`;
  for (const [index, { id: name, path }] of legs.entries())
    if (legs.findIndex((leg) => leg.id === name) < index)
      yield at`${path}.id: "${name}" names two legs -> give each its own name`;
  return legs;
}

function* placeOnlyLeg(file: StrategyFile, fields: Fields): Found<readonly PlacedLeg[]> {
  const { when, sell, id = ONLY_LEG } = fields;
  for (const key of ["when", "sell"] as const) {
    const { description } = thresholdSchema.shape[key].unwrap().meta() ?? {};
    if (!isWritten(file, key)) yield at`${key}: the key "${key}" is missing -> it is ${description}`;
  }
  if (when === undefined || sell === undefined) return [];
  return [{ id, path: [], role: "only", fields: { ...fields, when, sell } }];
}

/** What stands at the top of the file applies to the legs that can have it. */
function sharedKeys(
  { when }: NonNullable<Fields["oco"]>[number],
  top: Pick<Fields, "if_already_true" | "on_missed">,
): Pick<Fields, "if_already_true" | "on_missed"> {
  const crosses = when.crosses_above ?? when.crosses_below;
  return {
    if_already_true: crosses === undefined ? undefined : top.if_already_true,
    on_missed: (crosses ?? when.trail) === undefined ? undefined : top.on_missed,
  };
}

/** The two tokens of all legs. The first leg says what is sold and, by its level, in which token prices are given. */
function* buildPair(file: StrategyFile, fields: Fields, legs: readonly PlacedLeg[]): Part<ThresholdPair> {
  const buy = yield* findToken(file, ["buy"], fields.buy);
  const [first] = legs;
  if (first === undefined) return undefined;
  const { sell: sale } = first.fields;
  const isShare = "of" in sale;
  const sell = yield* lookUp(
    file,
    [...first.path, "sell", ...(isShare ? ["of"] : [])],
    isShare ? sale.of : sale.symbol,
  );
  yield* checkPair(file, ["buy"], { sell, buy });
  if (sell === undefined || buy === undefined || sell.address === buy.address) return undefined;
  const [price] = legs.flatMap(writtenPrice);
  if (price === undefined) return { sell, buy, watch: sell, quote: buy };
  const quote = yield* lookUp(file, price.path, price.symbol);
  if (quote === undefined) return undefined;
  if (quote.address === buy.address) return { sell, buy, watch: sell, quote };
  if (quote.address === sell.address) return { sell, buy, watch: buy, quote };
  return yield* refuse`${price.path}: the level is in ${quote.symbol}, which is neither sold nor bought -> write it in ${buy.symbol}, the price of ${sell.symbol}`;
}

/** Where a leg states a price, and in which token. */
function writtenPrice({ fields, path }: PlacedLeg): { readonly path: Path; readonly symbol: string }[] {
  const level = levelOf(fields);
  const money = level?.money ?? fields.when.activate_at;
  return money === undefined ? [] : [{ path: [...path, "when", level?.key ?? "activate_at"], symbol: money.symbol }];
}

/** A token whose other problems are reported where its amount is read. */
function* lookUp(file: StrategyFile, path: Path, symbol: string): Part<Token> {
  return file.scope.tokens.get(symbol)?.token ?? (yield* findToken(file, path, symbol));
}

function* buildAllocation(
  file: StrategyFile,
  { allocation, ladder }: Fields,
  pair: ThresholdPair | undefined,
): Found<ThresholdSpec["allocation"]> {
  if (allocation === undefined) return ladder === undefined ? undefined : "free";
  if (!isWritten(file, "oco", "ladder"))
    yield atKey`allocation: belongs to legs in oco or ladder -> say with sell how much a single leg sells`;
  const raw = yield* readAmountOf(file, ["allocation"], allocation, pair?.sell);
  return raw === undefined ? undefined : { raw };
}

/** Checks that are made up for all at once would see one price, and count it as many samples. */
function* checkCatchUp({ catch_up }: Fields): Iterable<Complaint> {
  if (catch_up?.policy === "all" || catch_up?.policy === "accumulate")
    yield at`catch_up.policy: a trigger checks the current price, so missed checks cannot be made up for -> use latest or skip`;
}

/** A time between two checks that is no gap must be longer than the schedule's. */
function* buildMaxGap(asked: number | undefined, schedule: Schedule | undefined): Part<number> {
  if (schedule === undefined) return undefined;
  const interval = shortestIntervalSeconds(schedule);
  if (asked === undefined) return Math.max(interval * MAX_GAP.intervals, MAX_GAP.atLeastSeconds);
  if (asked >= interval) return asked;
  return yield* refuse`max_gap: is shorter than the time between two checks, ${interval}s, so every check would follow a gap -> use at least ${interval * 2}s`;
}

/** Levels lie in one direction, each further than the one before, and sell no more than the allocation. */
function* checkLadder(legs: readonly ThresholdLeg[]): Iterable<Complaint> {
  const levels = legs.filter(({ role }) => role === "level");
  const sum = levels.reduce((total, { amount }) => total + ("share" in amount ? amount.share : 0n), 0n);
  if (sum > ONE_PPM)
    yield at`ladder: the levels sell ${formatPercent(sum)} of the allocation -> their shares sum to 100% at most`;
  for (const [index, { trigger }] of levels.entries()) {
    const before = levels[index - 1]?.trigger;
    const path = ["ladder", index, "when"];
    if (trigger.kind !== "cross") {
      yield at`${path}: a level of a ladder is a crossing -> use crosses_above or crosses_below`;
      continue;
    }
    if (before?.kind !== "cross") continue;
    const isFurther = trigger.side === "above" ? trigger.price > before.price : trigger.price < before.price;
    if (trigger.side !== before.side || !isFurther)
      yield at`${path}: must lie further than the level before it, in the same direction -> order the levels by price`;
  }
}

/** `kind: threshold`. */
export const thresholdFile = fileKind(thresholdSchema, build);
