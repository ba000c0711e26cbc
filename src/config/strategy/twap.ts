import { formatAmount } from "../../domain/money/amount.ts";
import { larger, smaller } from "../../domain/money/bigint.ts";
import { toPpm } from "../../domain/money/fraction.ts";
import type { Token } from "../../domain/money/token.ts";
import type { Rate } from "../../domain/strategy/decision.ts";
import type { TwapSpec } from "../../domain/strategy/twap.ts";
import { sliceSizes } from "../../domain/strategy/twap-slices.ts";
import type { Keys } from "../check-shape.ts";
import { at, type Found, type Part, refuse } from "../complaint.ts";
import { buildBudget } from "./build-budget.ts";
import { buildCommon, checkGaslessSale } from "./build-common.ts";
import { fileKind } from "./file-kind.ts";
import { checkPair, findToken, readAmount, readAmountOf, type StrategyFile } from "./scope.ts";
import { type TwapFields, twapSchema } from "./twap-schema.ts";
import { buildTiming, type TwapTiming } from "./twap-timing.ts";

function* build(file: StrategyFile, id: string, { fields, whole }: Keys<typeof twapSchema>): Part<TwapSpec> {
  const timing = yield* buildTiming(file, fields);
  const common = yield* buildCommon(file, id, { ...fields, schedule: { every: timing?.everySeconds ?? 1 } });
  const sell = yield* readAmount(file, ["sell"], fields.sell);
  const buy = yield* findToken(file, ["buy"], fields.buy);
  yield* checkPair(file, ["buy"], { sell: sell?.token, buy });
  yield* checkGaslessSale(fields, sell?.token);
  const spread = fields.randomize?.size ?? toPpm(0);
  const slice = yield* buildSlice(file, { id, spread, fields, timing, sell });
  const budget = yield* buildBudget(file, fields.budget, {
    ...{ currency: sell?.token, schedule: common?.schedule, instead: { total: "sell", until: "end" } },
    least: slice === undefined ? undefined : { raw: slice.min, key: "slice.min" },
  });
  const limit = yield* buildLimit(file, fields.limit, { sell: sell?.token, buy });
  if (common === undefined || timing === undefined || sell === undefined || buy === undefined) return undefined;
  if (slice === undefined || whole === undefined) return undefined;
  const { startMs, slices, everySeconds, jitterSeconds, windowSeconds: retryForSeconds } = timing;
  const anchorSeconds = startMs === undefined ? undefined : startMs / 1_000;
  return {
    ...common,
    kind: "twap",
    maxTradeUsd: file.scope.policy?.maxTradeUsd,
    schedule: { kind: "every", seconds: everySeconds, anchorSeconds, jitterSeconds },
    ...{ retryForSeconds, sell, buy, startMs, slices, everySeconds, spread, slice, limit },
    ...{ exit: whole.exit, budget, startsNow: whole.start === "now" ? true : undefined },
  };
}

/** Slices are known before any price: those that are too small, or never fit under the cap, are refused here. */
function* buildSlice(
  file: StrategyFile,
  plan: {
    readonly id: string;
    readonly spread: TwapSpec["spread"];
    readonly fields: TwapFields;
    readonly timing: TwapTiming | undefined;
    readonly sell: TwapSpec["sell"] | undefined;
  },
): Part<TwapSpec["slice"]> {
  const { fields, timing, sell, id, spread } = plan;
  const { unfilled = "roll", min: least, max: most } = fields.slice ?? {};
  if (unfilled === "extend" && fields.end !== undefined)
    yield at`slice.unfilled: goes on after the end, but end says that nothing does -> write duration instead of end, or roll`;
  const min = yield* readAmountOf(file, ["slice", "min"], least, sell?.token);
  const cap = yield* readAmountOf(file, ["slice", "max"], most, sell?.token);
  if (min === undefined || timing === undefined || sell === undefined) return undefined;
  const { slices } = timing;
  const sizes = sliceSizes({ id, total: sell.raw, slices, spread });
  const smallest = sizes.reduce(smaller, sell.raw);
  const largest = sizes.reduce(larger, 0n);
  const show = (raw: bigint): string => formatAmount({ token: sell.token, raw });
  if (smallest < min)
    yield at`slice.min: the smallest of ${slices} slices would sell ${show(smallest)}, less than the least of ${show(min)} -> use fewer slices, or lower the least`;
  if (cap !== undefined && cap < largest)
    yield at`slice.max: the largest of ${slices} slices sells ${show(largest)}, more than the most of ${show(cap)} -> use more slices, or raise the most`;
  const twice = (2n * sell.raw) / BigInt(slices);
  return { unfilled, min, max: cap ?? larger(twice, largest) };
}

interface Pair {
  readonly sell: Token | undefined;
  readonly buy: Token | undefined;
}

/** Prices for a sold token are in the bought one, prices for a bought token in the sold one; both become rates. */
function* buildLimit(file: StrategyFile, fields: TwapFields["limit"], pair: Pair): Found<TwapSpec["limit"]> {
  if (fields === undefined) return { floor: undefined, abort: undefined };
  const floor = yield* buildRate(file, fields, pair, ["min_price", "max_price"]);
  const abort = yield* buildRate(file, fields, pair, ["abort_below", "abort_above"]);
  if (floor !== undefined && abort !== undefined && abort.bought * floor.sold >= floor.bought * abort.sold)
    yield at`limit: the abort price is reached before the limit price, so no slice would ever wait -> move the abort price further away`;
  return { floor, abort };
}

function* buildRate(
  file: StrategyFile,
  fields: NonNullable<TwapFields["limit"]>,
  { sell, buy }: Pair,
  [ofSold, ofBought]: readonly ["min_price", "max_price"] | readonly ["abort_below", "abort_above"],
): Part<Rate> {
  if (fields[ofSold] !== undefined && fields[ofBought] !== undefined)
    return yield* refuse`limit.${ofBought}: say the same in two ways: give one of ${ofSold} and ${ofBought}`;
  const inBought = yield* readAmountOf(file, ["limit", ofSold], fields[ofSold], buy);
  const inSold = yield* readAmountOf(file, ["limit", ofBought], fields[ofBought], sell);
  if (inBought !== undefined && sell !== undefined) return { bought: inBought, sold: 10n ** BigInt(sell.decimals) };
  if (inSold !== undefined && buy !== undefined) return { bought: 10n ** BigInt(buy.decimals), sold: inSold };
  return undefined;
}

/** `kind: twap`. */
export const twapFile = fileKind(twapSchema, build);
