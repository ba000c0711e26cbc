import { ChainReadError } from "../../domain/chain-read-error.ts";
import { describeAmount } from "../../domain/money/for-people.ts";
import type { Run, Swap } from "../../domain/run/run.ts";
import type { EngineContext } from "../engine-context.ts";
import { advanceMarker } from "../reconcile/begin.ts";
import type { EffectAnswer } from "./effect-answer.ts";
import { journaledProposal, treasuryOf, whyKept } from "./journaled-proposal.ts";
import { safeNonce } from "./read-safe.ts";

/**
 * Shows a proposal to the owners of the Safe. It is the same one however often: what is published again after a kill has
 * the same nonce and the same hash. What may have left is followed until the chain says what became of it.
 */
export async function publishProposal(context: EngineContext, run: Run, swap: Swap): Promise<EffectAnswer> {
  const { crashPoint } = context.deps;
  const { terms, proposal, signatures } = swap;
  if (terms === undefined || proposal === undefined) throw new Error(`swap ${swap.id} is proposed to nobody`);
  const kept = await whyKept(context, run, swap);
  if (kept !== undefined) return { kind: "held-back", swapId: swap.id, detail: `not proposed: ${kept.detail}` };
  const { typedData, hash, calls } = await journaledProposal(context, run, swap);
  // From now on a copy that does not know this proposal is an older one.
  const other = await advanceMarker(context, swap.wallet);
  if (other !== undefined) return { kind: "held-back", swapId: swap.id, detail: `not proposed: ${other}` };
  crashPoint("proposal.publish.before");
  const outcome = await treasuryOf(context, swap.wallet).publish({
    ...{ swapId: swap.id, safe: swap.wallet, chainId: context.settings.chainId, typedData, hash, calls },
    ...{ nonce: proposal.nonce, deadlineSeconds: terms.deadlineSeconds, purpose: purposeOf(run, swap) },
    signature: signatures?.swapSignature,
  });
  crashPoint("proposal.publish.after");
  if (outcome.kind === "undelivered") return await undelivered(context, swap, outcome.detail);
  return { kind: "submission-accepted", swapId: swap.id, serviceSwapId: undefined };
}

/** It is handed over again, unless its nonce is used: then owners may have executed it, and nobody takes it any more. */
async function undelivered(context: EngineContext, swap: Swap, detail: string): Promise<EffectAnswer> {
  const nonce = await nonceNow(context, swap);
  if (nonce === undefined || nonce <= (swap.proposal?.nonce ?? nonce))
    return { kind: "proposal-undelivered", swapId: swap.id, detail };
  return { kind: "submission-unknown", swapId: swap.id, detail: `${detail}; its nonce is used meanwhile` };
}

/** undefined while the nodes do not answer */
async function nonceNow({ deps: { chain } }: EngineContext, { wallet }: Swap): Promise<bigint | undefined> {
  try {
    return await safeNonce(chain, wallet, (await chain.latest()).number);
  } catch (error) {
    if (error instanceof ChainReadError) return undefined;
    throw error;
  }
}

function purposeOf({ strategyId }: Run, { gross, sell, buy, terms }: Swap): string {
  const [sold, bought] = [describeAmount(gross ?? 0n, sell), describeAmount(terms?.amountOutMin ?? 0n, buy)];
  return `${strategyId}: sell ${sold} for at least ${bought}`;
}
