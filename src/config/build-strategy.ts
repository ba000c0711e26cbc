import { formatPercent, ONE_PPM, type Ppm, toPpm } from "../domain/money/fraction.ts";
import type { Token } from "../domain/money/token.ts";
import type { DcaSpec, RebalanceSpec, StrategySpec, ThresholdSpec } from "../domain/strategy/spec.ts";
import { buildCommon, checkGaslessSale } from "./build-common.ts";
import { checkShape } from "./check-shape.ts";
import { closest } from "./closest.ts";
import { DEFAULTS } from "./defaults.ts";
import { type DcaFile, type RebalanceFile, strategySchemas, type ThresholdFile } from "./schemas/strategy-schema.ts";
import { problemAt, problemAtKey, REFUSED } from "./source.ts";
import { checkPair, findToken, readAmount, readAmountOf, type StrategyFile } from "./strategy-scope.ts";

/** A strategy from its file. @returns undefined when something of it is broken; then `file.problems` say what */
export function buildStrategy(file: StrategyFile, id: string): StrategySpec | undefined {
  const { data } = file.source;
  const kind = typeof data === "object" && data !== null && "kind" in data ? data.kind : undefined;
  const before = file.problems.length;
  const spec = buildKind(file, id, kind);
  return file.problems.length > before ? undefined : spec;
}

function buildKind(file: StrategyFile, id: string, kind: unknown): StrategySpec | undefined {
  switch (kind) {
    case "dca":
      return buildDca(file, id, keep(file, checkShape(strategySchemas.dca, file.source)));
    case "rebalance":
      return buildRebalance(file, id, keep(file, checkShape(strategySchemas.rebalance, file.source)));
    case "threshold":
      return buildThreshold(file, id, keep(file, checkShape(strategySchemas.threshold, file.source)));
    default: {
      if (kind === REFUSED) return undefined;
      const kinds = Object.keys(strategySchemas);
      const meant = typeof kind === "string" ? closest(kind, kinds) : undefined;
      const message = kind === undefined ? 'the key "kind" is missing' : "is no kind of strategy";
      const suggestion = meant === undefined ? `kinds are ${kinds.join(", ")}` : `did you mean "${meant}"?`;
      file.problems.push(problemAt(file.source, ["kind"], message, suggestion));
      return undefined;
    }
  }
}

function keep<Values>(file: StrategyFile, checked: { values: Values; problems: StrategyFile["problems"] }): Values {
  file.problems.push(...checked.problems);
  return checked.values;
}

function buildDca(file: StrategyFile, id: string, fields: Partial<DcaFile>): DcaSpec | undefined {
  const common = buildCommon(file, id, fields);
  const sell = readAmount(file, ["sell"], fields.sell);
  const buy = fields.buy === undefined ? undefined : findToken(file, ["buy"], fields.buy);
  checkPair(file, ["buy"], { sell: sell?.token, buy });
  checkGaslessSale(file, fields, sell?.token);
  const total = readAmountOf(file, ["budget", "total"], fields.budget?.total, sell?.token);
  if (sell !== undefined && total !== undefined && total < sell.raw) {
    file.problems.push(
      problemAt(file.source, ["budget", "total"], "is less than a single order", "raise it, or lower sell"),
    );
  }
  if (common === undefined || sell === undefined || buy === undefined) return undefined;
  if (fields.budget !== undefined && total === undefined) return undefined;
  return { ...common, kind: "dca", sell, buy, budget: total === undefined ? undefined : { total } };
}

