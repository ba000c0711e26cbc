import { larger, smaller } from "../../domain/money/bigint.ts";
import { ONE_PPM } from "../../domain/money/fraction.ts";
import { formatDollars } from "../../domain/money/price.ts";
import type { DcaSpec } from "../../domain/strategy/dca.ts";
import { formatMultiple } from "../../domain/strategy/dips.ts";
import type { Keys } from "../check-shape.ts";
import { at, type Complaint, type Part } from "../complaint.ts";
import { buildBudget, startMsOf } from "./build-budget.ts";
import { buildCommon, checkGaslessSale } from "./build-common.ts";
import { buildTrade } from "./dca-amount.ts";
import { buildDips, buildGate } from "./dca-conditions.ts";
import { type DcaFields, dcaSchema } from "./dca-schema.ts";
import { fileKind } from "./file-kind.ts";
import { inPolicy, readAmountOf, type StrategyFile } from "./scope.ts";

function* build(file: StrategyFile, id: string, { fields, whole }: Keys<typeof dcaSchema>): Part<DcaSpec> {
  const common = yield* buildCommon(file, id, fields);
  const { sell, buy } = yield* buildTrade(file, fields);
  yield* checkGaslessSale(fields, sell?.token);
  const minSell = yield* readAmountOf(file, ["min_sell"], fields.min_sell, sell?.token);
  const budget = yield* buildBudget(file, fields.budget, {
    ...{ currency: sell?.token, schedule: common?.schedule, startMs: startMsOf(fields.start) },
    least: leastOf(fields, sell, minSell),
  });
  if (sell !== undefined && "raw" in sell) {
    if (budget?.total !== undefined && budget.total < sell.raw)
      yield at`budget.total: is less than a single order -> raise it, or lower sell`;
    if (minSell !== undefined && minSell > sell.raw)
      yield at`min_sell: is more than what a slot sells, so nothing would ever be sold -> lower it, or raise sell`;
  }
  const onlyIf = yield* buildGate(file, fields.only_if, { sell: sell?.token, buy });
  const dips = yield* buildDips(file, fields.dips, { sell: sell?.token, buy });
  yield* checkWorth(file, fields);
  if (common === undefined || sell === undefined || buy === undefined || whole === undefined) return undefined;
  const { start, carry, on_insufficient: onInsufficient } = whole;
  return {
    ...common,
    kind: "dca",
    maxTradeUsd: file.scope.policy?.maxTradeUsd,
    ...{ sell, buy, minSell, onlyIf, dips, onInsufficient },
    ...{ startMs: startMsOf(start), startsNow: start === "now" ? true : undefined },
    budget,
    carry: carry === undefined ? undefined : { maxMultiple: carry.max_multiple },
  };
}

/** What a period must have room for: a slot's own amount, or the smallest part of it that may be sold. */
function leastOf(
  { on_insufficient }: DcaFields,
  sell: DcaSpec["sell"] | undefined,
  minSell: bigint | undefined,
): { readonly raw: bigint; readonly key: string } | undefined {
  if (on_insufficient !== "partial" && sell !== undefined && "raw" in sell) return { raw: sell.raw, key: "sell" };
  return minSell === undefined ? undefined : { raw: minSell, key: "min_sell" };
}

/** What an order is worth is known before any price when the file says it in dollars. */
function* checkWorth(file: StrategyFile, { value, dips }: DcaFields): Iterable<Complaint> {
  const { policy } = file.scope;
  if (value === undefined || policy === undefined) return;
  const largest = (dips?.tiers ?? []).map(({ multiply }) => multiply).reduce(larger, ONE_PPM);
  const most = smaller(dips?.max_multiplier ?? largest, largest);
  if (value * most <= policy.maxTradeUsd * ONE_PPM) return;
  const ceiling = formatDollars(policy.maxTradeUsd);
  const times = most > ONE_PPM ? ` times a multiplier of ${formatMultiple(most)}` : "";
  const least = most > ONE_PPM ? "less" : `at most ${ceiling}`;
  yield at`value: ${formatDollars(value)}${times} is more than the policy's max_trade of ${ceiling}${inPolicy(file, "max_trade")} -> use ${least}; only the owner may raise the policy`;
}

/** `kind: dca`. */
export const dcaFile = fileKind(dcaSchema, build);
