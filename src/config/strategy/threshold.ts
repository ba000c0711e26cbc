import { formatPercent, ONE_PPM } from "../../domain/money/fraction.ts";
import type { Token } from "../../domain/money/token.ts";
import { shortestIntervalSeconds } from "../../domain/schedule/next-instants.ts";
import type { Schedule } from "../../domain/schedule/schedule.ts";
import { ONLY_LEG } from "../../domain/strategy/threshold-memory.ts";
import type { ThresholdLeg, ThresholdSpec } from "../../domain/strategy/threshold-spec.ts";
import { DEFAULTS } from "../defaults.ts";
import { type Path, problemAt, problemAtKey } from "../source.ts";
import { buildCommon, checkGaslessSale } from "./build-common.ts";
import { fileKind } from "./file-kind.ts";
import { checkPair, findToken, readAmountOf, type StrategyFile } from "./scope.ts";
import { buildLeg, levelOf, type PlacedLeg, type ThresholdPair } from "./threshold-leg.ts";
import { type ThresholdFields, thresholdSchema } from "./threshold-schema.ts";

type Fields = Partial<ThresholdFields>;

/** Keys of a single leg at the top of a file. */
const LEG_KEYS = ["id", "when", "sell", "floor", "rearm"] as const;

function build(file: StrategyFile, id: string, fields: Fields): ThresholdSpec | undefined {
  const before = file.problems.length;
  const common = buildCommon(file, id, fields);
  const placed = placeLegs(file, fields);
  const pair = buildPair(file, fields, placed);
  const bag = buildBag(file, fields, pair);
  const maxGapSeconds = buildMaxGap(file, fields, common?.schedule);
  checkCatchUp(file, fields);
  if (pair === undefined) return undefined;
  checkGaslessSale(file, fields, pair.sell);
  const legs = placed.flatMap((leg) => buildLeg(file, leg, pair) ?? []);
  checkLadder(file, legs);
  if (common === undefined || maxGapSeconds === undefined || file.problems.length > before) return undefined;
  return {
    ...common,
    ...pair,
    kind: "threshold",
    legs,
    bag,
    maxGapSeconds,
    retryForSeconds: fields.retry_for ?? windowOf(common.schedule),
    attempts: fields.attempts ?? DEFAULTS.threshold.attempts,
    untilMs: fields.until,
  };
}

/** A trigger that fired is tried until shortly before the next look, so that one that is looked at rarely rests no longer. */
function windowOf(schedule: Schedule): number {
  const { retryShare } = DEFAULTS.threshold;
  const seconds = Math.floor(shortestIntervalSeconds(schedule) * retryShare);
  return Math.max(1, Math.min(seconds, DEFAULTS.retryForAtMostSeconds));
}

/** The legs with their places: the one at the top, or those of the groups. */
function placeLegs(file: StrategyFile, fields: Fields): readonly PlacedLeg[] {
  const { oco, ladder } = fields;
  const isGroup = isWritten(file, "oco") || isWritten(file, "ladder");
  if (!isGroup) {
    const { when, sell, id = ONLY_LEG } = fields;
    for (const key of ["when", "sell"] as const) if (!isWritten(file, key)) tellMissing(file, key);
    return when === undefined || sell === undefined
      ? []
      : [{ id, path: [], role: "only", fields: { ...fields, when, sell } }];
  }
  for (const key of LEG_KEYS) {
    if (!isWritten(file, key)) continue;
    const message = "belongs to a leg, and the legs of this file stand in oco or ladder";
    file.problems.push(problemAtKey(file.source, [key], message, "move it into a leg"));
  }
  const { if_already_true, on_missed } = fields;
  const place = (legs: Fields["oco"], key: "oco" | "ladder", role: PlacedLeg["role"]): readonly PlacedLeg[] =>
    (legs ?? []).map((leg, index) => ({
      id: leg.id,
      path: [key, index],
      role,
      fields: { ...sharedKeys(leg, { if_already_true, on_missed }), ...leg },
    }));
  const legs = [...place(oco, "oco", "only"), ...place(ladder, "ladder", "level")];
  if (oco?.length === 1 && !isWritten(file, "ladder")) {
    const message = "a group has at least two legs";
    file.problems.push(problemAt(file.source, ["oco"], message, "add the other leg, or write this one at the top"));
  }
  checkIds(file, legs);
  return legs;
}

/** What stands at the top of the file holds for the legs that can have it. */
function sharedKeys(
  leg: NonNullable<Fields["oco"]>[number],
  top: Pick<Fields, "if_already_true" | "on_missed">,
): Pick<Fields, "if_already_true" | "on_missed"> {
  const { trail } = leg.when;
  const crosses = leg.when.crosses_above ?? leg.when.crosses_below;
  return {
    if_already_true: crosses === undefined ? undefined : top.if_already_true,
    on_missed: (crosses ?? trail) === undefined ? undefined : top.on_missed,
  };
}

function isWritten(file: StrategyFile, key: string): boolean {
  const { data } = file.source;
  return typeof data === "object" && data !== null && Object.hasOwn(data, key);
}

function tellMissing(file: StrategyFile, key: "when" | "sell"): void {
  const { description } = thresholdSchema.shape[key].unwrap().meta() ?? {};
  file.problems.push(problemAt(file.source, [key], `the key "${key}" is missing`, `it is ${description}`));
}

