import { formatUnits } from "../../domain/money/amount.ts";
import { parseUsd, USD_DECIMALS, type UsdPrice } from "../../domain/money/price.ts";
import type { Token } from "../../domain/money/token.ts";
import type { SweepSource, SweepSpec } from "../../domain/strategy/sweep.ts";
import { DEFAULTS } from "../defaults.ts";
import { describePlace, type Path, problemAt } from "../source.ts";
import type { MoneyText } from "../units.ts";
import { buildCommon, checkGaslessSale } from "./build-common.ts";
import { fileKind } from "./file-kind.ts";
import { checkPair, findToken, readAmountOf, type StrategyFile } from "./scope.ts";
import { buildRefill, checkForm } from "./sweep-refill.ts";
import { type SweepFields, sweepSchema } from "./sweep-schema.ts";

function build(file: StrategyFile, id: string, fields: SweepFields): SweepSpec | undefined {
  const before = file.problems.length;
  const common = buildCommon(file, id, fields);
  const to = fields.to === undefined ? undefined : findToken(file, ["to"], fields.to);
  const form = checkForm(file, fields);
  const from = buildSources(file, fields, to);
  const refill = form === "refill" ? buildRefill(file, fields, { to, common }) : undefined;
  const lot = buildLot(file, fields.lot);
  const maxPerDay = fields.limits?.max_per_day;
  checkCeiling(file, ["limits", "max_per_day"], maxPerDay, "max_per_day");
  if (maxPerDay !== undefined && lot !== undefined && maxPerDay < lot.min) {
    const message = "is less than the smallest lot, so nothing would ever be sold";
    file.problems.push(problemAt(file.source, ["limits", "max_per_day"], message, "raise it, or lower lot.min"));
  }
  if (file.problems.length > before || common === undefined || to === undefined || lot === undefined) return undefined;
  return {
    ...common,
    kind: "sweep",
    from,
    to,
    refill,
    lot,
    maxPerDay,
    cooldownSeconds: fields.cooldown ?? DEFAULTS.sweepCooldownSeconds,
    exit: fields.exit ?? false,
  };
}

function buildSources(file: StrategyFile, fields: SweepFields, to: Token | undefined): SweepSource[] {
  const { source, problems } = file;
  const { from, keep = {}, when } = fields;
  if (from === undefined) return [];
  const symbols = typeof from === "string" ? [from] : from;
  for (const symbol of Object.keys(keep)) {
    if (symbols.includes(symbol)) continue;
    problems.push(problemAt(source, ["keep", symbol], `${symbol} is not sold, so it needs no keep`, "drop it"));
  }
  checkMarks(file, when?.above, symbols);
  return symbols.flatMap((symbol, index): SweepSource[] => {
    const path = typeof from === "string" ? ["from"] : ["from", index];
    const token = findToken(file, path, symbol);
    if (symbols.indexOf(symbol) !== index) problems.push(problemAt(source, path, `${symbol} stands here twice`));
    checkPair(file, path, { sell: token, buy: to });
    checkGaslessSale(file, fields, token);
    if (token === undefined) return [];
    const kept = readAmountOf(file, ["keep", symbol], keep[symbol], token) ?? 0n;
    const above = buildMark(file, when?.above, { token, isOnly: symbols.length === 1 });
    if (above !== undefined && "raw" in above && above.raw < kept) {
      problems.push(problemAt(source, ["keep", symbol], "is more than the mark that starts a sale", "keep less"));
    }
    return [{ token, keep: kept, above }];
  });
}

type Marks = NonNullable<SweepFields["when"]>["above"];

function isOneMark(marks: NonNullable<Marks>): marks is MoneyText {
  return typeof marks.number === "string";
}

/** Marks by token are complete, and name nothing else; one mark for several tokens is in dollars. */
function checkMarks(file: StrategyFile, marks: Marks, symbols: readonly string[]): void {
  if (marks === undefined) return;
  if (isOneMark(marks)) {
    if (marks.symbol === "USD" || symbols.length < 2) return;
    const message = `one amount of ${marks.symbol} is no mark for several tokens`;
    const suggestion = `write "500 USD", or { ${symbols[0]}: "..." }`;
    file.problems.push(problemAt(file.source, ["when", "above"], message, suggestion));
    return;
  }
  for (const symbol of Object.keys(marks)) {
    if (symbols.includes(symbol)) continue;
    const message = `${symbol} is not sold, so it needs no mark`;
    file.problems.push(problemAt(file.source, ["when", "above", symbol], message, "drop it, or add it to from"));
  }
  for (const symbol of symbols.filter((one) => marks[one] === undefined)) {
    const message = `${symbol} has no mark`;
    file.problems.push(problemAt(file.source, ["when", "above"], message, `add ${symbol}: "500 USD"`));
  }
}

function buildMark(
  file: StrategyFile,
  marks: Marks,
  of: { readonly token: Token; readonly isOnly: boolean },
): SweepSource["above"] {
  if (marks === undefined) return undefined;
  const { token, isOnly } = of;
  const one = isOneMark(marks);
  const mark = one ? marks : marks[token.symbol];
  const path = one ? ["when", "above"] : ["when", "above", token.symbol];
  if (mark === undefined) return undefined;
  if (mark.symbol === "USD") return { usd: parseUsd(mark.number) ?? (0n as UsdPrice) };
  if (one && !isOnly) return undefined;
  const raw = readAmountOf(file, path, mark, token);
  return raw === undefined ? undefined : { raw };
}

/** Without a most of its own a lot stays a little below the policy's: the price moves before the guard looks at it. */
function buildLot(file: StrategyFile, fields: SweepFields["lot"]): SweepSpec["lot"] | undefined {
  const { policy } = file.scope;
  if (fields === undefined || policy === undefined) return undefined;
  checkCeiling(file, ["lot", "max"], fields.max, "max_trade");
  const max = fields.max ?? (((policy.maxTradeUsd * 95n) / 100n) as UsdPrice);
  if (fields.min > 0n && fields.min <= max) return { min: fields.min, max };
  const message =
    fields.min === 0n ? "a lot of nothing sells nothing" : `is more than the largest lot of ${dollars(max)}`;
  file.problems.push(problemAt(file.source, ["lot", "min"], message, "change it"));
  return undefined;
}

function checkCeiling(
  file: StrategyFile,
  path: Path,
  asked: UsdPrice | undefined,
  key: "max_trade" | "max_per_day",
): void {
  const { policy, policySource } = file.scope;
  const ceiling = key === "max_trade" ? policy?.maxTradeUsd : policy?.maxPerDayUsd;
  if (asked === undefined || ceiling === undefined || asked <= ceiling) return;
  const place = policySource === undefined ? "" : ` (${describePlace(policySource, [key])})`;
  const message = `${dollars(asked)} is more than the policy's ${key} of ${dollars(ceiling)}${place}`;
  const suggestion = `use at most ${dollars(ceiling)}; only the owner may raise the policy`;
  file.problems.push(problemAt(file.source, path, message, suggestion));
}

function dollars(usd: bigint): string {
  return `${formatUnits(usd, USD_DECIMALS)} USD`;
}

/** `kind: sweep`. */
export const sweepFile = fileKind(sweepSchema, build);
