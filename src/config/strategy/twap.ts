import { formatAmount } from "../../domain/money/amount.ts";
import { toPpm } from "../../domain/money/fraction.ts";
import type { Token } from "../../domain/money/token.ts";
import type { Rate } from "../../domain/strategy/decision.ts";
import type { TwapSpec } from "../../domain/strategy/twap.ts";
import { sliceSizes } from "../../domain/strategy/twap-slices.ts";
import { problemAt } from "../source.ts";
import { buildCommon, checkGaslessSale } from "./build-common.ts";
import { fileKind } from "./file-kind.ts";
import { checkPair, findToken, readAmount, readAmountOf, type StrategyFile } from "./scope.ts";
import { type TwapFields, twapSchema } from "./twap-schema.ts";
import { buildTiming, type TwapTiming } from "./twap-timing.ts";

function build(file: StrategyFile, id: string, fields: TwapFields): TwapSpec | undefined {
  const timing = buildTiming(file, fields);
  const common = buildCommon(file, id, { ...fields, schedule: { every: timing?.everySeconds ?? 1 } });
  const sell = readAmount(file, ["sell"], fields.sell);
  const buy = fields.buy === undefined ? undefined : findToken(file, ["buy"], fields.buy);
  checkPair(file, ["buy"], { sell: sell?.token, buy });
  checkGaslessSale(file, fields, sell?.token);
  const spread = fields.randomize?.size ?? toPpm(0);
  const slice = buildSlice(file, { id, spread, fields, timing, sell });
  const limit = buildLimit(file, fields.limit, { sell: sell?.token, buy });
  if (common === undefined || timing === undefined || sell === undefined || buy === undefined) return undefined;
  if (slice === undefined) return undefined;
  const { startMs, slices, everySeconds, jitterSeconds, windowSeconds } = timing;
  const anchorSeconds = startMs === undefined ? undefined : startMs / 1_000;
  return {
    ...common,
    kind: "twap",
    schedule: { kind: "every", seconds: everySeconds, anchorSeconds, jitterSeconds },
    retryForSeconds: windowSeconds,
    sell,
    buy,
    startMs,
    slices,
    everySeconds,
    spread,
    slice,
    limit,
    exit: fields.exit ?? false,
  };
}

/** Slices are known before any price: those that are too small, or never fit under the cap, are refused here. */
function buildSlice(
  file: StrategyFile,
  plan: {
    readonly id: string;
    readonly spread: TwapSpec["spread"];
    readonly fields: TwapFields;
    readonly timing: TwapTiming | undefined;
    readonly sell: TwapSpec["sell"] | undefined;
  },
): TwapSpec["slice"] | undefined {
  const { fields, timing, sell, id, spread } = plan;
  const { source, problems } = file;
  const unfilled = fields.slice?.unfilled ?? "roll";
  if (unfilled === "extend" && fields.end !== undefined) {
    const message = "goes on after the end, but end says that nothing does";
    problems.push(problemAt(source, ["slice", "unfilled"], message, "write duration instead of end, or roll"));
  }
  const min = readAmountOf(file, ["slice", "min"], fields.slice?.min, sell?.token);
  const cap = readAmountOf(file, ["slice", "max"], fields.slice?.max, sell?.token);
  if (min === undefined || timing === undefined || sell === undefined) return undefined;
  const sizes = sliceSizes({ id, total: sell.raw, slices: timing.slices, spread });
  const smallest = sizes.reduce((least, size) => (size < least ? size : least), sell.raw);
  const largest = sizes.reduce((most, size) => (size > most ? size : most), 0n);
  const show = (raw: bigint): string => formatAmount({ token: sell.token, raw });
  if (smallest < min) {
    const message = `the smallest of ${timing.slices} slices would sell ${show(smallest)}, less than the least of ${show(min)}`;
    problems.push(problemAt(source, ["slice", "min"], message, "use fewer slices, or lower the least"));
  }
  if (cap !== undefined && cap < largest) {
    const message = `the largest of ${timing.slices} slices sells ${show(largest)}, more than the most of ${show(cap)}`;
    problems.push(problemAt(source, ["slice", "max"], message, "use more slices, or raise the most"));
  }
  const twice = (2n * sell.raw) / BigInt(timing.slices);
  return { unfilled, min, max: cap ?? (twice > largest ? twice : largest) };
}

interface Pair {
  readonly sell: Token | undefined;
  readonly buy: Token | undefined;
}

/** Prices for a sold token are in the bought one, prices for a bought token in the sold one; both become rates. */
function buildLimit(file: StrategyFile, fields: TwapFields["limit"], pair: Pair): TwapSpec["limit"] {
  if (fields === undefined) return { floor: undefined, abort: undefined };
  const floor = buildRate(file, fields, pair, ["min_price", "max_price"]);
  const abort = buildRate(file, fields, pair, ["abort_below", "abort_above"]);
  if (floor !== undefined && abort !== undefined && abort.bought * floor.sold >= floor.bought * abort.sold) {
    const message = "the abort price is reached before the limit price, so no slice would ever wait";
    file.problems.push(problemAt(file.source, ["limit"], message, "move the abort price further away"));
  }
  return { floor, abort };
}

function buildRate(
  file: StrategyFile,
  fields: NonNullable<TwapFields["limit"]>,
  { sell, buy }: Pair,
  [ofSold, ofBought]: readonly ["min_price", "max_price"] | readonly ["abort_below", "abort_above"],
): Rate | undefined {
  if (fields[ofSold] !== undefined && fields[ofBought] !== undefined) {
    const message = `say the same in two ways: give one of ${ofSold} and ${ofBought}`;
    file.problems.push(problemAt(file.source, ["limit", ofBought], message));
    return undefined;
  }
  const inBought = readAmountOf(file, ["limit", ofSold], fields[ofSold], buy);
  const inSold = readAmountOf(file, ["limit", ofBought], fields[ofBought], sell);
  if (inBought !== undefined && sell !== undefined) return { bought: inBought, sold: 10n ** BigInt(sell.decimals) };
  if (inSold !== undefined && buy !== undefined) return { bought: 10n ** BigInt(buy.decimals), sold: inSold };
  return undefined;
}

/** `kind: twap`. */
export const twapFile = fileKind(twapSchema, build);
