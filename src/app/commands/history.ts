import type { CostHistory, RunHistory, SwapHistory } from "../../ports/history.ts";
import type { PaperHolding } from "../../ports/read-model.ts";
import { CommandFailure } from "../exit-codes.ts";
import { assertKnown } from "../known-strategy.ts";
import { sayMode } from "../mode-line.ts";
import { type PaperTotal, totalJson, totalOnPaper } from "../paper-total.ts";
import { configurationOf, findTargetToRead, type ReadOptions, type Target, withReads } from "../target.ts";
import { formatInstant, formatTable, formatTokenAmount, type Terminal } from "../terminal.ts";
import { formatPaper, formatWouldBe, isDry, soldText } from "./history-on-paper.ts";
import { costOf } from "./swap-costs.ts";

/** `swapd history`: runs with their swaps, newest first. */
export async function history(
  options: ReadOptions & { json?: boolean; strategy?: string; limit: number },
  terminal: Terminal,
): Promise<void> {
  const { limit, strategy } = options;
  const target = findTargetToRead(options);
  sayMode(target, options, terminal);
  const { found, holdings } = await withReads(target, async (reads) => {
    const rows = await reads.runs({ limit: limit + 1, ...(strategy === undefined ? {} : { strategy }) });
    if (strategy !== undefined && rows.length === 0)
      assertKnown((await reads.slotBefore({ strategy, atMs: 0 })).strategies, strategy);
    return { found: rows, holdings: await reads.paper() };
  });
  const runs = found.slice(0, limit);
  if (found.length > limit) terminal.err(`the newest ${limit} runs; there are older ones: --limit shows more`);
  const paper = holdings === undefined ? undefined : await paperOf(target, holdings);
  if (options.json === true) {
    terminal.out(JSON.stringify({ runs: runs.map(runJson), ...(paper && { paper: totalJson(paper) }) }));
    return;
  }
  const parts = [runs.length === 0 ? "no runs yet" : tableOf(runs, { isPaper: paper !== undefined })];
  if (paper !== undefined) parts.push(formatPaper(paper));
  terminal.out(parts.join("\n\n"));
}

/** Names and decimals are in the files, which may be broken. */
async function paperOf(target: Target, holdings: readonly PaperHolding[]): Promise<PaperTotal> {
  try {
    const { configuration, env } = configurationOf(target);
    return await totalOnPaper(configuration, env, holdings);
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    const raw = holdings.map(({ account, token, began, now }) => ({
      ...{ wallet: account, token, began: began.toString(), now: now.toString() },
    }));
    return { holdings: raw, value: undefined, unpriced: [`all of it, in smallest units: ${error.message}`] };
  }
}

/** Where no run has anything on the chain, all of it is what would have been. */
function tableOf(runs: readonly RunHistory[], { isPaper }: { readonly isPaper: boolean }): string {
  const isSigned = runs.some(({ swaps }) => swaps.some(({ hash }) => hash !== null));
  if (isPaper || (!isSigned && runs.some(isDry))) return formatWouldBe(runs);
  return formatTable([HEADING, ...runs.flatMap(rowsOf)]);
}

const HEADING = ["SLOT (UTC)", "STRATEGY", "RUN", "SWAP", "MODE", "SOLD", "BOUGHT", "TRANSACTION"];

function rowsOf(run: RunHistory): string[][] {
  const state = run.reason === null ? run.state : `${run.state} (${run.reason})`;
  const head = [formatInstant(run.slotMs), run.strategy, state];
  if (run.swaps.length === 0) return [[...head, "-", "-", "-", "-", "-"]];
  return run.swaps.map((swap, index) => [
    ...(index === 0 ? head : ["", "", ""]),
    swap.reason === null ? swap.state : `${swap.state} (${swap.reason})`,
    swap.mode ?? "-",
    soldText(swap, formatTokenAmount(swap.sold ?? swap.gross, swap.sell)),
    boughtText(swap),
    swap.hash ?? "-",
  ]);
}

/** A dry run bought nothing: what its quote promised says so. */
function boughtText(swap: SwapHistory): string {
  const { bought, buy, reason, prices } = swap;
  const promised = reason === "dry_run" ? prices?.expected?.bought : undefined;
  return promised === undefined ? formatTokenAmount(bought, buy) : `(${formatTokenAmount(promised, buy)})`;
}

/** A run as machines read it. Amounts are decimal text in the token's smallest unit. */
export function runJson(run: RunHistory): Record<string, unknown> {
  return {
    id: run.id,
    strategy: run.strategy,
    slot: formatInstant(run.slotMs),
    state: run.state,
    reason: run.reason,
    detail: run.detail,
    swaps: run.swaps.map(swapJson),
  };
}

function swapJson(swap: SwapHistory): Record<string, unknown> {
  return {
    id: swap.id,
    state: swap.state,
    reason: swap.reason,
    mode: swap.mode,
    sold: swap.sold,
    bought: swap.bought,
    hash: swap.hash,
    blockNumber: swap.blockNumber,
    blockTime: swap.blockTimeSeconds === null ? null : formatInstant(swap.blockTimeSeconds * 1_000),
    wallet: swap.wallet,
    fees: swap.fees,
    prices: swap.prices,
    transactions: swap.costs.map(costJson),
    sell: swap.sell,
    buy: swap.buy,
    recipient: swap.recipient,
    nonce: swap.nonce,
    deadline: swap.deadlineSeconds === null ? null : formatInstant(swap.deadlineSeconds * 1_000),
    quoteId: swap.quoteId,
  };
}

/** What a transaction cost, in wei: gas, and what a rollup charged on top of it. */
function costJson({ blockTimeSeconds, ...cost }: CostHistory): Record<string, unknown> {
  return { ...cost, blockTime: formatInstant(blockTimeSeconds * 1_000), cost: costOf(cost).toString() };
}
