import { formatDollars, parseUsd, type UsdPrice } from "../../domain/money/price.ts";
import type { Token } from "../../domain/money/token.ts";
import { plannedTrade } from "../../domain/strategy/largest-trade.ts";
import type { SweepSource, SweepSpec } from "../../domain/strategy/sweep.ts";
import type { Keys } from "../check-shape.ts";
import { at, type Complaint, each, type Found, type Part, refuse } from "../complaint.ts";
import type { MoneyText } from "../units.ts";
import { buildBudget } from "./build-budget.ts";
import { buildCommon, checkGaslessSale } from "./build-common.ts";
import { fileKind } from "./file-kind.ts";
import { checkPair, findToken, inPolicy, readAmountOf, type StrategyFile } from "./scope.ts";
import { buildRefill, checkForm } from "./sweep-refill.ts";
import { type SweepFields, sweepSchema } from "./sweep-schema.ts";

function* build(file: StrategyFile, id: string, { fields, whole }: Keys<typeof sweepSchema>): Part<SweepSpec> {
  const common = yield* buildCommon(file, id, fields);
  const to = yield* findToken(file, ["to"], fields.to);
  const form = yield* checkForm(fields);
  const from = yield* buildSources(file, fields, to);
  const refill = form === "refill" ? yield* buildRefill(file, fields, { to, common }) : undefined;
  const lot = yield* buildLot(file, fields.lot);
  const maxPerDay = fields.limits?.max_per_day;
  yield* checkCeiling(file, "limits.max_per_day", maxPerDay, "max_per_day");
  if (maxPerDay !== undefined && lot !== undefined && maxPerDay < lot.min)
    yield at`limits.max_per_day: is less than the smallest lot, so nothing would ever be sold -> raise it, or lower lot.min`;
  const budget = yield* buildBudget(file, fields.budget, {
    ...{ currency: "USD", schedule: common?.schedule },
    least: lot === undefined ? undefined : { raw: lot.min, key: "lot.min" },
  });
  if (common === undefined || to === undefined || lot === undefined || whole === undefined) return undefined;
  const { cooldown: cooldownSeconds, exit } = whole;
  return { ...common, kind: "sweep", from, to, refill, lot, maxPerDay, cooldownSeconds, exit, budget };
}

function* buildSources(file: StrategyFile, fields: SweepFields, to: Token | undefined): Found<SweepSource[]> {
  const { from, keep = {}, when } = fields;
  if (from === undefined) return [];
  const symbols = typeof from === "string" ? [from] : from;
  for (const symbol of Object.keys(keep))
    if (!symbols.includes(symbol)) yield at`keep.${symbol}: ${symbol} is not sold, so it needs no keep -> drop it`;
  yield* checkThresholds(when?.above, symbols);
  return yield* each(symbols, function* (symbol, index): Part<SweepSource> {
    const path = typeof from === "string" ? ["from"] : ["from", index];
    const token = yield* findToken(file, path, symbol);
    if (symbols.indexOf(symbol) !== index) yield at`${path}: ${symbol} is listed twice`;
    yield* checkPair(file, path, { sell: token, buy: to });
    yield* checkGaslessSale(fields, token);
    if (token === undefined) return undefined;
    const kept = (yield* readAmountOf(file, ["keep", symbol], keep[symbol], token)) ?? 0n;
    const above = yield* buildThreshold(file, when?.above, { token, isOnly: symbols.length === 1 });
    if (above !== undefined && "raw" in above && above.raw < kept)
      yield at`keep.${symbol}: is more than the threshold that starts a sale -> keep less`;
    return { token, keep: kept, above };
  });
}

type Thresholds = NonNullable<SweepFields["when"]>["above"];

function isOneThreshold(thresholds: NonNullable<Thresholds>): thresholds is MoneyText {
  return typeof thresholds.number === "string";
}

/** Marks by token are complete, and name nothing else; one threshold for several tokens is in dollars. */
function* checkThresholds(thresholds: Thresholds, symbols: readonly string[]): Iterable<Complaint> {
  if (thresholds === undefined) return;
  if (isOneThreshold(thresholds)) {
    if (thresholds.symbol !== "USD" && symbols.length > 1)
      yield at`when.above: one amount of ${thresholds.symbol} is no threshold for several tokens -> write "500 USD", or { ${symbols[0]}: "..." }`;
    return;
  }
  for (const symbol of Object.keys(thresholds))
    if (!symbols.includes(symbol))
      yield at`when.above.${symbol}: ${symbol} is not sold, so it needs no threshold -> drop it, or add it to from`;
  for (const symbol of symbols)
    if (thresholds[symbol] === undefined) yield at`when.above: ${symbol} has no threshold -> add ${symbol}: "500 USD"`;
}

function* buildThreshold(
  file: StrategyFile,
  thresholds: Thresholds,
  { token, isOnly }: { readonly token: Token; readonly isOnly: boolean },
): Found<SweepSource["above"]> {
  if (thresholds === undefined) return undefined;
  const one = isOneThreshold(thresholds);
  const threshold = one ? thresholds : thresholds[token.symbol];
  if (threshold === undefined) return undefined;
  if (threshold.symbol === "USD") return { usd: parseUsd(threshold.number) ?? (0n as UsdPrice) };
  if (one && !isOnly) return undefined;
  const raw = yield* readAmountOf(file, one ? ["when", "above"] : ["when", "above", token.symbol], threshold, token);
  return raw === undefined ? undefined : { raw };
}

/** Without a maximum of its own a lot stays a little below the policy's: the price moves before the guard checks it. */
function* buildLot(file: StrategyFile, fields: SweepFields["lot"]): Part<SweepSpec["lot"]> {
  const { policy } = file.scope;
  if (fields === undefined || policy === undefined) return undefined;
  yield* checkCeiling(file, "lot.max", fields.max, "max_trade");
  const max = fields.max ?? plannedTrade(policy.maxTradeUsd);
  if (fields.min === 0n) return yield* refuse`lot.min: a lot of nothing sells nothing -> change it`;
  if (fields.min <= max) return { min: fields.min, max };
  return yield* refuse`lot.min: is more than the largest lot of ${formatDollars(max)} -> change it`;
}

function* checkCeiling(
  file: StrategyFile,
  path: string,
  asked: UsdPrice | undefined,
  key: "max_trade" | "max_per_day",
): Iterable<Complaint> {
  const { policy } = file.scope;
  const ceiling = key === "max_trade" ? policy?.maxTradeUsd : policy?.maxPerDayUsd;
  if (asked === undefined || ceiling === undefined || asked <= ceiling) return;
  const most = formatDollars(ceiling);
  yield at`${path.split(".")}: ${formatDollars(asked)} is more than the policy's ${key} of ${most}${inPolicy(file, key)} -> use at most ${most}; only the owner may raise the policy`;
}

/** `kind: sweep`. */
export const sweepFile = fileKind(sweepSchema, build);
