import { describeAmount } from "../money/for-people.ts";
import { SUBJECT } from "./alert.ts";
import type { Draft } from "./draft.ts";
import type { ClearanceReading } from "./events.ts";
import type { Evidence } from "./evidence.ts";
import type { Swap } from "./run.ts";

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
  const { spender } = evidence.service.contracts;
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

/** Owners have to hear of what waits for them: nothing else asks them to sign. */
export function reportProposed(draft: Draft, swap: Swap, { nowMs }: Evidence): void {
  const { id, proposal, terms, signatures } = swap;
  if (proposal === undefined || terms === undefined || signatures === undefined) return;
  const [sold, bought] = [describeAmount(swap.gross ?? 0n, swap.sell), describeAmount(terms.amountOutMin, swap.buy)];
  const minutes = Math.floor((terms.deadlineSeconds - nowMs / 1_000) / 60);
  const text = `the owners of the Safe ${swap.wallet} are asked to swap ${sold} for at least ${bought} (${id}): sign and execute it within ${minutes} minutes, with the nonce ${proposal.nonce}, hash ${signatures.swapDigest}`;
  draft.record({
    ...{ kind: "alert", severity: "warning", code: "PROPOSAL_WAITING", text },
    subject: SUBJECT.proposal(id),
  });
}
