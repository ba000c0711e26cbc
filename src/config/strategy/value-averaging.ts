import { z } from "zod";
import { toPpm } from "../../domain/money/fraction.ts";
import type { ValueAveragingSpec } from "../../domain/strategy/value-averaging.ts";
import type { Keys } from "../check-shape.ts";
import { at, type Complaint, type Part } from "../complaint.ts";
import { flag, map, or } from "../fields.ts";
import { money, share, start } from "../units.ts";
import { buildBudget, startMsOf } from "./build-budget.ts";
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
  path: map("what the holding should be worth: at the n-th slot n steps, grown n times", {
    step: money("what each slot adds to the path, in the token that is paid with", "100 USDC"),
    growth: share("growth of the whole path from slot to slot; none by default", ["%", "bps"], MAX_GROWTH).optional(),
  }),
  max_contribution: money("the most that one slot pays, or sells: falling prices ask for ever more", "300 USDC"),
  trades: z.strictObject({ min: money("the smallest trade, in the token that is paid with", "20 USDC") }),
  allow_sell: or(flag("whether it sells of its own holding what is above the path; false by default"), false),
  start: start("no slot before this counts, or now; the first slot after loading by default").optional(),
  on_insufficient: or(
    z.enum(["skip", "partial", "pause"]),
    "skip",
    "when the balance does not cover a contribution; skip by default",
  ),
});

function* build(file: StrategyFile, id: string, { fields, whole }: Keys<typeof schema>): Part<ValueAveragingSpec> {
  const common = yield* buildCommon(file, id, fields);
  const step = yield* readAmount(file, ["path", "step"], fields.path?.step);
  const pay = step?.token;
  const buy = yield* findToken(file, ["buy"], fields.buy);
  const paid = fields.max_contribution?.symbol;
  const isSame = pay !== undefined && pay.address === buy?.address;
  // The other amounts show that the step names the bought token by mistake.
  if (isSame && paid !== undefined && paid !== pay.symbol)
    yield at`path.step: is in ${pay.symbol}, which is bought: a step is given in the token that is paid with -> write for example "50 ${paid}"`;
  else yield* checkPair(file, ["buy"], { sell: pay, buy });
  yield* checkGaslessSale(fields, pay);
  if (fields.allow_sell === true) yield* checkGaslessSale(fields, buy);
  if (fields.allow_sell === true && common !== undefined && common.recipient !== common.wallet.address)
    yield at`allow_sell: what goes to another recipient cannot be sold from this wallet -> drop allow_sell or recipient`;
  if (isSame) return undefined;
  const maxContribution = yield* readAmountOf(file, ["max_contribution"], fields.max_contribution, pay);
  const min = yield* readAmountOf(file, ["trades", "min"], fields.trades?.min, pay);
  const budget = yield* buildBudget(file, fields.budget, {
    ...{ currency: pay, schedule: common?.schedule, startMs: startMsOf(fields.start) },
    least: min === undefined ? undefined : { raw: min, key: "trades.min" },
  });
  yield* checkAmounts({ maxContribution, min, total: budget?.total });
  if (common === undefined || step === undefined || buy === undefined || whole === undefined) return undefined;
  if (maxContribution === undefined || min === undefined) return undefined;
  const { path, allow_sell: allowSell, start: begin, on_insufficient: onInsufficient } = whole;
  return {
    ...common,
    kind: "value-averaging",
    maxTradeUsd: file.scope.policy?.maxTradeUsd,
    ...{ pay: step.token, buy, maxContribution, min, allowSell, onInsufficient },
    path: { step: step.raw, growth: path.growth ?? toPpm(0) },
    budget,
    ...{ startMs: startMsOf(begin), startsNow: begin === "now" ? true : undefined },
  };
}

function* checkAmounts(amounts: Record<"maxContribution" | "min" | "total", bigint | undefined>): Iterable<Complaint> {
  const { maxContribution, min, total } = amounts;
  if (min === undefined || maxContribution === undefined) return;
  if (min > maxContribution)
    yield at`trades.min: is more than max_contribution, so nothing would ever be bought -> lower it, or raise max_contribution`;
  if (total !== undefined && total < min)
    yield at`budget.total: is less than the smallest trade, so nothing would ever be bought -> raise it, or lower trades.min`;
}

/** `kind: value-averaging`. */
export const valueAveragingFile = fileKind(schema, build);
