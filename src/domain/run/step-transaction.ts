import { describeAmount, describeBoth } from "../money/for-people.ts";
import { SUBJECT } from "./alert.ts";
import type { Draft } from "./draft.ts";
import type { RunEvent, TransactionChange } from "./events.ts";
import type { Evidence } from "./evidence.ts";
import { type FillReceipt, measureFill } from "./measure-fill.ts";
import type { Fill, Swap } from "./run.ts";
import { tryPublicly } from "./step-fallback.ts";
import { askForQuote, endUnsigned, tryAgain, wantsGasless } from "./step-quote.ts";

type TransactionEvent = Extract<RunEvent, { kind: "transaction" }>;
type Final = Extract<TransactionChange, { kind: "final" }>;

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
    // What becomes of the approval from here on is the lane's matter: the simulation of the swap shows whether it holds.
    draft.amendSwap(swap.id, { intentId: undefined });
    askForQuote(draft, swap.id, evidence, { gasless: wantsGasless(swap) && swap.mode === "gasless", waitMs: 0 });
  } else if (change.kind === "dropped") {
    endDropped(draft, swap, change, { otherwise: "approval_not_sent", evidence });
  } else if (change.kind === "final" && change.outcome !== "succeeded") {
    // That a person cancelled it says nothing of the token.
    const reason = change.byPerson === true ? "cancelled_by_operator" : "approval_failed";
    endUnsigned(draft, swap.id, { reason, detail: `the approval was ${change.outcome}` });
    if (change.keptBack === true) tryPublicly(draft, swap, evidence);
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
      if (change.succeeded) {
        if (swap.state === "mined") measureAgain(draft, swap.id, change, evidence);
        confirmFill(draft, swap.id, evidence);
      } else if (swap.state === "mined") draft.amendSwap(swap.id, { fill: undefined, reason: "reverted" });
      return;
    case "reorged":
      takeBack(draft, swap.id);
      return;
    case "final":
      finish(draft, swap, change, evidence);
      return;
    case "dropped":
      draft.record({ kind: "close-capability", swapId: swap.id });
      endDropped(draft, swap, change, { otherwise: "not_signed_in_time", evidence });
      return;
  }
}

/** What was sent, and how it came out. */
interface Executed {
  readonly receipt?: FillReceipt;
  readonly value?: bigint;
}

/** Takes the newer measure, except where the older one of the same block shows more: who shows less left logs out. */
function measureAgain(draft: Draft, swapId: string, { receipt, value }: Executed, evidence: Evidence): void {
  if (receipt === undefined) return;
  const { fill, ...swap } = draft.swap(swapId);
  const measured = measureFill(receipt, swap, { wrapped: evidence.chain.wrappedNative, value: value ?? 0n });
  const isSame = fill?.hash === measured.hash && fill.blockHash === measured.blockHash;
  if (isSame && showsLess(measured, fill)) return;
  draft.amendSwap(swapId, { fill: measured });
}

