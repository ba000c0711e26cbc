import { formatUnits } from "../../domain/money/amount.ts";
import { ONE_PPM } from "../../domain/money/fraction.ts";
import { USD_DECIMALS } from "../../domain/money/price.ts";
import type { DcaSpec } from "../../domain/strategy/dca.ts";
import { formatMultiple } from "../../domain/strategy/dips.ts";
import { DEFAULTS } from "../defaults.ts";
import { describePlace, problemAt } from "../source.ts";
import { buildCommon, checkGaslessSale } from "./build-common.ts";
import { buildTrade } from "./dca-amount.ts";
import { buildDips, buildGate } from "./dca-conditions.ts";
import { type DcaFields, dcaSchema } from "./dca-schema.ts";
import { fileKind } from "./file-kind.ts";
import { readAmountOf, type StrategyFile } from "./scope.ts";

function build(file: StrategyFile, id: string, fields: DcaFields): DcaSpec | undefined {
  const common = buildCommon(file, id, fields);
  const before = file.problems.length;
  const { sell, buy } = buildTrade(file, fields);
  checkGaslessSale(file, fields, sell?.token);
  const budget = buildBudget(file, fields, sell);
  const minSell = buildMinSell(file, fields, sell);
  const onlyIf = buildGate(file, fields.only_if, { sell: sell?.token, buy });
  const dips = buildDips(file, fields.dips, { sell: sell?.token, buy });
  checkWorth(file, fields);
  const broken = file.problems.length > before;
  if (common === undefined || sell === undefined || buy === undefined || broken) return undefined;
  return {
    ...common,
    kind: "dca",
    sell,
    buy,
    minSell,
    startMs: fields.start?.firstMs,
    budget,
    onlyIf,
    dips,
    carry: fields.carry === undefined ? undefined : { maxMultiple: fields.carry.max_multiple },
    onInsufficient: fields.on_insufficient ?? DEFAULTS.onInsufficient,
  };
}

function buildBudget(file: StrategyFile, fields: DcaFields, sell: DcaSpec["sell"] | undefined): DcaSpec["budget"] {
  const { budget, start } = fields;
  if (budget === undefined) return undefined;
  const { source, problems } = file;
  const total = readAmountOf(file, ["budget", "total"], budget.total, sell?.token);
  if (sell !== undefined && "raw" in sell && total !== undefined && total < sell.raw) {
    const message = "is less than a single order";
    problems.push(problemAt(source, ["budget", "total"], message, "raise it, or lower sell"));
  }
  if (budget.total === undefined && budget.until === undefined && budget.max_runs === undefined) {
    const message = "needs total, until or max_runs";
    problems.push(problemAt(source, ["budget"], message, 'for example { total: "5200 USDC" }'));
  }
  if (start !== undefined && budget.until !== undefined && budget.until.lastMs < start.firstMs) {
    problems.push(problemAt(source, ["budget", "until"], "lies before start, so nothing would ever be bought"));
  }
  return { total, untilMs: budget.until?.lastMs, maxRuns: budget.max_runs };
}

function buildMinSell(file: StrategyFile, fields: DcaFields, sell: DcaSpec["sell"] | undefined): bigint | undefined {
  const minSell = readAmountOf(file, ["min_sell"], fields.min_sell, sell?.token);
  if (minSell !== undefined && sell !== undefined && "raw" in sell && minSell > sell.raw) {
    const message = "is more than what a slot sells, so nothing would ever be sold";
    file.problems.push(problemAt(file.source, ["min_sell"], message, "lower it, or raise sell"));
  }
  return minSell;
}

/** What an order is worth is known before any price when the file says it in dollars. */
function checkWorth(file: StrategyFile, { value, dips }: DcaFields): void {
  const { policy, policySource } = file.scope;
  if (value === undefined || policy === undefined || policySource === undefined) return;
  const largest = (dips?.tiers ?? []).reduce((most, { multiply }) => (multiply > most ? multiply : most), ONE_PPM);
  const most = dips?.max_multiplier !== undefined && dips.max_multiplier < largest ? dips.max_multiplier : largest;
  if (value * most <= policy.maxTradeUsd * ONE_PPM) return;
  const dollars = (usd: bigint): string => `${formatUnits(usd, USD_DECIMALS)} USD`;
  const times = most > ONE_PPM ? ` times a multiplier of ${formatMultiple(most)}` : "";
  const place = describePlace(policySource, ["max_trade"]);
  const message = `${dollars(value)}${times} is more than the policy's max_trade of ${dollars(policy.maxTradeUsd)} (${place})`;
  const least = most > ONE_PPM ? "less" : `at most ${dollars(policy.maxTradeUsd)}`;
  const suggestion = `use ${least}; only the owner may raise the policy`;
  file.problems.push(problemAt(file.source, ["value"], message, suggestion));
}

/** `kind: dca`. */
export const dcaFile = fileKind(dcaSchema, build);
