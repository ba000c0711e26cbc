import { isMemoryOf, strategyRunEnded } from "../strategy/strategy.ts";
import { SUBJECT } from "./alert.ts";
import type { Draft } from "./draft.ts";
import type { Evidence } from "./evidence.ts";
import { pauseStrategy } from "./pause-strategy.ts";
import type { Run, Swap } from "./run.ts";
import { isFilled, isLive, isRunEnd, isSwapEnd } from "./states.ts";
import { beginSwap, endUnsigned, reserveProceeds } from "./step-quote.ts";

/** Reason of a run that a reorganisation reopened. */
const REOPENED = "reorganised";

/**
 * Carries the run on after an event: begins the next swap once the one before it is filled, and ends the run when
 * nothing of it is open. What takes a counted fill back reopens the run, also where the swap ended in the same event.
 */
export function concludeRun(draft: Draft, evidence: Evidence): void {
  if (isRunEnd(draft.run().state)) {
    if (draft.run().state === "skipped") return;
    const isOpen = latestSwaps(draft.run()).some((swap) => isLive(swap.state) && !isFilled(swap.state));
    if (isOpen || wasTakenBack(draft)) draft.moveRun("executing", { reason: REOPENED });
    if (isOpen) return;
  }
  const run = draft.run();
  if (run.state !== "executing") return;
  if (run.reason === REOPENED) reportLostFills(draft);
  for (const swap of latestSwaps(run)) reserveProceeds(draft, swap.id);
  beginNext(draft, evidence);
  const latest = latestSwaps(draft.run());
  if (latest.some((swap) => !isSwapEnd(swap.state) && !isFilled(swap.state))) return;
  endRun(draft, latest);
  // The strategy learned of the first end and may have begun another run since: a second end is not passed on.
  if (run.reason !== REOPENED) rememberEnd(draft, evidence);
}

/** Whether this event took a fill that was counted back for good. */
function wasTakenBack(draft: Draft): boolean {
  return draft.result().transitions.some(({ from, subjectId }) => {
    return from === "confirmed" && isSwapEnd(draft.swap(subjectId).state) && !isFilled(draft.swap(subjectId).state);
  });
}

/**
 * What ends in vain in a run that was reopened is a fill that the strategy counts, gone for good: a stop that sold
 * nothing would else end silently. Each is reported by itself, and no later swap of the strategy ends the alert.
 */
function reportLostFills(draft: Draft): void {
  const { id, strategyId } = draft.run();
  for (const { subjectId, to } of draft.result().transitions) {
    if (to !== "reverted" && to !== "expired" && to !== "cancelled") continue;
    const text = `run ${id} of ${strategyId}: a reorganisation took back what it had counted as filled, and ${subjectId} ended ${to}; the strategy still counts it, and a trigger stays fired: check the position, and start again under another file name; this alert stays until: swapd resume ${strategyId}`;
    const subject = SUBJECT.fill(subjectId);
    draft.record({ kind: "alert", severity: "critical", code: "FILL_TAKEN_BACK", subject, text });
  }
}

/** The last attempt at each place of the run. */
function latestSwaps(run: Run): readonly Swap[] {
  const byPosition = new Map<number, Swap>();
  for (const swap of run.swaps) {
    const known = byPosition.get(swap.position);
    if (known === undefined || known.attempt < swap.attempt) byPosition.set(swap.position, swap);
  }
  return [...byPosition.values()].sort((a, b) => a.position - b.position);
}

/**
 * Swaps of a run follow one another. What was sized beforehand does not need what the swap before it brought, and what is
 * sized by it takes what was measured; only after a denial nothing more is begun, because then something is wrong.
 */
function beginNext(draft: Draft, evidence: Evidence): void {
  const [first, ...rest] = latestSwaps(draft.run());
  let before = first;
  for (const swap of rest) {
    if (before === undefined || !(isFilled(before.state) || isSwapEnd(before.state))) return;
    if (swap.state === "planned" && !swap.begun) {
      if (wasDenied(before)) {
        const detail = `${before.id} was denied: ${before.reason ?? "no reason"}`;
        endUnsigned(draft, swap.id, { reason: "earlier_swap_denied", detail });
      } else {
        beginSwap(draft, swap.id, evidence, 0);
      }
    }
    before = draft.swap(swap.id);
  }
}

/** A denial, or a swap that was left out because of one. */
function wasDenied(swap: Swap): boolean {
  return swap.state === "denied" || swap.reason === "earlier_swap_denied";
}

/** Its signature or transaction came to nothing; or its approval did, which costs gas as well. */
function wasSignedInVain({ state, reason }: Swap): boolean {
  return state === "reverted" || state === "expired" || state === "cancelled" || reason === "approval_failed";
}

function endRun(draft: Draft, swaps: readonly Swap[]): void {
  const filled = swaps.filter((swap) => isFilled(swap.state));
  const others = swaps.filter((swap) => !isFilled(swap.state));
  const first = others[0];
  if (first === undefined) {
    draft.moveRun("filled");
    return;
  }
  const why = { reason: first.reason ?? first.state, detail: `${first.id} ended ${first.state}` };
  if (filled.length > 0) draft.moveRun("partial", why);
  else if (others.every((swap) => swap.state === "skipped")) draft.moveRun("skipped", why);
  else draft.moveRun("failed", why);
}

/** The strategy learns how its run ended in the same commit, so that a trigger is never latched or freed twice. */
function rememberEnd(draft: Draft, evidence: Evidence): void {
  const run = draft.run();
  const swaps = latestSwaps(run).map((swap) => ({
    position: swap.position,
    sell: swap.sell,
    buy: swap.buy,
    sold: isFilled(swap.state) ? (swap.fill?.sold ?? 0n) : 0n,
    bought: isFilled(swap.state) ? (swap.fill?.bought ?? 0n) : 0n,
    reason: isFilled(swap.state) ? undefined : (swap.reason ?? swap.state),
    signed: wasSignedInVain(swap),
  }));
  const filled = run.state === "filled" || run.state === "partial";
  const end = { slotMs: run.slotMs, nowMs: evidence.nowMs, filled, dry: !evidence.live, swaps };
  // A memory that cannot be read is left for a release that can: its strategy is halted, and only this run's end is
  // lost.
  if (!isMemoryOf(evidence.spec, evidence.memory)) return;
  const { memory, pause, alert } = strategyRunEnded(evidence.spec, evidence.memory, end);
  draft.record({ kind: "memory", memory: JSON.stringify(memory) });
  pauseStrategy(draft, pause);
  const [first] = swaps;
  if (alert === undefined || first === undefined) return;
  const subject = SUBJECT.pair(run.strategyId, first);
  const text = `strategy ${run.strategyId}: ${alert.detail}`;
  draft.record({ kind: "alert", severity: "warning", code: alert.code, subject, text });
}
