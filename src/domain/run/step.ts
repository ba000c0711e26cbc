import { createDraft, type StepResult } from "./draft.ts";
import type { FactsFault, RunEvent } from "./events.ts";
import type { Evidence } from "./evidence.ts";
import type { UnsignedReason } from "./reasons.ts";
import type { Run } from "./run.ts";
import { stepFacts } from "./step-clear.ts";
import { stepStarted, stepViewRead, stepViewUnavailable } from "./step-decide.ts";
import { concludeRun } from "./step-end.ts";
import {
  stepGaslessSigned,
  stepObservation,
  stepObservationUnavailable,
  stepSigningBarred,
  stepSubmission,
} from "./step-gasless.ts";
import { stepUndelivered } from "./step-proposal.ts";
import { retryOrEnd, stepQuoted, stepQuoteRefused } from "./step-quote.ts";
import { stepTransaction } from "./step-transaction.ts";

/** What a swap ends with when the facts could not be read until its window closed. */
const FACTS_REASONS: Readonly<Record<FactsFault, UnsignedReason>> = {
  node: "node_unavailable",
  service: "service_unavailable",
  clock: "clock_disagrees",
};

/**
 * The core: the state of one run with its swaps, an event, and the evidence give the next state with everything to
 * commit. Pure: the same input gives the same answer, so it can be replayed and simulated.
 * @throws InvalidTransition when the event cannot happen in this state: a broken invariant
 */
export function step(run: Run, event: RunEvent, evidence: Evidence): StepResult {
  const draft = createDraft(run);
  switch (event.kind) {
    case "started":
      stepStarted(draft, evidence);
      break;
    case "view-read":
      stepViewRead(draft, event.view, evidence);
      break;
    case "view-unavailable":
      stepViewUnavailable(draft, event.detail, evidence);
      break;
    case "quoted":
      stepQuoted(draft, event, evidence);
      break;
    case "quote-refused":
      stepQuoteRefused(draft, event, evidence);
      break;
    case "facts-read":
      stepFacts(draft, event, evidence);
      break;
    case "facts-unavailable":
      retryOrEnd(draft, event.swapId, evidence, { reason: FACTS_REASONS[event.cause], detail: event.detail });
      break;
    case "signing-barred":
      stepSigningBarred(draft, event, evidence);
      break;
    case "signed-gasless":
      stepGaslessSigned(draft, event, evidence);
      break;
    case "submission-accepted":
    case "submission-unknown":
      stepSubmission(draft, event, evidence);
      break;
    case "proposal-undelivered":
      stepUndelivered(draft, event, evidence);
      break;
    case "observed":
      stepObservation(draft, event.swapId, event.observation, evidence);
      break;
    case "observation-unavailable":
      stepObservationUnavailable(draft, event, evidence);
      break;
    case "transaction":
      stepTransaction(draft, event, evidence);
      break;
    case "route-read":
      draft.record({
        kind: "route",
        swapId: event.swapId,
        distributions: event.distributions,
        serviceRecord: event.serviceRecord,
      });
      break;
  }
  concludeRun(draft, evidence);
  return draft.result();
}
