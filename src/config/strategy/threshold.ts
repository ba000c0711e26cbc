import { z } from "zod";
import type { Token } from "../../domain/money/token.ts";
import type { ThresholdSpec } from "../../domain/strategy/threshold.ts";
import { DEFAULTS } from "../defaults.ts";
import { problemAt, problemAtKey } from "../source.ts";
import { money, seconds, share } from "../units.ts";
import { buildCommon, checkGaslessSale } from "./build-common.ts";
import { commonFields, symbol, whole } from "./common-schema.ts";
import { fileKind } from "./file-kind.ts";
import { checkPair, findToken, readAmount, readAmountOf, type StrategyFile } from "./scope.ts";

/** Sells when a price crosses a level. */
const schema = z.strictObject({
  kind: z.literal("threshold"),
  ...commonFields,
  sell: z.union(
    [
      money("a fixed amount", "0.5 WETH"),
      z.strictObject({ amount: share("a share of the free balance", ["%"], whole), of: symbol("the token to sell") }),
    ],
    { error: 'needs "0.5 WETH", or { amount: 25%, of: WETH }' },
  ),
  buy: symbol("the token to buy"),
  when: z
    .strictObject({
      crosses_above: money("the price of the other token, from below", "4500 USDC").optional(),
      crosses_below: money("the price of the other token, from above", "2400 USDC").optional(),
    })
    .meta({ description: "one of crosses_above and crosses_below" }),
  if_already_true: z.enum(["wait", "fire"]).optional().meta({ description: "at the very first look; wait by default" }),
  rearm: z
    .strictObject({
      above: money("the price on the far side, after crosses_below", "2600 USDC").optional(),
      below: money("the price on the far side, after crosses_above", "4200 USDC").optional(),
      cooldown: seconds("the least time between two sales", "3d"),
    })
    .optional()
    .meta({ description: "when it may fire again; without it, it sells once in its life" }),
});

type Fields = z.output<typeof schema>;

function build(file: StrategyFile, id: string, fields: Partial<Fields>): ThresholdSpec | undefined {
  const common = buildCommon(file, id, fields);
  const sell = fields.sell === undefined ? undefined : buildSale(file, fields.sell);
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

function buildSale(file: StrategyFile, sell: Fields["sell"]): ThresholdSpec["sell"] | undefined {
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
  when: Fields["when"],
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

function buildRearm(file: StrategyFile, rearm: Fields["rearm"], when: ThresholdSpec["when"]): ThresholdSpec["rearm"] {
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

/** `kind: threshold`. */
export const thresholdFile = fileKind(schema, build);
