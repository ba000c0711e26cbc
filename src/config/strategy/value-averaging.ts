import { z } from "zod";
import { toPpm } from "../../domain/money/fraction.ts";
import type { Token } from "../../domain/money/token.ts";
import type { ValueAveragingSpec } from "../../domain/strategy/value-averaging.ts";
import { DEFAULTS } from "../defaults.ts";
import { flag } from "../fields.ts";
import { problemAt } from "../source.ts";
import { instant, money, share } from "../units.ts";
import { buildCommon, checkGaslessSale } from "./build-common.ts";
import { commonFields, symbol } from "./common-schema.ts";
import { fileKind } from "./file-kind.ts";
import { checkPair, findToken, readAmount, readAmountOf, type StrategyFile } from "./scope.ts";

/** Growth beyond this doubles the path every few slots. */
const MAX_GROWTH = { max: toPpm(200_000) };

/** Buys what lifts the worth of its own holding to a rising path. */
const schema = z.strictObject({
  kind: z.literal("value-averaging"),
  ...commonFields,
  buy: symbol("the token to buy"),
  path: z
    .strictObject({
      step: money("what each slot adds to the path, in the token that is paid with", "100 USDC"),
      growth: share("growth of the whole path from slot to slot; none by default", ["%", "bps"], MAX_GROWTH).optional(),
    })
    .meta({ description: "what the holding should be worth: at the n-th slot n steps, grown n times" }),
  max_contribution: money("the most that one slot pays, or sells: falling prices ask for ever more", "300 USDC"),
  trades: z.strictObject({ min: money("the smallest trade, in the token that is paid with", "20 USDC") }),
  budget: z.strictObject({ total: money("what it may pay in its whole life", "5200 USDC") }).optional(),
  allow_sell: flag("whether it sells of its own holding what is above the path; false by default").optional(),
  start: instant("no slot before this counts; the first slot after loading by default").optional(),
  on_insufficient: z
    .enum(["skip", "partial", "pause"])
    .optional()
    .meta({ description: "when the balance does not cover a contribution; skip by default" }),
});

type Fields = z.output<typeof schema>;

function build(file: StrategyFile, id: string, fields: Partial<Fields>): ValueAveragingSpec | undefined {
  const before = file.problems.length;
  const common = buildCommon(file, id, fields);
  const step = readAmount(file, ["path", "step"], fields.path?.step);
  const pay = step?.token;
  const buy = fields.buy === undefined ? undefined : findToken(file, ["buy"], fields.buy);
  const isSame = pay !== undefined && pay.address === buy?.address;
  const paid = fields.max_contribution?.symbol;
  if (isSame && paid !== undefined && paid !== pay.symbol) complainStep(file, { paid, bought: pay.symbol });
  else checkPair(file, ["buy"], { sell: pay, buy });
  checkGaslessSale(file, fields, pay);
  if (fields.allow_sell === true) checkGaslessSale(file, fields, buy);
  const amounts = isSame ? undefined : buildAmounts(file, fields, pay);
  if (fields.allow_sell === true && common !== undefined && common.recipient !== common.wallet.address) {
    const message = "what goes to another recipient cannot be sold from this wallet";
    file.problems.push(problemAt(file.source, ["allow_sell"], message, "drop allow_sell or recipient"));
  }
  if (common === undefined || step === undefined || buy === undefined || amounts === undefined) return undefined;
  if (file.problems.length > before) return undefined;
  return {
    ...common,
    kind: "value-averaging",
    pay: step.token,
    buy,
    path: { step: step.raw, growth: fields.path?.growth ?? toPpm(0) },
    ...amounts,
    allowSell: fields.allow_sell ?? false,
    startMs: fields.start?.firstMs,
    onInsufficient: fields.on_insufficient ?? DEFAULTS.onInsufficient,
  };
}

/** What is paid with is named by the step, and the other amounts tell when the step names the bought token by mistake. */
function complainStep(file: StrategyFile, { paid, bought }: { paid: string; bought: string }): void {
  const message = `is in ${bought}, which is bought: a step is told in the token that is paid with`;
  file.problems.push(problemAt(file.source, ["path", "step"], message, `write for example "50 ${paid}"`));
}

function buildAmounts(
  file: StrategyFile,
  fields: Partial<Fields>,
  pay: Token | undefined,
): Pick<ValueAveragingSpec, "maxContribution" | "min" | "budget"> | undefined {
  const { source, problems } = file;
  const maxContribution = readAmountOf(file, ["max_contribution"], fields.max_contribution, pay);
  const min = readAmountOf(file, ["trades", "min"], fields.trades?.min, pay);
  const total = readAmountOf(file, ["budget", "total"], fields.budget?.total, pay);
  if (maxContribution === undefined || min === undefined) return undefined;
  if (min > maxContribution) {
    const message = "is more than max_contribution, so nothing would ever be bought";
    problems.push(problemAt(source, ["trades", "min"], message, "lower it, or raise max_contribution"));
  }
  if (total !== undefined && total < min) {
    const message = "is less than the smallest trade, so nothing would ever be bought";
    problems.push(problemAt(source, ["budget", "total"], message, "raise it, or lower trades.min"));
  }
  return { maxContribution, min, budget: total === undefined ? undefined : { total } };
}

/** `kind: value-averaging`. */
export const valueAveragingFile = fileKind(schema, build);
