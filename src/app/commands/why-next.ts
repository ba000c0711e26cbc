import type { Swap } from "../../domain/run/run.ts";
import { type DryRun, dryRunSlot } from "../../engine/dry-run.ts";
import { strategyOf } from "../../engine/engine-context.ts";
import { describeDryRun } from "../describe-dry-run.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { lookAhead } from "../look-ahead.ts";
import { modeLine } from "../mode-line.ts";
import { configurationOf, findTarget, needsChain } from "../target.ts";
import { formatInstant, formatTokenAmount, type Terminal } from "../terminal.ts";
import { untakenLine } from "../untaken-line.ts";
import { checkTable } from "./swap-lines.ts";

/**
 * `swapd why <strategy> --next`: what the strategy would do at its next slot if that were now, with every check and its
 * numbers. Nothing is written, signed or sent.
 */
export async function whyNext(
  strategyId: string,
  options: { config?: string; json?: boolean },
  terminal: Terminal,
): Promise<void> {
  const target = needsChain(findTarget(options));
  const found = configurationOf(target);
  const dryRun = await lookAhead(found, async (context) => {
    const strategy = strategyOf(context, strategyId);
    if (strategy === undefined) {
      const known = context.settings.strategies.map(({ spec }) => spec.id).join(", ") || "none";
      throw new CommandFailure(EXIT.usage, `no strategy ${JSON.stringify(strategyId)}; known are ${known}`);
    }
    return await dryRunSlot(context, strategy);
  });
  if (dryRun === undefined) throw new CommandFailure(EXIT.no, `the schedule of ${strategyId} has no further slot`);
  const { configuration } = found;
  const untaken = await untakenLine(target);
  const json = { mode: configuration.mode, untaken: untaken ?? null, ...dryRunJson(dryRun) };
  const about = [modeLine(configuration), ...(untaken === undefined ? [] : [untaken])].join("\n");
  terminal.out(options.json === true ? JSON.stringify(json) : `${about}\n\n${dryRunText(dryRun)}`);
}

function dryRunJson(dryRun: DryRun): object {
  const { run, checks } = dryRun;
  const { verdict, reason = null, detail = null } = describeDryRun(dryRun);
  return {
    strategy: run.strategyId,
    slot: formatInstant(run.slotMs),
    verdict,
    state: run.state,
    reason,
    detail,
    swaps: run.swaps.map((swap) => ({
      sell: swap.sell.symbol,
      buy: swap.buy.symbol,
      amount: swap.gross?.toString() ?? null,
      expected: swap.quote?.amountOut.toString() ?? null,
      mode: swap.mode ?? null,
      state: swap.state,
      reason: swap.reason ?? null,
      checks: checks.get(swap.id) ?? [],
    })),
  };
}

function dryRunText(dryRun: DryRun): string {
  const { run, checks } = dryRun;
  const { verdict, reason, detail } = describeDryRun(dryRun);
  const why = [dryRun.waits ? reason : undefined, detail].filter((part) => part !== undefined && part !== "");
  const because = why.length === 0 ? "" : ` (${why.join(": ")})`;
  const parts = [`${run.strategyId} at ${formatInstant(run.slotMs)}, if it were now: ${verdict}${because}`];
  for (const swap of run.swaps) {
    const rows = (checks.get(swap.id) ?? []).map(({ ok, code, subject, value, limit }) => ({
      passed: ok,
      code,
      limit,
      value: `${subject}: ${value}`,
    }));
    parts.push(swapText(swap));
    if (rows.length > 0) parts.push(checkTable(rows));
  }
  return parts.join("\n\n");
}

function swapText(swap: Swap): string {
  const sold = formatTokenAmount(swap.gross?.toString() ?? null, swap.sell);
  const bought = formatTokenAmount(swap.quote?.amountOut.toString() ?? null, swap.buy);
  return `${sold} -> ${bought === "-" ? swap.buy.symbol : bought}, ${swap.mode ?? "not quoted"}`;
}
