import type { Decision, PlannedSwap, StrategyView } from "../strategy/decision.ts";
import type { StrategySpec } from "../strategy/spec.ts";
import { decideStrategy, remembersPlan } from "../strategy/strategy.ts";
import { MINUTE_MS } from "../time/durations.ts";
import { noPriceAlert } from "./alert-changes.ts";
import type { Draft } from "./draft.ts";
import type { Evidence } from "./evidence.ts";
import { pauseStrategy } from "./pause-strategy.ts";
import type { UnsignedReason } from "./reasons.ts";
import { answered, retryLimits, tooLate, waitAgain } from "./retry.ts";
import { type Run, type Swap, swapIdOf } from "./run.ts";
import { beginSwap } from "./step-quote.ts";

type Deferral = Extract<Decision<unknown>["outcome"], { readonly kind: "defer" }>;

/** A due run begins: it reads what its strategy decides on. */
export function stepStarted(draft: Draft, evidence: Evidence): void {
  draft.moveRun("deciding");
  draft.effect({ kind: "ReadView" }, evidence.nowMs);
}

/** The strategy decides on one snapshot. Its memory, its swaps and their reservations are one commit. */
export function stepViewRead(draft: Draft, view: StrategyView, evidence: Evidence): void {
  answered(draft);
  const late = tooLate(draft.run(), undefined, evidence);
  if (late !== undefined) {
    draft.moveRun("skipped", { reason: "window_over", detail: late });
    return;
  }
  const { memory: decided, outcome, pause } = decideStrategy(evidence.spec, view, evidence.memory);
  const memory = !evidence.live && remembersPlan(evidence.spec) ? evidence.memory : decided;
  draft.record({ kind: "memory", memory: JSON.stringify(memory) });
  pauseStrategy(draft, pause);
  if (outcome.kind === "defer" && isAskedAgain(draft, outcome, evidence)) return;
  if (outcome.kind !== "swap") {
    draft.moveRun("skipped", { reason: outcome.reason, detail: outcome.detail });
    return;
  }
  draft.moveRun("executing", outcome.detail === undefined ? {} : { detail: outcome.detail });
  for (const [position, planned] of outcome.swaps.entries()) {
    const swap = plannedSwap(draft.run(), { planned, position, attempt: 1 }, evidence.spec);
    draft.addSwap(swap);
    if (planned.amount.kind === "fixed") {
      draft.record({ kind: "reserve", swapId: swap.id, token: planned.sell, amount: planned.amount.raw });
    }
  }
  beginSwap(draft, swapIdOf(draft.run(), { position: 0, attempt: 1 }), evidence, 0);
}

/** A price that is late for so long is reported, though its slot goes on asking for it. */
const PRICELESS_REPORTED_AFTER_MS = 5 * MINUTE_MS;

/** @returns whether what was put off is asked again inside the window */
function isAskedAgain(draft: Draft, { reason, detail, untilMs }: Deferral, { nowMs, pace }: Evidence): boolean {
  const { strategyId, slotMs, windowEndsMs } = draft.run();
  const againMs = Math.max(nowMs + pace.retryMs, untilMs ?? 0);
  if (againMs >= windowEndsMs) return false;
  draft.effect({ kind: "ReadView" }, againMs);
  if (reason === "unpriceable" && nowMs - slotMs >= PRICELESS_REPORTED_AFTER_MS)
    draft.record({ kind: "alert", ...noPriceAlert(strategyId, detail) });
  return true;
}

/** The world could not be read. It is asked again inside the window, then the slot ends. */
export function stepViewUnavailable(draft: Draft, detail: string, evidence: Evidence): void {
  const reason: UnsignedReason = "view_unavailable";
  const limits = retryLimits(evidence, reason, draft.run().windowEndsMs);
  const waitMs = waitAgain(draft, evidence, { about: undefined, reason, detail }, limits);
  if (waitMs === undefined) draft.moveRun("skipped", { reason, detail });
  else draft.effect({ kind: "ReadView" }, evidence.nowMs + waitMs);
}

/** A swap row before anything is known of it but the plan. */
export function plannedSwap(
  run: Pick<Run, "id">,
  place: { planned: PlannedSwap; position: number; attempt: number },
  spec: StrategySpec,
): Swap {
  const { planned, position, attempt } = place;
  return {
    id: swapIdOf(run, { position, attempt }),
    runId: run.id,
    position,
    attempt,
    state: "planned",
    reason: undefined,
    wallet: spec.wallet.address,
    recipient: spec.recipient,
    sell: planned.sell,
    buy: planned.buy,
    planned: planned.amount,
    floor: planned.floor,
    retryForSeconds: planned.retryForSeconds,
    windowEndsMs: undefined,
    begun: false,
    gasless: spec.gasless,
    mode: undefined,
    gross: planned.amount.kind === "fixed" ? planned.amount.raw : undefined,
    quote: undefined,
    terms: undefined,
    intentId: undefined,
    approvals: 0,
    tightened: false,
    signatures: undefined,
    fill: undefined,
    revokeIntentId: undefined,
    serviceSwapId: undefined,
  };
}
