import type { Draft } from "./draft.ts";
import type { RunEvent, TransactionChange } from "./events.ts";
import type { Evidence } from "./evidence.ts";
import { type FillReceipt, measureFill } from "./measure-fill.ts";
import type { Swap } from "./run.ts";
import { askForQuote, endUnsigned, tryAgain, wantsGasless } from "./step-quote.ts";

type TransactionEvent = Extract<RunEvent, { kind: "transaction" }>;

/** A lane reports what became of a transaction: the swap's own, its approval, or a revocation. */
export function stepTransaction(draft: Draft, event: TransactionEvent, evidence: Evidence): void {
  const swap = draft.swap(event.swapId);
  if (event.intentId === swap.revokeIntentId) {
    stepRevocation(draft, swap, event.change);
    return;
  }
  if (event.intentId !== swap.intentId) return;
  if (swap.state === "approving") stepApproval(draft, swap, event.change, evidence);
  else stepOwnTransaction(draft, swap, event.change, evidence);
}

/** After an approval the swap is quoted again: time has passed, and the target may have changed. */
function stepApproval(draft: Draft, swap: Swap, change: TransactionChange, evidence: Evidence): void {
  if (change.kind === "confirmed" && !change.succeeded) {
    // Its gas is gone and the next one would burn as much. Should a reorganisation undo the revert, the leftover is revoked.
    draft.amendSwap(swap.id, { intentId: undefined });
    endUnsigned(draft, swap.id, { reason: "approval_failed", detail: "the approval was reverted" });
  } else if (change.kind === "confirmed") {
    // What becomes of the approval from here on is the lane's matter: the simulation of the swap tells whether it holds.
    draft.amendSwap(swap.id, { intentId: undefined });
    askForQuote(draft, swap.id, evidence, { gasless: wantsGasless(swap) && swap.mode === "gasless", waitMs: 0 });
  } else if (change.kind === "dropped") {
    endDropped(draft, swap, change, { otherwise: "approval_not_sent", evidence });
  } else if (change.kind === "final" && change.outcome !== "succeeded") {
    endUnsigned(draft, swap.id, { reason: "approval_failed", detail: `the approval was ${change.outcome}` });
  }
}

/** Nothing was signed: another attempt may follow, unless a person wanted this end. */
function endDropped(
  draft: Draft,
  swap: Swap,
  change: Extract<TransactionChange, { kind: "dropped" }>,
  { otherwise, evidence }: { otherwise: "approval_not_sent" | "not_signed_in_time"; evidence: Evidence },
): void {
  const isWanted = change.byPerson === true;
  const why = { reason: isWanted ? "cancelled_by_operator" : otherwise, detail: change.reason };
  endUnsigned(draft, swap.id, why);
  if (!isWanted) tryAgain(draft, draft.swap(swap.id), evidence, why);
}

function stepOwnTransaction(draft: Draft, swap: Swap, change: TransactionChange, evidence: Evidence): void {
  switch (change.kind) {
    case "signed":
      draft.moveSwap(swap.id, "signed");
      draft.effect({ kind: "FetchRoute", swapId: swap.id, what: "route" }, evidence.nowMs);
      return;
    case "broadcast":
      if (swap.state === "signed") draft.moveSwap(swap.id, "submitted");
      return;
    case "mined":
      noteMined(draft, swap.id, change.receipt, evidence, change.value);
      return;
    case "confirmed":
      if (swap.fill !== undefined) confirmFill(draft, swap.id, evidence);
      return;
    case "reorged":
      takeBack(draft, swap.id);
      return;
    case "final":
      finish(draft, swap, change.outcome, evidence);
      return;
    case "dropped":
      draft.record({ kind: "close-capability", swapId: swap.id });
      endDropped(draft, swap, change, { otherwise: "not_signed_in_time", evidence });
      return;
  }
}

/** A receipt was seen. A revert in it is provisional too, until its block is final. */
export function noteMined(
  draft: Draft,
  swapId: string,
  receipt: FillReceipt,
  evidence: Evidence,
  nativeValue: bigint,
): void {
  const swap = draft.swap(swapId);
  const fill = receipt.succeeded
    ? measureFill(receipt, swap, { wrapped: evidence.chain.wrappedNative, value: nativeValue })
    : undefined;
  if (swap.state === "mined") draft.amendSwap(swapId, { fill });
  else draft.moveSwap(swapId, "mined", { fill, reason: receipt.succeeded ? undefined : "reverted" }, receipt.hash);
}

/** Whether the end of a swap shows by a nonce: it was signed with one, and the service of today is one of those. */
export function isFoundByNonce({ terms }: Swap, { service }: Evidence): boolean {
  return terms?.nonce !== undefined && service.signatureHasNonce;
}

/** Enough blocks lie on top of the fill: the money counts as spent and the run may go on. */
export function confirmFill(draft: Draft, swapId: string, evidence: Evidence): void {
  const swap = draft.swap(swapId);
  if (swap.state !== "mined" || swap.fill === undefined) return;
  draft.moveSwap(swapId, "confirmed");
  draft.record({ kind: "spend", swapId, amount: swap.fill.sold });
  if (swap.mode === "self-executed" || isFoundByNonce(swap, evidence)) {
    draft.record({ kind: "close-capability", swapId });
  }
  if (swap.mode === "gasless") draft.effect({ kind: "FetchRoute", swapId, what: "record" }, evidence.nowMs);
}

/** The block is gone from the chain: what was mined is submitted again, its money reserved again. */
export function takeBack(draft: Draft, swapId: string): void {
  const swap = draft.swap(swapId);
  if (swap.state !== "mined" && swap.state !== "confirmed") return;
  if (swap.state === "confirmed" && swap.amountIn !== undefined) {
    draft.record({ kind: "unspend", swapId, amount: swap.amountIn });
  }
  draft.moveSwap(swapId, "submitted", { fill: undefined, reason: "reorganised" });
}

function finish(draft: Draft, swap: Swap, outcome: "succeeded" | "reverted" | "cancelled", evidence: Evidence): void {
  if (outcome === "succeeded") {
    confirmFill(draft, swap.id, evidence);
    draft.moveSwap(swap.id, "final");
    return;
  }
  draft.moveSwap(swap.id, outcome, { reason: outcome, fill: undefined });
  draft.record({ kind: "release", swapId: swap.id });
  draft.record({ kind: "close-capability", swapId: swap.id });
}

/** A revocation that did not go through may be sent again at the next look. */
function stepRevocation(draft: Draft, swap: Swap, change: TransactionChange): void {
  if (change.kind === "dropped" || change.kind === "final") draft.amendSwap(swap.id, { revokeIntentId: undefined });
}
