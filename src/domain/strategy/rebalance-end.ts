import { formatAmount } from "../money/amount.ts";
import { larger } from "../money/bigint.ts";
import type { Token } from "../money/token.ts";
import type { AfterRun, RunEnd, SwapEnd } from "./kind.ts";
import { type RebalanceMemory, type RunNote, rawIn, withRaw, withTurnover } from "./rebalance-memory.ts";
import type { RebalanceSpec } from "./rebalance-spec.ts";

/**
 * What a run's end changes. Turnover counts what was really swapped; the cooldown begins when a rebalance has reached
 * its destination; proceeds without their buy are owed, and stop the strategy unless it shall go on by itself.
 */
export function rebalanceEnded(spec: RebalanceSpec, memory: RebalanceMemory, end: RunEnd): AfterRun<RebalanceMemory> {
  const { run } = memory;
  if (run === undefined || run.slotMs !== end.slotMs) return { memory };
  const filled = end.swaps.filter(isFilled);
  const turnover = filled.reduce((sum, { position }) => sum + (run.legs[position]?.turnover ?? 0), 0);
  const isWhole = filled.length === end.swaps.length;
  let next: RebalanceMemory = withTurnover({ ...memory, run: undefined }, turnover, end.nowMs);
  for (const swap of filled) next = { ...next, fresh: less(next.fresh, swap) };
  if (run.purpose === "mix" && filled.length > 0) {
    const isConverging = isWhole ? run.isCut : memory.isConverging || run.isCut;
    next = { ...next, isConverging, ...(isWhole && !run.isCut ? { doneMs: end.nowMs } : {}) };
  }
  if (run.purpose === "owed") return endOwed(spec, next, { run, end, isWhole });
  const missing = unspentProceeds(run, end);
  if (missing === undefined) return { memory: next };
  const { token, raw } = missing;
  next = { ...next, owed: withRaw(next.owed, token.address, rawIn(next.owed, token.address) + raw) };
  return hold(spec, next, { end, owed: missing });
}

/** Buys that follow up on an earlier run: what they spent is owed no longer, and when all are done nothing is. */
function endOwed(
  spec: RebalanceSpec,
  memory: RebalanceMemory,
  { run, end, isWhole }: { run: RunNote; end: RunEnd; isWhole: boolean },
): AfterRun<RebalanceMemory> {
  const token = end.swaps[0]?.sell;
  if (token === undefined) return { memory };
  if (isWhole && !run.isCut) {
    return { memory: { ...memory, owed: withRaw(memory.owed, token.address, 0n), doneMs: end.nowMs } };
  }
  const owed = end.swaps.filter(isFilled).reduce((left, swap) => less(left, swap), memory.owed);
  if (isWhole) return { memory: { ...memory, owed } };
  return hold(spec, { ...memory, owed }, { end, owed: { token, raw: rawIn(owed, token.address) } });
}

function hold(
  spec: RebalanceSpec,
  memory: RebalanceMemory,
  { end, owed }: { end: RunEnd; owed: { token: Token; raw: bigint } },
): AfterRun<RebalanceMemory> {
  if (spec.trades.onIncomplete === "retry") return { memory };
  const missed = end.swaps
    .filter((swap) => !isFilled(swap) && swap.sell.address === owed.token.address)
    .map(({ buy, reason }) => `${buy.symbol} (${reason})`)
    .join(", ");
  const detail =
    `${formatAmount(owed)} that sells brought wait for buys that did not happen: ${missed}; ` +
    "after a resume they are bought first, and nothing is sold again for it";
  return { memory, pause: { code: "legs_incomplete", detail } };
}

/**
 * Proceeds that no buy has spent, where a buy that was to spend them brought nothing. What refills the token that swaps
 * go over has reached its end; less than the least that is worth a swap stays where it is.
 */
function unspentProceeds(run: RunNote, end: RunEnd): { token: Token; raw: bigint } | undefined {
  const buys = end.swaps.filter(({ position }) => (run.legs[position]?.of.length ?? 0) > 0);
  const missed = buys.find((swap) => !isFilled(swap));
  if (missed === undefined) return undefined;
  const sources = new Set(buys.flatMap(({ position }) => run.legs[position]?.of ?? []));
  const brought = end.swaps.reduce((sum, { position, bought }) => (sources.has(position) ? sum + bought : sum), 0n);
  const spent = buys.reduce((sum, { sold }) => sum + sold, 0n);
  const raw = brought - BigInt(run.hole) - spent;
  return raw > 0n && raw >= BigInt(run.least) ? { token: missed.sell, raw } : undefined;
}

function isFilled({ reason }: SwapEnd): boolean {
  return reason === undefined;
}

function less(amounts: RebalanceMemory["fresh"], { sell, sold }: SwapEnd): RebalanceMemory["fresh"] {
  const left = rawIn(amounts, sell.address) - sold;
  return withRaw(amounts, sell.address, larger(left, 0n));
}
