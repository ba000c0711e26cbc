import { formatUnits } from "../../domain/money/amount.ts";
import { describeDollars } from "../../domain/money/for-people.ts";
import { formatPercent } from "../../domain/money/fraction.ts";
import { isNative } from "../../domain/money/token.ts";
import { watchedHolders } from "../../domain/strategy/strategy.ts";
import { formatDuration } from "../../domain/time/format-duration.ts";
import { formatInstant } from "../terminal.ts";
import type { ToldBacktest } from "./told.ts";

/** What is the matter with this very backtest. */
export function warningsOf(told: ToldBacktest): readonly string[] {
  const { prices, result, configuration } = told;
  const { modes, alerts, guesses, lent, summary, unpriced, isGasPriced } = result;
  const coin = configuration.network.nativeSymbol;
  const warnings = [...prices.notes];
  for (const { scope, mode, reason, atMs } of modes) {
    const who = scope === "global" ? "everything" : scope;
    const rest = "nobody resumes a backtest, so it stays so until the end";
    warnings.push(`${formatInstant(atMs)}: ${who} is ${mode} from here on (${reason}); ${rest}`);
  }
  if (guesses.inside > 0)
    warnings.push(
      `${guesses.inside} trades lie within a candle, where the price is a guess: candles as short as the schedule would show it`,
    );
  if (guesses.undecided > 0)
    warnings.push(
      `${guesses.undecided} of them hang on what came first in their candle: another trigger would have fired had the other extreme come first, and the worse one was taken`,
    );
  if (prices.taken.length > 0)
    warnings.push(`${prices.taken.join(", ")} counted as 1.00 USD throughout: no file says otherwise`);
  if (lent.length > 0)
    warnings.push(`gas was lent to ${lent.join(", ")}, which lists no ${coin}; what it cost is in the result`);
  const idle = idleWallets(told);
  if (idle.length > 0)
    warnings.push(`no strategy trades or pays ${idle.join(", ")}, and what is there is in every figure all the same`);
  const unseen = unseenHolders(told);
  if (unseen.length > 0)
    warnings.push(
      `what ${unseen.join(", ")} held at the beginning counts as nothing in the weights: a backtest reads no chain, so state the amounts under \`external\``,
    );
  if (!isGasPriced)
    warnings.push(
      `no file prices ${coin}, so that gas has no price and every swap is denied (REFERENCE_MISSING): add --prices ${coin}/USD=FILE, or ${coin}=3000 for a price that never changes`,
    );
  if (unpriced.length > 0)
    warnings.push(
      `in no balance, without a price: ${unpriced.join(", ")}; add --prices ${unpriced[0]}/USD=FILE where it should count`,
    );
  if (alerts.size > 0)
    warnings.push(
      `alerts that would have been raised: ${[...alerts].map(([code, count]) => `${code} ${count}x`).join(", ")}`,
    );
  if (summary.fills === 0) warnings.push("nothing was traded: the reasons of the slots above say why");
  return warnings;
}

/** They count for the drawdown stop of the policy, as live, and so for all figures. */
function idleWallets({ configuration, options }: ToldBacktest): readonly string[] {
  const used = new Set(configuration.strategies.flatMap(({ spec }) => [spec.wallet.address, spec.recipient]));
  return [...configuration.wallets.values()].flatMap(({ name, address }) =>
    options.balances.has(address) && !used.has(address) ? [name] : [],
  );
}

/** Whom a mix counts, and of whom nobody said what they have. */
function unseenHolders({ configuration, options }: ToldBacktest): readonly string[] {
  const watched = configuration.strategies.flatMap(({ spec }) => watchedHolders(spec).map(({ address }) => address));
  return [...new Set(watched)].filter((address) => !options.balances.has(address));
}

/** What was assumed of each fill, with the numbers. */
export function assumptionsOf({ options, prices, configuration }: ToldBacktest): string {
  const { model, gasPrice, swapGas } = options;
  const gas = `${swapGas} gas a swap and 50000 an approval at ${formatUnits(gasPrice, 9)} gwei`;
  const own = [...configuration.tokens].filter(([, { token }]) => !isNative(token) && prices.pools.has(token.address));
  const at = own.length === 0 ? "the reference" : `the pool's own price of ${own.map(([symbol]) => symbol).join(", ")}`;
  return `fills at ${at} less ${formatPercent(model.poolFee)} pool fee, less the impact on ${describeDollars(model.depthUsd)} of depth; ${gas}; candles of ${formatDuration(prices.stepMs)}`;
}

/** What no backtest can know. */
export const UNKNOWN: readonly string[] = [
  "the past does not come again, and a rule that was chosen on it fits it better than what comes",
  "what happened within a candle, in which order, and how much could be traded at its extremes",
  "how deep the pools were at each moment, which pools there were, and what other traders did with the price meanwhile",
  "outages: of the node, the service, the machine; reorganisations, stuck transactions, gas that rises when prices fall",
  "tokens that tax or refuse transfers, pegs that break (unless a file shows it), and contracts that are attacked",
  "what people do: approvals are taken as given, nobody resumes, deposits or withdraws, and taxes are not counted",
];
