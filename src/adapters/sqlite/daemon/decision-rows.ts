import type { RunEvent } from "../../../domain/run/events.ts";
import type { LedgerEvidence } from "../../../domain/run/evidence.ts";
import { GLOBAL_SCOPE } from "../../../domain/run/operating-mode.ts";
import { type Run, swapOf } from "../../../domain/run/run.ts";
import type { BudgetSpan } from "../../../domain/strategy/budget.ts";
import type { StepQuestion, StepRows } from "../../../ports/changes.ts";
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
  const strategy = rows.strategy(strategyId);
  if (strategy === undefined) throw new Error(`strategy ${strategyId} has no row`);
  return {
    ...runTerms(rows, run),
    spec: strategy.spec,
    holds: rows.holds(run.id),
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

/** What signing for a run goes by. */
export function readSigningTerms(rows: RowStore, run: Run): SigningTerms {
  const terms = runTerms(rows, run);
  const isAnyOpen = terms.differences.length > 0;
  return { ...terms, spec: isAnyOpen ? rows.strategy(run.strategyId)?.spec : undefined };
}

function runTerms(rows: RowStore, { id, strategyId }: Run): Omit<SigningTerms, "spec"> {
  return {
    isBarred: rows.isRunBarred(id),
    modes: { global: rows.mode(GLOBAL_SCOPE), own: rows.mode(strategyId) },
    differences: rows.openDifferences(),
  };
}

function budgetOf(
  rows: RowStore,
  { strategyId }: Run,
  { swapId, spans }: { readonly swapId: string; readonly spans: readonly BudgetSpan[] | undefined },
): Pick<LedgerEvidence, "budget"> {
  if (spans === undefined) return {};
  return { budget: spans.map((span) => ({ ...span, ...rows.soldBySince(strategyId, span.sinceMs, swapId) })) };
}

function readLedger(
  rows: RowStore,
  run: Run,
  { event: { swapId, reading }, asked }: { readonly event: FactsRead; readonly asked: StepQuestion },
): LedgerEvidence {
  const { wallet, sell } = swapOf(run, swapId);
  const { standing, signing, proposal, head } = reading;
  const isIntended = (text: { readonly digest: string } | undefined): boolean =>
    text !== undefined && rows.intendedSignature(text.digest) !== undefined;
  const nonce = reading.decoding.ok ? reading.decoding.swap.nonce : undefined;
  return {
    isTokenBusy:
      rows.isTokenBusy(wallet, sell.address, swapId) ||
      // What it was allowed at the block that was read is not what it is allowed now.
      rows.isAllowanceNewer(wallet, sell.address, head.number) ||
      // Nonces of a Safe follow one another: what is proposed with a later one waits for the owners' word on the first.
      (proposal !== undefined && (rows.isWalletBusy(wallet, swapId) || rows.newestBlock(wallet) > head.number)) ||
      (standing !== undefined && rows.isAllowanceOpen(wallet, sell.address, standing.finalized)),
    lastFreed: rows.lastFreed(wallet, sell.address),
    isPermitIntended: isIntended(signing?.permit),
    // By its nonce, where it has one, the guard refuses it.
    ...(nonce === undefined && isIntended(signing?.swap) && { isOrderIntended: true }),
    isNonceOfOther: nonce !== undefined && rows.isNonceOfOther(wallet, nonce, swapId),
    spentTodayUsd: rows.soldUsdSince(asked.daySinceMs, swapId),
    spentMonthUsd: rows.soldUsdSince(asked.monthSinceMs, swapId),
    reservedByOthers: rows.reserved(wallet, sell.address, swapId),
    ...budgetOf(rows, run, { swapId, spans: reading.budget }),
  };
}