function checkIds(file: StrategyFile, legs: readonly PlacedLeg[]): void {
  for (const [index, { id, path }] of legs.entries()) {
    if (legs.findIndex((leg) => leg.id === id) === index) continue;
    file.problems.push(problemAt(file.source, [...path, "id"], `"${id}" names two legs`, "give each its own name"));
  }
}

/** The two tokens of all legs. The first leg says what is sold and, by its level, in which token prices are told. */
function buildPair(file: StrategyFile, fields: Fields, legs: readonly PlacedLeg[]): ThresholdPair | undefined {
  const buy = fields.buy === undefined ? undefined : findToken(file, ["buy"], fields.buy);
  const [first] = legs;
  if (first === undefined) return undefined;
  const { sell: sale } = first.fields;
  const sellPath = [...first.path, "sell", ...("of" in sale ? ["of"] : [])];
  const sell = lookUp(file, sellPath, "of" in sale ? sale.of : sale.symbol);
  checkPair(file, ["buy"], { sell, buy });
  if (sell === undefined || buy === undefined || sell.address === buy.address) return undefined;
  for (const { fields: leg, path } of legs) {
    const level = levelOf(leg);
    const money = level?.money ?? leg.when.activate_at;
    if (money === undefined) continue;
    const quotePath = [...path, "when", level?.key ?? "activate_at"];
    const quote = lookUp(file, quotePath, money.symbol);
    if (quote === undefined) return undefined;
    if (quote.address === buy.address) return { sell, buy, watch: sell, quote };
    if (quote.address === sell.address) return { sell, buy, watch: buy, quote };
    const message = `the level is in ${quote.symbol}, which is neither sold nor bought`;
    const suggestion = `write it in ${buy.symbol}, the price of ${sell.symbol}`;
    file.problems.push(problemAt(file.source, quotePath, message, suggestion));
    return undefined;
  }
  return { sell, buy, watch: sell, quote: buy };
}

/** A token whose other problems are told where its amount is read. */
function lookUp(file: StrategyFile, path: Path, symbol: string): Token | undefined {
  return file.scope.tokens.get(symbol)?.token ?? findToken(file, path, symbol);
}

function buildBag(file: StrategyFile, fields: Fields, pair: ThresholdPair | undefined): ThresholdSpec["bag"] {
  if (fields.bag === undefined) return fields.ladder === undefined ? undefined : "free";
  if (!isWritten(file, "oco") && !isWritten(file, "ladder")) {
    const message = "belongs to legs in oco or ladder";
    file.problems.push(problemAtKey(file.source, ["bag"], message, "say with sell how much a single leg sells"));
  }
  const raw = readAmountOf(file, ["bag"], fields.bag, pair?.sell);
  return raw === undefined ? undefined : { raw };
}

/** Looks that are made up for all at once would see one price, and count as many samples of it. */
function checkCatchUp(file: StrategyFile, fields: Fields): void {
  const policy = fields.catch_up?.policy;
  if (policy !== "all" && policy !== "accumulate") return;
  const message = "a trigger looks at the price of now, so missed looks cannot be made up for";
  file.problems.push(problemAt(file.source, ["catch_up", "policy"], message, "use latest or skip"));
}

/** A time between two looks that is no gap must be longer than the schedule's. */
function buildMaxGap(file: StrategyFile, fields: Fields, schedule: Schedule | undefined): number | undefined {
  if (schedule === undefined) return undefined;
  const interval = shortestIntervalSeconds(schedule);
  const { intervals, atLeastSeconds } = DEFAULTS.threshold.maxGap;
  if (fields.max_gap === undefined) return Math.max(interval * intervals, atLeastSeconds);
  if (fields.max_gap >= interval) return fields.max_gap;
  const message = `is shorter than the time between two looks, ${interval}s, so every look would follow a gap`;
  file.problems.push(problemAt(file.source, ["max_gap"], message, `use at least ${interval * 2}s`));
  return undefined;
}

/** Levels lie in one direction, each further than the one before, and sell no more than the bag. */
function checkLadder(file: StrategyFile, legs: readonly ThresholdLeg[]): void {
  const levels = legs.filter(({ role }) => role === "level");
  const sum = levels.reduce((total, { amount }) => total + ("share" in amount ? amount.share : 0n), 0n);
  if (sum > ONE_PPM) {
    const message = `the levels sell ${formatPercent(sum)} of the bag`;
    file.problems.push(problemAt(file.source, ["ladder"], message, "their shares sum to 100% at most"));
  }
  for (const [index, { trigger }] of levels.entries()) {
    const before = levels[index - 1]?.trigger;
    const path = ["ladder", index, "when"];
    if (trigger.kind !== "cross") {
      const message = "a level of a ladder is a crossing";
      file.problems.push(problemAt(file.source, path, message, "use crosses_above or crosses_below"));
      continue;
    }
    if (before?.kind !== "cross") continue;
    const isFurther = trigger.side === "above" ? trigger.price > before.price : trigger.price < before.price;
    if (trigger.side === before.side && isFurther) continue;
    const message = "must lie further than the level before it, in the same direction";
    file.problems.push(problemAt(file.source, path, message, "order the levels by price"));
  }
}

/** `kind: threshold`. */
export const thresholdFile = fileKind(thresholdSchema, build);
