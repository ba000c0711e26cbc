import type { RunEvent } from "../../../domain/run/events.ts";
import type { LedgerEvidence } from "../../../domain/run/evidence.ts";
import { GLOBAL_SCOPE } from "../../../domain/run/operating-mode.ts";
import { type Run, swapOf } from "../../../domain/run/run.ts";
import type { StepQuestion, StepRows } from "../../../ports/changes.ts";
import type { LaneRowStore } from "../../../ports/lane-row-store.ts";
import type { RowStore } from "./row-store.ts";

/**
 * Reads what a step is decided on.
 * @throws Error when the run's strategy has no row: a broken invariant
 */
export function readStepRows(
  rows: RowStore,
  lanes: Pick<LaneRowStore, "halts">,
  { run, event, asked }: { readonly run: Run; readonly event: RunEvent; readonly asked: StepQuestion },
): StepRows {
  const { strategyId } = run;
  const strategy = rows.strategy(strategyId);
  if (strategy === undefined) throw new Error(`strategy ${strategyId} has no row`);
  return {
    spec: strategy.spec,
    memory: strategy.memory,
    ledger: event.kind === "facts-read" ? readLedger(rows, run, { event, asked }) : undefined,
    isBarred: rows.isRunBarred(run.id),
    halts: lanes.halts(),
    modes: { global: rows.mode(GLOBAL_SCOPE), own: rows.mode(strategyId) },
    differences: rows.openDifferences(),
    failures: rows.failuresBetween(strategyId, asked.failures, asked.failures.except),
    sameEnds: rows.sameEnds(strategyId),
    warnings: rows.trueWarnings(strategyId, asked.everybodys),
    prices: "swapId" in event ? rows.clearancePrices(event.swapId) : undefined,
  };
}

type FactsRead = Extract<RunEvent, { kind: "facts-read" }>;

function readLedger(
  rows: RowStore,
  run: Run,
  { event: { swapId, reading }, asked }: { readonly event: FactsRead; readonly asked: StepQuestion },
): LedgerEvidence {
  const { wallet, sell } = swapOf(run, swapId);
  const { standing, signing } = reading;
  const permit = signing?.permit;
  const nonce = reading.decoding.ok ? reading.decoding.swap.nonce : undefined;
  return {
    isTokenBusy:
      rows.isTokenBusy(wallet, sell.address, swapId) ||
      (standing !== undefined && rows.isAllowanceOpen(wallet, sell.address, standing.finalized)),
    lastFreed: rows.lastFreed(wallet, sell.address),
    isPermitIntended: permit !== undefined && rows.intendedSignature(permit.digest) !== undefined,
    isNonceOfOther: nonce !== undefined && rows.isNonceOfOther(wallet, nonce, swapId),
    spentTodayUsd: rows.soldUsdSince(asked.daySinceMs, swapId),
    spentMonthUsd: rows.soldUsdSince(asked.monthSinceMs, swapId),
    reservedByOthers: rows.reserved(wallet, sell.address, swapId),
  };
}
