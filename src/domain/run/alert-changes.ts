import type { SkipReason } from "../strategy/decision.ts";
import { type Alert, SUBJECT } from "./alert.ts";
import type { StepResult } from "./draft.ts";
import type { UnsignedReason } from "./reasons.ts";
import type { Transition } from "./records.ts";
import { type Run, type Swap, swapOf } from "./run.ts";

/** What a step reports to people: alerts to raise, and subjects of which nothing is true any more. */
export interface AlertChanges {
  readonly over: readonly string[];
  readonly raised: readonly Alert[];
}

/**
 * Reads the alerts out of a step: those that it recorded, and one for a run that it parked. A swap's alert is over when
 * the swap is no longer unknown, a run's when it is no longer parked, a pair's when a swap of it passes all checks.
 */
export function alertChanges(result: Pick<StepResult, "run" | "transitions" | "records">): AlertChanges {
  const { run, transitions, records } = result;
  const isPaused = records.some(({ kind }) => kind === "pause");
  const said = transitions.map((move) =>
    move.subject === "run" ? ofRunMove(run, move, isPaused) : ofSwapMove(run, move),
  );
  const recorded = records.flatMap((record) => {
    if (record.kind !== "alert") return [];
    const { kind, ...alert } = record;
    return [alert];
  });
  return { over: said.flatMap(({ over }) => over), raised: [...said.flatMap(({ raised }) => raised), ...recorded] };
}

/** A strategy that its own step pauses says so: what its slot lacked is not reported as well. */
function ofRunMove(run: Run, { subjectId, from, to, reason }: Transition, isPaused: boolean): AlertChanges {
  const parked = to === "parked" ? [parkedAlert(run)] : [];
  if (from === "parked") return { over: [SUBJECT.run(subjectId)], raised: parked };
  if (from !== "deciding") return { over: [], raised: parked };
  const { over, raised } = ofDecision(run, to, reason);
  return { over, raised: isPaused ? parked : [...parked, ...raised] };
}

function ofSwapMove(run: Run, { subjectId, from, to, reason, detail }: Transition): AlertChanges {
  const over: string[] = [];
  if (from === "unknown") over.push(SUBJECT.swap(subjectId));
  if (from === "signed" && swapOf(run, subjectId).proposal !== undefined) over.push(SUBJECT.delivery(subjectId));
  if (from === "submitted" && swapOf(run, subjectId).proposal !== undefined) over.push(SUBJECT.proposal(subjectId));
  if (to === "cleared" || reason === "dry_run") over.push(SUBJECT.pair(run.strategyId, swapOf(run, subjectId)));
  const lacksAllowance = to === "skipped" && reason === NO_ALLOWANCE && !isTriedAgain(run, subjectId);
  return { over, raised: lacksAllowance ? [allowanceAlert(run, swapOf(run, subjectId), detail)] : [] };
}

/** What a slot lacked is reported at once; it is over when a slot of the strategy has it, or wants nothing ({@link wantsNothing}). */
function ofDecision({ strategyId, detail }: Run, to: string, reason: string | undefined): AlertChanges {
  const [funds, prices] = [SUBJECT.funds(strategyId), SUBJECT.prices(strategyId)];
  const why = detail ?? "no detail";
  if (to !== "skipped") return { over: [funds, prices], raised: [] };
  if (reason === "unpriceable") return { over: [], raised: [noPriceAlert(strategyId, why)] };
  if (reason === "insufficient_balance") {
    const text = `${strategyId} does not trade: its wallet holds too little (${why}); fund the wallet, or sell less`;
    return { over: [prices], raised: [{ severity: "warning", code: "NO_FUNDS", subject: funds, text }] };
  }
  return { over: reason === "view_unavailable" ? [] : [prices], raised: [] };
}

/** A strategy of which a token has no fresh reference price. */
export function noPriceAlert(strategyId: string, why: string): Alert {
  const text = `${strategyId} does not trade: a token of it has no fresh reference price (${why}); check its feed`;
  return { severity: "warning", code: "NO_PRICE", subject: SUBJECT.prices(strategyId), text };
}

/** Decisions of a strategy that wants nothing: what it lacked when it last wanted something is no longer needed. */
const WANTS_NOTHING: ReadonlySet<string> = new Set<SkipReason>([
  ...(["not_triggered", "not_activated", "below_mark", "within_bands", "below_minimum_trade", "on_path"] as const),
  ...(["price_gate", "price_limit", "ended", "budget_spent"] as const),
]);

/** Whether a step decided that its strategy has nothing to trade now. */
export function wantsNothing({ transitions }: Pick<StepResult, "transitions">): boolean {
  return transitions.some(
    ({ subject, from, reason }) => subject === "run" && from === "deciding" && WANTS_NOTHING.has(reason ?? ""),
  );
}

/** The end of a swap for which the contract could not get its allowance. What was never signed says nothing of the token. */
const NO_ALLOWANCE: UnsignedReason = "approval_failed";

/** Whether another attempt has a swap's place: what was kept back privately is sent publicly, and nobody has to do anything. */
function isTriedAgain(run: Run, swapId: string): boolean {
  const { position, attempt } = swapOf(run, swapId);
  return run.swaps.some((other) => other.position === position && other.attempt > attempt);
}

function allowanceAlert({ strategyId }: Run, swap: Swap, detail: string | undefined): Alert {
  const text = `${strategyId} cannot sell ${swap.sell.symbol}: the settlement contract has no allowance for it (${detail ?? "no detail"})`;
  return { severity: "warning", code: "ALLOWANCE_MISSING", subject: SUBJECT.pair(strategyId, swap), text };
}

function parkedAlert({ id, strategyId, reason, detail }: Run): Alert {
  const why = [reason ?? "no reason", ...(detail === undefined ? [] : [detail])].join(": ");
  const text = `run ${id} of ${strategyId} is parked (${why}); see it with: swapd show ${id}`;
  return { severity: "warning", code: "RUN_PARKED", subject: SUBJECT.run(id), text };
}
