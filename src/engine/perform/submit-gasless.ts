import { policyMark } from "../../domain/guard/policy.ts";
import { outdated, type Run, type Swap } from "../../domain/run/run.ts";
import type { EngineContext } from "../engine-context.ts";
import { proceedsGone, signingBarred, tradingBarred } from "../gather-evidence.ts";
import { advanceMarker } from "../reconcile/begin.ts";
import type { EffectAnswer } from "./effect-answer.ts";
import { nodeFault } from "./node-fault.ts";

/**
 * Hands the signed swap over. It is sent once; after a kill it is sent again only to a service that is known to treat an
 * identical body as the same swap. Too near to its deadline it is not sent at all: the signatures exist, so only the
 * chain can know that nothing came of them; until then it waits where no node says what time it is. A halt keeps it here
 * as well, and a run that makes no new trade; all of it is asked at the instant of sending.
 */
export async function submitGasless(
  context: EngineContext,
  run: Run,
  swap: Swap,
  before: number,
): Promise<EffectAnswer> {
  const { service, store, clock, chain, crashPoint } = context.deps;
  const { quote, signatures, terms } = swap;
  if (quote === undefined || terms === undefined || signatures?.swapSignature === undefined) {
    throw new Error(`swap ${swap.id} is to be submitted unsigned`);
  }
  const unknown = (detail: string): EffectAnswer => ({ kind: "submission-unknown", swapId: swap.id, detail });
  if (before > 0 && !service.profile.idempotentExecuteSwap) {
    return unknown("it may have been submitted before the process stopped");
  }
  const chainSeconds = await chain.latest().then(({ timestamp }) => timestamp, unreadTime);
  const { deadlineSeconds } = terms;
  const { id: runId, strategyId } = run;
  const heldBack = async (): Promise<string | undefined> => {
    const rows = await store.read({ kind: "signing", runId, strategyId, digests: [] });
    const barred =
      signingBarred(context, strategyId, { ...rows, wallet: swap.wallet }) ??
      tradingBarred(rows) ??
      proceedsGone(rows, swap) ??
      outdated(swap, policyMark(context.settings.policy));
    if (barred !== undefined) return `not submitted: ${barred}`;
    const nowSeconds = Math.max(chainSeconds ?? 0, Math.floor(clock.nowMs() / 1_000));
    const isLate = nowSeconds > deadlineSeconds - context.settings.pace.submitMarginSeconds;
    return isLate ? `too near to its deadline ${deadlineSeconds}, now ${nowSeconds}` : undefined;
  };
  const keep = (detail: string): EffectAnswer => ({
    ...{ kind: "held-back", swapId: swap.id, detail },
    isUnsent: before === 0,
  });
  const reason = await heldBack();
  if (reason !== undefined) return keep(reason);
  if (chainSeconds === undefined) return { kind: "unsent" };
  // From now on a copy that does not know these signatures is an older one.
  const other = await advanceMarker(context, swap.wallet);
  if (other !== undefined) return keep(`not submitted: ${other}`);
  crashPoint("gasless.submit.before");
  const { swapSignature, permitSignature, permitDeadlineSeconds } = signatures;
  const submission = { quoteId: quote.id, swapSignature, permitSignature, permitDeadlineSeconds };
  const outcome = await service.executeSwap(submission, heldBack);
  crashPoint("gasless.submit.after");
  if (outcome.kind === "not-sent") return keep(outcome.detail);
  if (outcome.kind === "unknown") return unknown(outcome.detail);
  return { kind: "submission-accepted", swapId: swap.id, serviceSwapId: outcome.serviceSwapId };
}

/** Undefined where the nodes are to blame: then nothing was handed over, and it is tried again. @throws everything else */
function unreadTime(error: unknown): undefined {
  nodeFault(error);
}