/** Of two that show what was sold the larger one counts, so that no budget is spent twice. */
function showsLess(now: Fill, before: Fill): boolean {
  if (before.assumed === true) return false;
  return now.assumed === true || now.sold < before.sold;
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

/**
 * Whether the end of a swap shows by a nonce: it was signed with one, and the service of today is one of those; or it was
 * proposed to a Safe, where its place is marked with the execution.
 */
export function isFoundByNonce({ terms, proposal }: Swap, { service }: Evidence): boolean {
  if (proposal !== undefined) return true;
  return terms?.nonce !== undefined && service.signatureHasNonce;
}

/**
 * Enough blocks lie on top of the fill: the money counts as spent and the run may go on. What the logs do not show is
 * waited for until the block is final.
 */
export function confirmFill(draft: Draft, swapId: string, evidence: Evidence, isFinal = false): void {
  const swap = draft.swap(swapId);
  if (swap.state !== "mined" || swap.fill === undefined) return;
  if (swap.fill.assumed === true && !isFinal) return;
  draft.moveSwap(swapId, "confirmed");
  draft.record({ kind: "spend", swapId, amount: swap.fill.sold });
  const isOwn = swap.mode === "self-executed" && swap.proposal === undefined;
  if (isOwn || isFoundByNonce(swap, evidence)) {
    draft.record({ kind: "close-capability", swapId });
  }
  if (swap.mode === "gasless") draft.effect({ kind: "FetchRoute", swapId, what: "record" }, evidence.nowMs);
}

/** The block is gone from the chain: what was mined is submitted again, its money reserved again. */
export function takeBack(draft: Draft, swapId: string): void {
  const swap = draft.swap(swapId);
  if (swap.state !== "mined" && swap.state !== "confirmed") return;
  if (swap.state === "confirmed" && swap.gross !== undefined) {
    draft.record({ kind: "unspend", swapId, amount: swap.gross });
  }
  draft.moveSwap(swapId, "submitted", { fill: undefined, reason: "reorganised" });
}

/**
 * The fill's block is final: it is measured once more, from the receipt as it is read there, and what was counted from
 * logs that lacked something is corrected in the same commit. What is not shown even now is booked as it is assumed.
 */
export function settleFill(draft: Draft, swapId: string, executed: Executed, evidence: Evidence): void {
  const before = draft.swap(swapId);
  measureAgain(draft, swapId, executed, evidence);
  confirmFill(draft, swapId, evidence, true);
  const { fill } = draft.swap(swapId);
  const wasCounted = before.state === "confirmed" && before.fill !== undefined && fill !== undefined;
  if (wasCounted && before.fill.sold !== fill.sold) {
    // What is spent never changes: it is taken back, and spent anew.
    draft.record({ kind: "unspend", swapId, amount: before.gross ?? before.fill.sold });
    draft.record({ kind: "spend", swapId, amount: fill.sold });
  }
  draft.moveSwap(swapId, "final", {}, wasCounted ? correctionOf(before, before.fill, fill) : undefined);
  if (fill?.assumed === true) reportUnmeasured(draft, draft.swap(swapId), fill);
}

function correctionOf({ sell, buy }: Swap, before: Fill, now: Fill): string | undefined {
  if (before.sold === now.sold && before.bought === now.bought) return undefined;
  const [sold, wasSold] = describeBoth(now.sold, before.sold, sell);
  const [bought, wasBought] = describeBoth(now.bought, before.bought, buy);
  return `measured once more: sold ${sold} instead of ${wasSold}, bought ${bought} instead of ${wasBought}`;
}

function reportUnmeasured(draft: Draft, { id, sell, buy }: Swap, { hash, sold, bought }: Fill): void {
  const { strategyId } = draft.run();
  const [paid, got] = [describeAmount(sold, sell), describeAmount(bought, buy)];
  const text = `swap ${id} of ${strategyId} is filled, and its receipt does not show what was exchanged, also in its final block: counted are ${paid} sold and ${got} bought, the worst that was signed; compare transaction ${hash} with them (swapd audit); this alert stays until: swapd resume ${strategyId}`;
  draft.record({ kind: "alert", severity: "warning", code: "FILL_UNMEASURED", subject: SUBJECT.fill(id), text });
}

function finish(draft: Draft, swap: Swap, change: Final, evidence: Evidence): void {
  const { outcome } = change;
  if (outcome === "succeeded") {
    settleFill(draft, swap.id, change, evidence);
    return;
  }
  // What is counted as sold is taken back first: one node showed a fill, and all of them another end in its final block.
  if (swap.state === "confirmed") takeBack(draft, swap.id);
  draft.moveSwap(swap.id, outcome, { reason: outcome, fill: undefined });
  draft.record({ kind: "release", swapId: swap.id });
  draft.record({ kind: "close-capability", swapId: swap.id });
  // What was counted as filled is reported as lost; the strategy may have gone on since.
  if (change.keptBack === true && swap.state !== "confirmed") tryPublicly(draft, swap, evidence);
}

/** A revocation that did not go through may be sent again at the next check. */
function stepRevocation(draft: Draft, swap: Swap, change: TransactionChange): void {
  if (change.kind === "dropped" || change.kind === "final") draft.amendSwap(swap.id, { revokeIntentId: undefined });
}
