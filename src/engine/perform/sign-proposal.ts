import type { Run, Swap } from "../../domain/run/run.ts";
import type { EngineContext } from "../engine-context.ts";
import type { EffectAnswer } from "./effect-answer.ts";
import { journaledProposal, treasuryOf, whyKept } from "./journaled-proposal.ts";
import { orUnsigned } from "./sign-gasless.ts";

/**
 * Signs exactly what was journaled as the proposer, who has no power over the Safe, where the place of its proposals asks
 * for a signature. Not when signing was forbidden since, or its time is over.
 */
export async function signProposal(context: EngineContext, run: Run, swap: Swap): Promise<EffectAnswer> {
  const { crashPoint } = context.deps;
  const kept = await whyKept(context, run, swap);
  if (kept !== undefined) return { kind: "signing-barred", swapId: swap.id, ...kept };
  const { typedData } = await journaledProposal(context, run, swap);
  const { proposer } = treasuryOf(context, swap.wallet);
  crashPoint("proposal.sign.before");
  const signed = await orUnsigned(async () => ({ swapSignature: await proposer?.signTypedData(typedData) }));
  if (signed === undefined) return { kind: "unsigned" };
  crashPoint("proposal.sign.after");
  return { kind: "signed-gasless", swapId: swap.id, ...signed, permitSignature: undefined };
}
