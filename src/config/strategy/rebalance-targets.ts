import { formatPercent, ONE_PPM, type Ppm, toPpm } from "../../domain/money/fraction.ts";
import type { Token } from "../../domain/money/token.ts";
import type { Band, RebalanceTarget } from "../../domain/strategy/rebalance-spec.ts";
import { problemAt } from "../source.ts";
import { readBand, type SharedBands } from "./rebalance-bands.ts";
import type { RebalanceFields } from "./rebalance-schema.ts";
import { checkPair, findToken, type StrategyFile } from "./scope.ts";

type TargetField = RebalanceFields["targets"][string];

/** The tokens of the mix with their weights and bands. @returns undefined when something of it is broken */
export function buildTargets(
  file: StrategyFile,
  fields: RebalanceFields["targets"] | undefined,
  bands: SharedBands | undefined,
): readonly RebalanceTarget[] | undefined {
  if (fields === undefined) return undefined;
  const before = file.problems.length;
  const entries = Object.entries(fields).map(([symbol, field]) => ({ symbol, field, weight: weightOf(field) }));
  const rest = restOf(file, entries);
  const targets = entries.flatMap(({ symbol, field, weight }): RebalanceTarget[] => {
    const token = findToken(file, ["targets", symbol], symbol);
    const exit = typeof field === "object" && field.exit === true;
    checkWeight(file, symbol, { weight, exit, isObject: typeof field === "object" });
    const own = bandsOf(file, symbol, field, bands);
    return token === undefined ? [] : [{ token, weight: weight === "rest" ? rest : weight, exit, ...own }];
  });
  checkPairs(
    file,
    targets.map(({ token }) => token),
  );
  return file.problems.length > before ? undefined : targets;
}

function weightOf(field: TargetField): Ppm | "rest" {
  return typeof field === "object" ? field.weight : field;
}

/** What the one token that is the rest gets; the weights must leave it something, or sum to a whole without it. */
function restOf(file: StrategyFile, entries: readonly { symbol: string; weight: Ppm | "rest" }[]): Ppm {
  const { source, problems } = file;
  const rests = entries.filter(({ weight }) => weight === "rest").map(({ symbol }) => symbol);
  const sum = entries.reduce((total, { weight }) => (weight === "rest" ? total : total + weight), 0n);
  const rest = ONE_PPM - sum;
  if (entries.length < 2) problems.push(problemAt(source, ["targets"], "a mix has at least two tokens"));
  if (rests.length > 1) {
    problems.push(problemAt(source, ["targets"], `only one token can be the rest, not ${rests.join(" and ")}`));
  } else if (rests.length === 1 && rest <= 0n) {
    const message = `the weights sum to ${formatPercent(sum)}, so nothing is left for the rest`;
    problems.push(problemAt(source, ["targets"], message));
  } else if (rests.length === 0 && rest !== 0n) {
    const message = `the weights sum to ${formatPercent(sum)}, not to 100%`;
    problems.push(problemAt(source, ["targets"], message, "change one of them to rest"));
  }
  return toPpm(rest > 0n ? rest : 0n);
}

function checkWeight(
  file: StrategyFile,
  symbol: string,
  { weight, exit, isObject }: { weight: Ppm | "rest"; exit: boolean; isObject: boolean },
): void {
  if (exit && weight !== 0n) {
    const message = "a token that is sold out has no weight";
    file.problems.push(
      problemAt(file.source, ["targets", symbol, "exit"], message, "write { weight: 0%, exit: true }"),
    );
  } else if (!exit && weight === 0n) {
    const path = isObject ? ["targets", symbol, "weight"] : ["targets", symbol];
    const suggestion = "leave the token out, or write { weight: 0%, exit: true } to sell all of it";
    file.problems.push(problemAt(file.source, path, "a weight of nothing is no target", suggestion));
  }
}

/** A token's own bands stand in place of those of all; its short form is a soft band. */
function bandsOf(
  file: StrategyFile,
  symbol: string,
  field: TargetField,
  shared: SharedBands | undefined,
): { soft: Band | undefined; hard: Band | undefined } {
  const own = typeof field === "object" ? field.bands : undefined;
  const common = shared === undefined || shared.rules === "none" ? undefined : shared;
  const path = ["targets", symbol, "bands"];
  if (own === undefined) return { soft: common?.soft, hard: common?.hard };
  if (shared?.rules === "none") {
    const message = "has no meaning without bands for all: bands are none";
    file.problems.push(problemAt(file.source, path, message, "leave it out, or give bands"));
  }
  const { soft, hard } = readBand(file, path, own);
  return { soft: soft ?? common?.soft, hard: hard ?? common?.hard };
}

/** Any two tokens of the mix may be swapped into each other. */
function checkPairs(file: StrategyFile, tokens: readonly Token[]): void {
  for (const [index, sell] of tokens.entries()) {
    for (const buy of tokens.slice(index + 1)) checkPair(file, ["targets", buy.symbol], { sell, buy });
  }
}
