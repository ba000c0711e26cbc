import { z } from "zod";
import { formatPercent, ONE_PPM, type Ppm, toPpm } from "../../domain/money/fraction.ts";
import type { Token } from "../../domain/money/token.ts";
import type { RebalanceSpec } from "../../domain/strategy/rebalance.ts";
import { problemAt } from "../source.ts";
import { money, share } from "../units.ts";
import { buildCommon, checkGaslessSale } from "./build-common.ts";
import { commonFields, symbol, whole } from "./common-schema.ts";
import { fileKind } from "./file-kind.ts";
import { checkPair, findToken, readAmountOf, type StrategyFile } from "./scope.ts";

/** Keeps a mix of tokens at target weights. */
const schema = z.strictObject({
  kind: z.literal("rebalance"),
  ...commonFields,
  quote: symbol("the token that sells bring and buys spend"),
  targets: z
    .record(
      z.string(),
      z.union([z.literal("rest"), share("the token's weight", ["%"], whole)], {
        error: "needs a share such as 60%, or rest",
      }),
      {
        error: "needs weights by token",
      },
    )
    .meta({ description: "the weight of each token; they sum to 100%, or one of them is rest" }),
  bands: z
    .strictObject({
      relative: share("drift in relation to the target weight", ["%", "bps"]).optional(),
      absolute: share("drift in points of weight", ["pp"]).optional(),
    })
    .meta({ description: "how far a weight may drift before anything is traded" }),
  trades: z.strictObject({ min: money("the smallest trade, in the quote token", "50 USDC") }),
});

type Fields = z.output<typeof schema>;

function build(file: StrategyFile, id: string, fields: Partial<Fields>): RebalanceSpec | undefined {
  const common = buildCommon(file, id, fields);
  const quote = fields.quote === undefined ? undefined : findToken(file, ["quote"], fields.quote);
  const targets = buildTargets(file, fields.targets, quote);
  const min = readAmountOf(file, ["trades", "min"], fields.trades?.min, quote);
  const { bands } = fields;
  if (bands !== undefined && bands.relative === undefined && bands.absolute === undefined) {
    file.problems.push(
      problemAt(
        file.source,
        ["bands"],
        "needs relative, absolute or both",
        "for example { relative: 20% } or { absolute: 5pp }",
      ),
    );
    return undefined;
  }
  for (const target of targets ?? []) checkGaslessSale(file, fields, target.token);
  if (common === undefined || quote === undefined || targets === undefined || min === undefined || bands === undefined)
    return undefined;
  return {
    ...common,
    kind: "rebalance",
    quote,
    targets,
    bands: { relative: bands.relative, absolute: bands.absolute },
    trades: { min },
  };
}

function buildTargets(
  file: StrategyFile,
  fields: Fields["targets"] | undefined,
  quote: Token | undefined,
): RebalanceSpec["targets"] | undefined {
  if (fields === undefined) return undefined;
  const { source, problems } = file;
  const before = problems.length;
  const entries = Object.entries(fields);
  const rests = entries.filter(([, weight]) => weight === "rest");
  const sum = entries.reduce((total, [, weight]) => (weight === "rest" ? total : total + weight), 0n);
  const rest = ONE_PPM - sum;
  if (entries.length < 2) problems.push(problemAt(source, ["targets"], "a mix has at least two tokens"));
  if (rests.length > 1) {
    problems.push(
      problemAt(
        source,
        ["targets"],
        `only one token can be the rest, not ${rests.map(([symbol]) => symbol).join(" and ")}`,
      ),
    );
  } else if (rests.length === 1 && rest <= 0n) {
    problems.push(
      problemAt(source, ["targets"], `the weights sum to ${formatPercent(sum)}, so nothing is left for the rest`),
    );
  } else if (rests.length === 0 && rest !== 0n) {
    problems.push(
      problemAt(
        source,
        ["targets"],
        `the weights sum to ${formatPercent(sum)}, not to 100%`,
        "change one of them to rest",
      ),
    );
  }
  const targets = entries.flatMap(([symbol, weight]) => {
    const token = findToken(file, ["targets", symbol], symbol);
    const share: Ppm = weight === "rest" ? toPpm(rest > 0n ? rest : 0n) : weight;
    if (weight !== "rest" && weight === 0n) {
      problems.push(problemAt(source, ["targets", symbol], "a weight of nothing is no target", "leave the token out"));
    }
    if (token !== undefined && quote !== undefined && token.address !== quote.address) {
      checkPair(file, ["targets", symbol], { sell: token, buy: quote });
    }
    return token === undefined ? [] : [{ token, weight: share }];
  });
  return problems.length > before ? undefined : targets;
}

/** `kind: rebalance`. */
export const rebalanceFile = fileKind(schema, build);
