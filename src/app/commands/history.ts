import type { CostHistory, RunHistory, SwapHistory } from "../../ports/history.ts";
import { findTarget, withReads } from "../target.ts";
import { formatInstant, formatTable, formatTokenAmount, type Terminal } from "../terminal.ts";

/** `swapd history`: runs with their swaps, newest first. */
export async function history(
  options: { config?: string; json?: boolean; strategy?: string; limit: number },
  terminal: Terminal,
): Promise<void> {
  const { limit, strategy } = options;
  const runs = await withReads(findTarget(options), (reads) =>
    reads.runs(strategy === undefined ? { limit } : { limit, strategy }),
  );
  if (options.json === true) {
    terminal.out(JSON.stringify({ runs: runs.map(runJson) }));
    return;
  }
  if (runs.length === 0) {
    terminal.out("no runs yet");
    return;
  }
  terminal.out(formatTable([HEADING, ...runs.flatMap(rowsOf)]));
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
    formatTokenAmount(swap.sold ?? swap.gross, swap.sell),
    formatTokenAmount(swap.bought, swap.buy),
    swap.hash ?? "-",
  ]);
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
    quoteId: swap.quoteId,
  };
}

/** What a transaction cost, in wei: gas, and what a rollup charged on top of it. */
function costJson({ blockTimeSeconds, ...cost }: CostHistory): Record<string, unknown> {
  return { ...cost, blockTime: formatInstant(blockTimeSeconds * 1_000), cost: costOf(cost).toString() };
}

/** Wei that the account paid on top of the transaction's value. */
export function costOf(cost: Pick<CostHistory, "gasUsed" | "gasPrice" | "dataFee">): bigint {
  return BigInt(cost.gasUsed) * BigInt(cost.gasPrice) + BigInt(cost.dataFee ?? 0);
}
