import type { Token } from "../../domain/money/token.ts";
import type { StrategyCommon } from "../../domain/strategy/common.ts";
import type { RebalanceSpec, RebalanceTarget, RebalanceTrades } from "../../domain/strategy/rebalance-spec.ts";
import type { Keys } from "../check-shape.ts";
import { at, type Complaint, type Found, type Part, refuse, sound } from "../complaint.ts";
import { buildBudget } from "./build-budget.ts";
import { buildCommon, checkGaslessSale } from "./build-common.ts";
import { fileKind } from "./file-kind.ts";
import { buildBands, buildDestination } from "./rebalance-bands.ts";
import { buildExternal } from "./rebalance-external.ts";
import { type RebalanceFields, rebalanceSchema } from "./rebalance-schema.ts";
import { buildTargets } from "./rebalance-targets.ts";
import { checkPair, findToken, readAmountOf, type StrategyFile } from "./scope.ts";

function* build(file: StrategyFile, id: string, { fields, whole }: Keys<typeof rebalanceSchema>): Part<RebalanceSpec> {
  const common = yield* buildCommon(file, id, fields);
  const quote = yield* findToken(file, ["quote"], fields.quote);
  const bands = yield* buildBands(fields.bands, common?.schedule);
  const destination = yield* buildDestination(fields.destination, bands);
  const targets = fields.targets === undefined ? undefined : yield* sound(buildTargets(file, fields.targets, bands));
  const trades = yield* buildTrades(file, fields.trades, { quote, targets: targets ?? [] });
  const cash = yield* buildCash(file, fields.cash, targets);
  const mix = { wallet: common?.wallet.address, targets: targets ?? [] };
  const external = yield* sound(buildExternal(file, fields.external, mix));
  if (external !== undefined || fields.external === undefined)
    yield* checkRecipient(common, { external, targets: targets ?? [], via: fields.trades?.via });
  const budget = yield* buildBudget(file, fields.budget, { currency: "USD", schedule: common?.schedule });
  for (const target of targets ?? []) yield* checkGaslessSale(fields, target.token);
  if (common === undefined || quote === undefined || targets === undefined || bands === undefined) return undefined;
  if (trades === undefined || whole === undefined) return undefined;
  const { on_deposit: onDeposit } = whole;
  const parts = { quote, targets, bands: bands.rules, destination, trades, cash, onDeposit, budget };
  return { ...common, kind: "rebalance", ...parts, ...(external === undefined ? {} : { external }) };
}

/**
 * A mix whose purchases go elsewhere would sell itself empty, unless all that it buys counts there: what was bought is then
 * no longer missing, and the wallet has it not to sell again.
 */
function* checkRecipient(
  common: StrategyCommon | undefined,
  { external, targets, via }: Pick<RebalanceSpec, "external" | "targets"> & { readonly via: string | undefined },
): Iterable<Complaint> {
  if (common === undefined || common.recipient === common.wallet.address) return;
  const { recipient, wallet } = common;
  const there = external?.watched.find(({ address }) => address === recipient);
  if (there === undefined) {
    yield at`recipient: what a rebalance buys would leave the mix, and it would sell itself empty -> leave it out, write ${wallet.name}, or let what lies there count: external: [{ address: "${recipient}" }]`;
    return;
  }
  const bought = targets.filter(({ exit }) => !exit).map(({ token }) => token);
  const lost = bought.filter(({ address }) => !there.tokens.some((token) => token.address === address));
  if (lost.length > 0)
    yield at`recipient: what is bought of ${lost.map(({ symbol }) => symbol).join(" and ")} would not count there, and be bought again and again -> name all tokens of targets in its entry of external, or none`;
  if (via !== undefined)
    yield at`trades.via: what the sells bring would be paid to the recipient too, and nothing be left for the buys -> leave it out, or the recipient`;
}

function* buildTrades(
  file: StrategyFile,
  fields: RebalanceFields["trades"] | undefined,
  mix: { quote: Token | undefined; targets: readonly RebalanceTarget[] },
): Part<RebalanceTrades> {
  if (fields === undefined) return undefined;
  const { order, leg_timeout: legTimeoutSeconds, on_incomplete: onIncomplete } = fields;
  const min = yield* readAmountOf(file, ["trades", "min"], fields.min, mix.quote);
  const via = yield* findToken(file, ["trades", "via"], fields.via);
  for (const { token } of mix.targets)
    if (token.address !== via?.address) yield* checkPair(file, ["trades", "via"], { sell: token, buy: via });
  if (fields.via === undefined && order === "pair-by-pair")
    yield at`trades.order: direct swaps sell and buy at once, so there is nothing to order -> leave it out, or name a token under via`;
  const maxTurnover = fields.max_turnover ?? { perDay: undefined, perRun: undefined };
  const shares = [maxTurnover.perDay, maxTurnover.perRun].filter((share) => share !== undefined);
  if (fields.max_turnover !== undefined && (shares.length === 0 || shares.some((share) => share === 0n)))
    yield at`trades.max_turnover: needs per_day, per_run or both, more than nothing -> for example { per_day: 10%, per_run: 5% }, or 10% per day`;
  if (min === undefined) return undefined;
  return { min, maxUsd: file.scope.policy?.maxTradeUsd, maxTurnover, order, via, legTimeoutSeconds, onIncomplete };
}

function* buildCash(
  file: StrategyFile,
  fields: RebalanceFields["cash"],
  targets: readonly RebalanceTarget[] | undefined,
): Found<RebalanceSpec["cash"]> {
  const token = yield* findToken(file, ["cash", "asset"], fields?.asset);
  const min = yield* readAmountOf(file, ["cash", "min"], fields?.min, token);
  if (token === undefined || min === undefined || targets === undefined) return undefined;
  if (targets.some((target) => target.token.address === token.address && target.weight > 0n)) return { token, min };
  return yield* refuse`cash.asset: ${token.symbol} has no weight in the mix, so none of it is sold anyway -> name a token of targets, or leave cash out`;
}

/** `kind: rebalance`. */
export const rebalanceFile = fileKind(rebalanceSchema, build);
