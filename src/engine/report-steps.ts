import type { Address } from "../domain/money/address.ts";
import { describeAmount } from "../domain/money/for-people.ts";
import type { StepResult } from "../domain/run/draft.ts";
import type { RunEvent } from "../domain/run/events.ts";
import type { PriceEvidence } from "../domain/run/records.ts";
import type { Written } from "../ports/unit-of-work.ts";
import { notifyOfAlerts } from "./alerts.ts";
import { swapOfRequest } from "./decide-step.ts";
import type { EngineContext } from "./engine-context.ts";
import { countStep } from "./figures.ts";

/** A step that was taken. */
export interface Step {
  readonly event: RunEvent;
  readonly result: StepResult;
  /** what the step's swap was cleared by */
  readonly prices: PriceEvidence | undefined;
}

/** Reports steps that are committed. */
export type ReportSteps = (steps: readonly Written<Step>[]) => void;

/** Logs and counts steps, notifies people of them, and passes `onCommitted` the wallets whose lanes were handed something. */
export function createStepReporter(
  context: EngineContext,
  onCommitted: (lanes: readonly Address[]) => void,
): ReportSteps {
  const { deps } = context;
  return (steps) => {
    for (const { event } of steps.map(({ value }) => value)) deps.crashPoint(`commit.${event.kind}.after`);
    for (const { value, alerts } of steps) {
      report(context, value.result);
      countStep(context, value);
      notifyOfAlerts(deps, alerts);
    }
    onCommitted(steps.flatMap(({ value }) => lanesOf(value.result)));
  };
}

function lanesOf({ run, records }: StepResult): readonly Address[] {
  const requests = records.flatMap((record) => (record.kind === "transaction" ? [record.request] : []));
  return requests.map(({ id }) => swapOfRequest(run, id).wallet);
}

function report({ deps: { logger } }: EngineContext, result: StepResult): void {
  for (const transition of result.transitions) {
    logger.info(
      {
        strategy: result.run.strategyId,
        [transition.subject === "run" ? "runId" : "swapId"]: transition.subjectId,
        from: transition.from,
        to: transition.to,
        reason: transition.reason,
        detail: transition.detail,
        amounts: transition.subject === "swap" ? amountsOf(result, transition.subjectId) : undefined,
      },
      `${transition.subject} ${transition.to}`,
    );
  }
}

/** What a swap sells for what, as far as it is known by now. */
function amountsOf({ run }: StepResult, swapId: string): string | undefined {
  const swap = run.swaps.find(({ id }) => id === swapId);
  if (swap === undefined || swap.gross === undefined) return undefined;
  const { sell, buy, gross, fill } = swap;
  if (fill === undefined) return `${describeAmount(gross, sell)} -> ${buy.symbol}`;
  return `${describeAmount(fill.sold, sell)} -> ${describeAmount(fill.bought, buy)}`;
}
