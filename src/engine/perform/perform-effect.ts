import { type Run, swapOf } from "../../domain/run/run.ts";
import type { PendingEffect } from "../../ports/daemon-rows.ts";
import type { EngineContext } from "../engine-context.ts";
import { withBudget } from "./budget-spans.ts";
import type { EffectAnswer } from "./effect-answer.ts";
import { fetchQuote } from "./fetch-quote.ts";
import { fetchRoute } from "./fetch-route.ts";
import { readChain } from "./read-chain.ts";
import { readFacts } from "./read-facts.ts";
import { readView } from "./read-view.ts";
import { signGasless } from "./sign-gasless.ts";
import { submitGasless } from "./submit-gasless.ts";

/**
 * Performs one effect and gives its answer. Troubles of the outside are answers too; only broken invariants throw.
 * @param before how often this effect was begun before: more than zero after a kill
 */
export async function performEffect(
  context: EngineContext,
  run: Run,
  pending: { effect: PendingEffect["effect"]; before: number },
): Promise<EffectAnswer> {
  const { effect } = pending;
  switch (effect.kind) {
    case "ReadView":
      return await readView(context, run);
    case "FetchQuote":
      return await fetchQuote(context, run, effect);
    case "ReadFacts":
      return await withBudget(context, run, await readFacts(context, swapOf(run, effect.swapId)));
    case "SignGasless":
      return await signGasless(context, run, swapOf(run, effect.swapId));
    case "SubmitGasless":
      return await submitGasless(context, run, swapOf(run, effect.swapId), pending.before);
    case "ReadChain":
      return await readChain(context, swapOf(run, effect.swapId));
    case "FetchRoute":
      return await fetchRoute(context, swapOf(run, effect.swapId), effect.what);
  }
}
