import type { Run, Swap } from "../../domain/run/run.ts";
import type { EngineContext } from "../engine-context.ts";
import { signingBarred } from "../step-facts.ts";
import type { EffectAnswer } from "./effect-answer.ts";
import { nodeFault } from "./node-fault.ts";

/**
 * Hands the signed swap over. It is sent once; after a kill it is sent again only to a service that is known to treat an
 * identical body as the same swap. Too near to its deadline it is not sent at all: the signatures exist, so only the
 * chain can tell that nothing came of them. A halt keeps it here as well.
 */
export async function submitGasless(
  context: EngineContext,
  run: Run,
  swap: Swap,
  before: number,
): Promise<EffectAnswer> {
  const { service, clock, chain, crashPoint } = context.deps;
  const { quote, signatures, terms } = swap;
  if (quote === undefined || terms === undefined || signatures?.swapSignature === undefined) {
    throw new Error(`swap ${swap.id} is to be handed over unsigned`);
  }
  const unknown = (detail: string): EffectAnswer => ({ kind: "submission-unknown", swapId: swap.id, detail });
  if (before > 0 && !service.profile.idempotentExecuteSwap) {
    return unknown("it may have been handed over before the process stopped");
  }
  const barred = signingBarred(context, run.strategyId, swap.wallet);
  if (barred !== undefined) return unknown(`not handed over: ${barred}`);
  const latest = terms.deadlineSeconds - context.settings.pace.submitMarginSeconds;
  try {
    const { timestamp } = await chain.latest();
    const nowSeconds = Math.max(timestamp, Math.floor(clock.nowMs() / 1_000));
    if (nowSeconds > latest) return unknown(`too near to its deadline ${terms.deadlineSeconds}, now ${nowSeconds}`);
  } catch (error) {
    return unknown(`the chain's time is not known: ${nodeFault(error)}`);
  }
  crashPoint("gasless.submit.before");
  const outcome = await service.executeSwap({
    quoteId: quote.id,
    swapSignature: signatures.swapSignature,
    permitSignature: signatures.permitSignature,
    permitDeadlineSeconds: signatures.permitDeadlineSeconds,
  });
  crashPoint("gasless.submit.after");
  if (outcome.kind === "unknown") return unknown(outcome.detail);
  return { kind: "submission-accepted", swapId: swap.id, serviceSwapId: outcome.serviceSwapId };
}
