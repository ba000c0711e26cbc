import type { RunEvent } from "../../../domain/run/events.ts";
import type { LedgerEvidence } from "../../../domain/run/evidence.ts";
import { GLOBAL_SCOPE } from "../../../domain/run/operating-mode.ts";
import { type Run, swapOf } from "../../../domain/run/run.ts";
import type { StepQuestion, StepRows } from "../../../ports/changes.ts";
import type { StrategyRow } from "../../../ports/daemon-rows.ts";
import type { SigningTerms } from "../../../ports/lane-questions.ts";
import type { LaneRowStore } from "../../../ports/lane-row-store.ts";
import type { RowStore } from "./row-store.ts";

/**
 * Reads what a step is decided on.
 * @throws Error when the run's strategy has no row: a broken invariant
 */
export function readStepRows(
  rows: RowStore,
  lanes: Pick<LaneRowStore, "halts">,
  { run, about, asked }: { readonly run: Run; readonly about: StepSubject; readonly asked: StepQuestion },
): StepRows {
  const { strategyId } = run;
  const { facts, swapId } = about;
  const strategy = strategyOf(rows, run);
  return {
    ...signingTerms(rows, run, strategy),
    memory: strategy.memory,
    ledger: facts === undefined ? undefined : readLedger(rows, run, { event: facts, asked }),
    halts: lanes.halts(),
    failures: rows.failuresBetween(strategyId, asked.failures, asked.failures.except),
    sameEnds: rows.sameEnds(strategyId),
    warnings: rows.trueWarnings(strategyId, asked.everybodys),
    prices: swapId === undefined ? undefined : rows.clearancePrices(swapId),
  };
}

type FactsRead = Extract<RunEvent, { kind: "facts-read" }>;

/** What a step is about: one of the run's swaps, and what was read for it. */
export interface StepSubject {
  readonly swapId: string | undefined;
  readonly facts: FactsRead | undefined;
}

export function subjectOf(event: RunEvent): StepSubject {
  return {
    swapId: "swapId" in event ? event.swapId : undefined,
    facts: event.kind === "facts-read" ? event : undefined,
  };
}

/** What signing for a run goes by. @throws Error when its strategy has no row: a broken invariant */
export function readSigningTerms(rows: RowStore, run: Run): SigningTerms {
  return signingTerms(rows, run, strategyOf(rows, run));
}

function signingTerms(rows: RowStore, { id, strategyId }: Run, { spec }: StrategyRow): SigningTerms {
  return {
    spec,
    isBarred: rows.isRunBarred(id),
    modes: { global: rows.mode(GLOBAL_SCOPE), own: rows.mode(strategyId) },
    differences: rows.openDifferences(),
  };
}

function strategyOf(rows: RowStore, { strategyId }: Run): StrategyRow {
  const strategy = rows.strategy(strategyId);
  if (strategy === undefined) throw new Error(`strategy ${strategyId} has no row`);
  return strategy;
}

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
