import { describeAmount } from "../money/for-people.ts";
import { SUBJECT } from "./alert.ts";
import type { Draft } from "./draft.ts";
import type { ClearanceReading, RunEvent } from "./events.ts";
import type { Evidence } from "./evidence.ts";
import { answered, retryLimits, waitAgain } from "./retry.ts";
import type { Swap } from "./run.ts";
import { InvalidTransition } from "./states.ts";

/**
 * What the owners of a Safe are to be asked for is committed before anything of it leaves. It is followed like an order
 * that a relayer has: others execute it, at an instant that nobody knows, and the chain alone says whether they did.
 */
export function propose(draft: Draft, swap: Swap, { proposal, signing }: ClearanceReading, evidence: Evidence): void {
  const { terms } = draft.swap(swap.id);
  if (proposal?.kind !== "built" || signing === undefined || terms === undefined) {
    throw new Error(`swap ${swap.id} is cleared without a proposal`);
  }
  const { digest, typedData } = signing.swap;
  const { spender } = terms.contracts;
  const untilSeconds = terms.deadlineSeconds;
  const of = { swapId: swap.id, wallet: swap.wallet, token: swap.sell.address };
  draft.record({ kind: "open-capability", ...of, spender, untilSeconds });
  draft.record({
    ...{ kind: "intend-signature", swapId: swap.id, purpose: "swap", digest, typedData },
    validUntilSeconds: untilSeconds,
  });
  const { version, nonce, isBoundToNonce, since } = proposal;
  draft.amendSwap(swap.id, {
    signatures: {
      ...{ swapDigest: digest, swapSignature: undefined },
      ...{ permitDigest: undefined, permitSignature: undefined, permitDeadlineSeconds: undefined },
    },
    terms: { ...terms, fromBlock: since.block + 1 },
    proposal: { version, nonce, isBoundToNonce, since },
  });
  draft.effect({ kind: "SignGasless", swapId: swap.id }, evidence.nowMs);
}

/**
 * Owners cannot see a proposal yet, as far as is known. It is handed over again, the same one, until its deadline is too
 * near: then the chain is asked whether they had it all the same.
 */
export function stepUndelivered(
  draft: Draft,
  { swapId, detail }: Extract<RunEvent, { kind: "proposal-undelivered" }>,
  evidence: Evidence,
): void {
  const { state, proposal } = draft.swap(swapId);
  if (state !== "signed" || proposal === undefined) throw new InvalidTransition("swap", state, "signed");
  const reason = "service_unavailable";
  const limits = { ...retryLimits(evidence, reason, 0), untilMs: undefined };
  const waitMs = waitAgain(draft, evidence, { about: swapId, reason, detail }, limits) ?? limits.firstMs;
  const text = `the owners of the Safe ${draft.swap(swapId).wallet} are not asked yet for ${swapId}: ${detail}; it is tried again until the proposal's deadline`;
  draft.record({
    ...{ kind: "alert", severity: "warning", code: "PROPOSAL_UNDELIVERED", text },
    subject: SUBJECT.delivery(swapId),
  });
  draft.effect({ kind: "SubmitGasless", swapId }, evidence.nowMs + waitMs);
}

/** Owners have to hear of what waits for them: nothing else asks them to sign. */
export function reportProposed(draft: Draft, swap: Swap, { nowMs }: Evidence): void {
  const { id, proposal, terms, signatures } = swap;
  if (proposal === undefined || terms === undefined || signatures === undefined) return;
  answered(draft);
  const [sold, bought] = [describeAmount(swap.gross ?? 0n, swap.sell), describeAmount(terms.amountOutMin, swap.buy)];
  const minutes = Math.floor((terms.deadlineSeconds - nowMs / 1_000) / 60);
  const text = `the owners of the Safe ${swap.wallet} are asked to swap ${sold} for at least ${bought} (${id}): sign and execute it within ${minutes} minutes, with the nonce ${proposal.nonce}, hash ${signatures.swapDigest}`;
  draft.record({
    ...{ kind: "alert", severity: "warning", code: "PROPOSAL_WAITING", text },
    subject: SUBJECT.proposal(id),
  });
}
