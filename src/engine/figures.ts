import { ONE_PPM } from "../domain/money/fraction.ts";
import { type UsdPrice, valueDown } from "../domain/money/price.ts";
import type { StepResult } from "../domain/run/draft.ts";
import type { PriceEvidence } from "../domain/run/records.ts";
import { type Run, type Swap, swapOf } from "../domain/run/run.ts";
import { isFilled, isRunEnd, type SwapState } from "../domain/run/states.ts";
import type { Meter, MeteredFill } from "../ports/meter.ts";
import type { EngineContext } from "./engine-context.ts";
import type { OutcomeListener, SlotOutcome } from "./slot-gaps.ts";

/** Counts what a committed step came to: the end of its run, and fills that were not seen before. */
export function countStep(
  { deps: { meter }, settings }: EngineContext,
  { result, prices }: { readonly result: StepResult; readonly prices: PriceEvidence | undefined },
): void {
  if (meter === undefined) return;
  const { run, transitions } = result;
  const { strategyId: strategy, reason } = run;
  for (const { subject, subjectId, from, to } of transitions) {
    if (subject === "run" && isRunEnd(run.state) && run.state === to) meter.runEnded({ strategy, state: to, reason });
    if (subject !== "swap" || !isFilled(to as SwapState) || (from !== undefined && isFilled(from as SwapState)))
      continue;
    meter.filled(fillFigures(run, swapOf(run, subjectId), { prices, nativeDecimals: settings.native.decimals }));
  }
}

/** The same watch, with what slots came to counted as it is written. */
export function countingSlots<T extends { readonly heard: OutcomeListener }>(
  { deps: { meter, clock } }: EngineContext,
  watch: T,
): T {
  if (meter === undefined) return watch;
  const heard: OutcomeListener = (outcome) => {
    watch.heard(outcome);
    countSlot(meter, outcome, clock.nowMs());
  };
  return { ...watch, heard };
}

function countSlot(meter: Meter, outcome: SlotOutcome, nowMs: number): void {
  const { strategy } = outcome;
  if (outcome.kind === "run") meter.slot({ strategy, kind: "begun", delayMs: Math.max(0, nowMs - outcome.slotMs) });
  else meter.slot({ strategy, kind: "passed", count: outcome.gap.count, reason: outcome.gap.reason });
}

/** What a fill came to. Gas is counted where the wallet paid it. */
function fillFigures(
  run: Run,
  { sell, buy, mode = "self-executed", fill, terms, quote }: Swap,
  { prices, nativeDecimals }: { readonly prices: PriceEvidence | undefined; readonly nativeDecimals: number },
): MeteredFill {
  const soldPrice = prices?.sold?.usd;
  const worth = (raw: bigint, decimals: number, usd: UsdPrice | undefined): bigint | undefined =>
    usd === undefined ? undefined : valueDown({ raw, decimals }, usd);
  const sold = fill?.sold ?? 0n;
  const bought = fill?.bought ?? 0n;
  const soldUsd = worth(sold, sell.decimals, soldPrice);
  return {
    ...{ strategy: run.strategyId, sell: sell.symbol, buy: buy.symbol, mode, soldUsd },
    feeUsd: worth((terms?.swapFee ?? 0n) + (terms?.affiliateFee ?? 0n), sell.decimals, soldPrice),
    gasUsd: mode === "gasless" ? 0n : worth(fill?.gasCost ?? 0n, nativeDecimals, prices?.native?.usd),
    againstQuotePpm: aboveInPpm(bought, quote?.amountOut),
    againstReferencePpm: aboveInPpm(worth(bought, buy.decimals, prices?.bought?.usd), soldUsd),
  };
}

function aboveInPpm(got: bigint | undefined, expected: bigint | undefined): bigint | undefined {
  if (got === undefined || expected === undefined || expected === 0n) return undefined;
  return ((got - expected) * ONE_PPM) / expected;
}
