import { type Run, type Swap, swapOf } from "../../domain/run/run.ts";
import type { PendingEffect } from "../../ports/daemon-rows.ts";
import type { EngineContext } from "../engine-context.ts";
import { withBudget } from "./budget-spans.ts";
import type { EffectAnswer } from "./effect-answer.ts";
import { fetchQuote } from "./fetch-quote.ts";
import { fetchRoute } from "./fetch-route.ts";
import { publishProposal } from "./publish-proposal.ts";
import { readChain } from "./read-chain.ts";
import { readFacts } from "./read-facts.ts";
import { readView } from "./read-view.ts";
import { signGasless } from "./sign-gasless.ts";
import { signProposal } from "./sign-proposal.ts";
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
      return await sign(context, run, swapOf(run, effect.swapId));
    case "SubmitGasless":
      return await submit(context, run, { swap: swapOf(run, effect.swapId), before: pending.before });
    case "ReadChain":
      return await readChain(context, swapOf(run, effect.swapId));
    case "FetchRoute":
      return await fetchRoute(context, swapOf(run, effect.swapId), effect.what);
  }
}

/** An order is signed by the wallet, a proposal by nobody of the Safe. */
function sign(context: EngineContext, run: Run, swap: Swap): Promise<EffectAnswer> {
  return swap.proposal === undefined ? signGasless(context, run, swap) : signProposal(context, run, swap);
}

function submit(
  context: EngineContext,
  run: Run,
  { swap, before }: { readonly swap: Swap; readonly before: number },
): Promise<EffectAnswer> {
  return swap.proposal === undefined ? submitGasless(context, run, swap, before) : publishProposal(context, run, swap);
}