function buildRebalance(file: StrategyFile, id: string, fields: Partial<RebalanceFile>): RebalanceSpec | undefined {
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
  fields: RebalanceFile["targets"] | undefined,
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

function buildThreshold(file: StrategyFile, id: string, fields: Partial<ThresholdFile>): ThresholdSpec | undefined {
  const common = buildCommon(file, id, fields);
  const sell = fields.sell === undefined ? undefined : buildThresholdSale(file, fields.sell);
  const buy = fields.buy === undefined ? undefined : findToken(file, ["buy"], fields.buy);
  checkPair(file, ["buy"], { sell: sell?.token, buy });
  checkGaslessSale(file, fields, sell?.token);
  const trigger = fields.when === undefined ? undefined : buildTrigger(file, fields.when, { sell: sell?.token, buy });
  const rearm = trigger === undefined ? undefined : buildRearm(file, fields.rearm, trigger.when);
  if (common === undefined || sell === undefined || buy === undefined || trigger === undefined) return undefined;
  if (fields.rearm !== undefined && rearm === undefined) return undefined;
  return {
    ...common,
    kind: "threshold",
    sell,
    buy,
    watch: trigger.watch,
    when: trigger.when,
    ifAlreadyTrue: fields.if_already_true ?? DEFAULTS.ifAlreadyTrue,
    rearm,
  };
}

function buildThresholdSale(file: StrategyFile, sell: ThresholdFile["sell"]): ThresholdSpec["sell"] | undefined {
  if ("symbol" in sell) {
    const amount = readAmount(file, ["sell"], sell);
    return amount === undefined ? undefined : { token: amount.token, amount: { raw: amount.raw } };
  }
  const token = findToken(file, ["sell", "of"], sell.of);
  if (sell.amount > 0n) return token === undefined ? undefined : { token, amount: { share: sell.amount } };
  file.problems.push(problemAt(file.source, ["sell", "amount"], "a share of nothing sells nothing"));
  return undefined;
}

function buildTrigger(
  file: StrategyFile,
  when: ThresholdFile["when"],
  pair: { sell: Token | undefined; buy: Token | undefined },
): { watch: Token; when: ThresholdSpec["when"] } | undefined {
  const { crosses_above, crosses_below } = when;
  if ((crosses_above === undefined) === (crosses_below === undefined)) {
    file.problems.push(
      problemAt(
        file.source,
        ["when"],
        "needs exactly one of crosses_above and crosses_below",
        'for example { crosses_above: "4500 USDC" }',
      ),
    );
    return undefined;
  }
  const crosses = crosses_above === undefined ? "below" : "above";
  const path = ["when", `crosses_${crosses}`];
  const level = readAmount(file, path, crosses_above ?? crosses_below);
  const { sell, buy } = pair;
  if (level === undefined || sell === undefined || buy === undefined) return undefined;
  const isQuote = (token: Token): boolean => token.address === level.token.address;
  if (!isQuote(sell) && !isQuote(buy)) {
    const message = `the level is in ${level.token.symbol}, which is neither sold nor bought`;
    file.problems.push(problemAt(file.source, path, message, `write it in ${buy.symbol}, the price of ${sell.symbol}`));
    return undefined;
  }
  return { watch: isQuote(buy) ? sell : buy, when: { crosses, price: { quote: level.token, raw: level.raw } } };
}

function buildRearm(
  file: StrategyFile,
  rearm: ThresholdFile["rearm"],
  when: ThresholdSpec["when"],
): ThresholdSpec["rearm"] {
  if (rearm === undefined) return undefined;
  const wanted = when.crosses === "above" ? "below" : "above";
  const price = rearm[wanted];
  const unwanted = rearm[when.crosses];
  if (price === undefined || unwanted !== undefined) {
    const path = unwanted === undefined ? ["rearm"] : ["rearm", when.crosses];
    const message = `after crosses_${when.crosses} the far side lies ${wanted}`;
    file.problems.push(problemAtKey(file.source, path, message, `write { ${wanted}: "...", cooldown: 3d }`));
    return undefined;
  }
  const path = ["rearm", wanted];
  const raw = readAmountOf(file, path, price, when.price.quote);
  if (raw === undefined) return undefined;
  if (wanted === "below" ? raw < when.price.raw : raw > when.price.raw) {
    return { price: { quote: when.price.quote, raw }, cooldownSeconds: rearm.cooldown };
  }
  file.problems.push(
    problemAt(file.source, path, `must lie ${wanted} the level of when, or it would fire at every wobble`),
  );
  return undefined;
}
