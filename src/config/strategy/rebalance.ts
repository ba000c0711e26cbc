import type { Token } from "../../domain/money/token.ts";
import type { StrategyCommon } from "../../domain/strategy/common.ts";
import type { RebalanceSpec, RebalanceTarget, RebalanceTrades } from "../../domain/strategy/rebalance-spec.ts";
import { DEFAULTS } from "../defaults.ts";
import { problemAt } from "../source.ts";
import { buildCommon, checkGaslessSale } from "./build-common.ts";
import { fileKind } from "./file-kind.ts";
import { buildBands, buildDestination } from "./rebalance-bands.ts";
import { type RebalanceFields, rebalanceSchema } from "./rebalance-schema.ts";
import { buildTargets } from "./rebalance-targets.ts";
import { checkPair, findToken, readAmountOf, type StrategyFile } from "./scope.ts";

function build(file: StrategyFile, id: string, fields: Partial<RebalanceFields>): RebalanceSpec | undefined {
  const before = file.problems.length;
  const common = buildCommon(file, id, fields);
  checkRecipient(file, common);
  const quote = fields.quote === undefined ? undefined : findToken(file, ["quote"], fields.quote);
  const bands = buildBands(file, fields.bands, common?.schedule);
  const destination = buildDestination(file, fields.destination, bands);
  const targets = buildTargets(file, fields.targets, bands);
  const trades = buildTrades(file, fields.trades, { quote, targets: targets ?? [] });
  const cash = buildCash(file, fields.cash, targets);
  for (const target of targets ?? []) checkGaslessSale(file, fields, target.token);
  if (file.problems.length > before) return undefined;
  if (common === undefined || quote === undefined || targets === undefined || bands === undefined) return undefined;
  if (trades === undefined || destination === undefined) return undefined;
  return {
    ...common,
    kind: "rebalance",
    quote,
    targets,
    bands: bands.rules,
    destination,
    trades,
    cash,
    onDeposit: fields.on_deposit ?? DEFAULTS.rebalance.onDeposit,
  };
}

/** A mix whose purchases go elsewhere would sell itself empty. */
function checkRecipient(file: StrategyFile, common: StrategyCommon | undefined): void {
  if (common === undefined || common.recipient === common.wallet.address) return;
  const message = "what a rebalance buys must come back to its own wallet, or it would sell the mix empty";
  file.problems.push(problemAt(file.source, ["recipient"], message, `leave it out, or write ${common.wallet.name}`));
}

function buildTrades(
  file: StrategyFile,
  fields: RebalanceFields["trades"] | undefined,
  mix: { quote: Token | undefined; targets: readonly RebalanceTarget[] },
): RebalanceTrades | undefined {
  if (fields === undefined) return undefined;
  const before = file.problems.length;
  const min = readAmountOf(file, ["trades", "min"], fields.min, mix.quote);
  const via = fields.via === undefined ? undefined : findToken(file, ["trades", "via"], fields.via);
  for (const { token } of mix.targets) {
    if (token.address !== via?.address) checkPair(file, ["trades", "via"], { sell: token, buy: via });
  }
  checkOrder(file, fields);
  const maxTurnover = fields.max_turnover ?? { perDay: undefined, perRun: undefined };
  const shares = [maxTurnover.perDay, maxTurnover.perRun].filter((share) => share !== undefined);
  if (fields.max_turnover !== undefined && (shares.length === 0 || shares.some((share) => share === 0n))) {
    const message = "needs per_day, per_run or both, more than nothing";
    const suggestion = "for example { per_day: 10%, per_run: 5% }, or 10% per day";
    file.problems.push(problemAt(file.source, ["trades", "max_turnover"], message, suggestion));
  }
  if (min === undefined || file.problems.length > before) return undefined;
  return {
    min,
    maxUsd: file.scope.policy?.maxTradeUsd,
    maxTurnover,
    order: fields.order ?? DEFAULTS.rebalance.order,
    via,
    legTimeoutSeconds: fields.leg_timeout ?? DEFAULTS.rebalance.legTimeoutSeconds,
    onIncomplete: fields.on_incomplete ?? DEFAULTS.rebalance.onIncomplete,
  };
}

/** Direct swaps need no order among them, and have no buy without its sell. */
function checkOrder(file: StrategyFile, fields: RebalanceFields["trades"]): void {
  if (fields.via !== undefined || fields.order !== "pair-by-pair") return;
  const message = "direct swaps sell and buy at once, so there is nothing to order";
  file.problems.push(problemAt(file.source, ["trades", "order"], message, "leave it out, or name a token under via"));
}

function buildCash(
  file: StrategyFile,
  fields: RebalanceFields["cash"],
  targets: readonly RebalanceTarget[] | undefined,
): RebalanceSpec["cash"] {
  if (fields === undefined) return undefined;
  const token = findToken(file, ["cash", "asset"], fields.asset);
  const min = readAmountOf(file, ["cash", "min"], fields.min, token);
  if (token === undefined || min === undefined || targets === undefined) return undefined;
  if (targets.some((target) => target.token.address === token.address && target.weight > 0n)) return { token, min };
  const message = `${token.symbol} has no weight in the mix, so none of it is sold anyway`;
  file.problems.push(problemAt(file.source, ["cash", "asset"], message, "name a token of targets, or leave cash out"));
  return undefined;
}

/** `kind: rebalance`. */
export const rebalanceFile = fileKind(rebalanceSchema, build);
