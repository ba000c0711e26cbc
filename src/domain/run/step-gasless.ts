import { approval } from "../guard/approval.ts";
import { SUBJECT } from "./alert.ts";
import type { Draft } from "./draft.ts";
import type { GaslessObservation, RunEvent } from "./events.ts";
import type { Evidence } from "./evidence.ts";
import { APPROVAL_GAS_LIMIT } from "./gas-limit.ts";
import { proceedsBarred } from "./proceeds.ts";
import { answered, waitAgain } from "./retry.ts";
import { isPastDeadlines, outdated, type Swap } from "./run.ts";
import { InvalidTransition, isSwapEnd } from "./states.ts";
import { reportProposed } from "./step-proposal.ts";
import { endUnsigned, tryAgain } from "./step-quote.ts";
import { confirmFill, isFoundByNonce, noteMined, settleFill, takeBack } from "./step-transaction.ts";

type SignedGasless = Extract<RunEvent, { kind: "signed-gasless" }>;
type SigningBarred = Extract<RunEvent, { kind: "signing-barred" }>;
type Submission = Extract<RunEvent, { kind: "submission-accepted" | "submission-unknown" }>;

/**
 * Signing was forbidden after the swap was cleared and before the key was asked: nothing exists that could land. Where the
 * proceeds that it sells are in doubt, the policy is another one now, or its signer gave no signature in time, the place is
 * tried again with a fresh swap: a swap has one right to the token in its life.
 */
export function stepSigningBarred(draft: Draft, event: SigningBarred, evidence: Evidence): void {
  const { swapId, detail, isLate = false } = event;
  draft.record({ kind: "close-capability", swapId });
  const swap = draft.swap(swapId);
  const isAnew = isLate || (proceedsBarred(draft.run(), swap) ?? outdated(swap, evidence.policyMark)) !== undefined;
  const why = { reason: isLate ? "not_signed_in_time" : "signing_barred", detail };
  endUnsigned(draft, swapId, why);
  if (isAnew) tryAgain(draft, draft.swap(swapId), evidence, why);
}

/** Both signatures exist: they are committed, and only then may they leave. */
export function stepGaslessSigned(draft: Draft, event: SignedGasless, evidence: Evidence): void {
  const { signatures } = draft.swap(event.swapId);
  if (signatures === undefined) throw new Error(`swap ${event.swapId} was signed without an intent to sign`);
  if (event.swapSignature !== undefined) {
    draft.record({ kind: "signature", digest: signatures.swapDigest, signature: event.swapSignature });
  }
  if (signatures.permitDigest !== undefined && event.permitSignature !== undefined) {
    draft.record({ kind: "signature", digest: signatures.permitDigest, signature: event.permitSignature });
  }
  draft.moveSwap(event.swapId, "signed", {
    signatures: { ...signatures, swapSignature: event.swapSignature, permitSignature: event.permitSignature },
  });
  draft.effect({ kind: "SubmitGasless", swapId: event.swapId }, evidence.nowMs);
  draft.effect({ kind: "FetchRoute", swapId: event.swapId, what: "route" }, evidence.nowMs);
}

/** The service took it, or that is not known. In both cases the chain is asked from now on. */
export function stepSubmission(draft: Draft, event: Submission, evidence: Evidence): void {
  const { state } = draft.swap(event.swapId);
  if (state !== "signed") throw new InvalidTransition("swap", state, "submitted");
  const effect = { kind: "ReadChain", swapId: event.swapId } as const;
  if (event.kind === "submission-accepted") {
    draft.moveSwap(event.swapId, "submitted", { serviceSwapId: event.serviceSwapId });
    reportProposed(draft, draft.swap(event.swapId), evidence);
    draft.effect(effect, evidence.nowMs + evidence.pace.watchMs);
  } else {
    draft.moveSwap(event.swapId, "unknown", { reason: "answer_lost" }, event.detail);
    const { detail, isUnsent = false } = event;
    const why = isUnsent ? "it is signed and was handed over to nobody" : "whether it was submitted is not known";
    alertUnknown(draft, event.swapId, `${why} (${detail})`);
    // At once: after a kill it may have been submitted before, and be in a block by now.
    draft.effect(effect, evidence.nowMs);
  }
}

/** What the chain shows of a gasless swap decides everything after its submission. */
export function stepObservation(
  draft: Draft,
  swapId: string,
  observation: GaslessObservation,
  evidence: Evidence,
): void {
  answered(draft);
  follow(draft, draft.swap(swapId), observation, evidence);
  const after = draft.swap(swapId);
  const held = !isFoundByNonce(after, evidence) && !isOver(after, observation);
  if (isSwapEnd(after.state) && !held) {
    draft.record({ kind: "close-capability", swapId });
    return;
  }
  draft.effect({ kind: "ReadChain", swapId }, evidence.nowMs + evidence.pace.watchMs);
}

/** So long after its deadline a swap is looked for before a person is told that it cannot be: nodes come back by themselves. */
const UNSEEN_SECONDS = 3_600;

/** Nothing was learnt of a swap that is signed: it is looked up again until the chain answers, however long that takes. */
export function stepObservationUnavailable(
  draft: Draft,
  { swapId, detail }: Extract<RunEvent, { kind: "observation-unavailable" }>,
  evidence: Evidence,
): void {
  const { watchMs, longestWatchMs } = evidence.pace;
  const limits = { firstMs: watchMs, longestMs: longestWatchMs, untilMs: undefined };
  const waitMs = waitAgain(draft, evidence, { about: swapId, reason: "node_unavailable", detail }, limits) ?? watchMs;
  const swap = draft.swap(swapId);
  if (swap.state === "submitted" && isOverdue(swap, evidence, UNSEEN_SECONDS))
    noteOverdue(draft, swap, `no node shows what became of it (${detail})`);
  draft.effect({ kind: "ReadChain", swapId }, evidence.nowMs + waitMs);
}

function follow(draft: Draft, swap: Swap, observation: GaslessObservation, evidence: Evidence): void {
  if (isSwapEnd(swap.state)) return;
  const { fill, latest, finalized } = observation;
  if (fill === undefined) {
    if (swap.state === "mined" || swap.state === "confirmed") takeBack(draft, swap.id);
    else if (swap.proposal !== undefined) endProposal(draft, swap, observation, evidence);
    else endIfImpossible(draft, swap, observation, evidence);
    return;
  }
  if (swap.fill !== undefined && swap.fill.blockHash !== fill.blockHash) takeBack(draft, swap.id);
  noteFill(draft, swap.id, observation, evidence);
  const confirmations = latest.number - fill.blockNumber + 1;
  if (confirmations >= evidence.chain.confirmations) confirmFill(draft, swap.id, evidence);
  if (fill.blockNumber > finalized.number || !fill.succeeded) return;
  if (isPerhapsAnother(draft.swap(swap.id), observation, evidence)) return;
  settleFill(draft, swap.id, { receipt: fill }, evidence);
}

/** Without a nonce what took enough of the token is the fill; before the deadline one that shows the exchange may follow. */
function isPerhapsAnother(swap: Swap, observation: GaslessObservation, evidence: Evidence): boolean {
  return swap.fill?.assumed === true && !isFoundByNonce(swap, evidence) && !isOver(swap, observation);
}

function noteFill(draft: Draft, swapId: string, observation: GaslessObservation, evidence: Evidence): void {
  const { fill } = observation;
  const { state } = draft.swap(swapId);
  if (fill === undefined || state === "confirmed") return;
  noteMined(draft, swapId, fill, evidence, 0n);
}

/**
 * Ends a swap that can no longer land. With a nonce: it is used at a finalised block without a fill (cancelled), or it
 * is unused and both deadlines are past there (expired). Without one: both deadlines past, no outflow was seen that nobody
 * explains, the allowance is gone, the service does not say that it is still at work, and where the balance does not prove
 * that nothing was hidden, every endpoint listed what left the wallet.
 */
function endIfImpossible(draft: Draft, swap: Swap, observation: GaslessObservation, evidence: Evidence): void {
  if (observation.nonceUsed === true) {
    endUnfilled(draft, swap, "cancelled");
    return;
  }
  if (!isOver(swap, observation)) {
    if (isOverdue(swap, evidence)) noteOverdue(draft, swap, undefined);
    return;
  }
  const isAllowed = !isFoundByNonce(swap, evidence) && observation.allowance > 0n;
  const bar = isAllowed ? revoke : awaitListing;
  const why = barOf(swap, observation, evidence) ?? bar(draft, swap, observation, evidence);
  if (why === undefined && !isAllowed) endUnfilled(draft, swap, "expired");
  else if (why !== undefined && isOverdue(swap, evidence)) noteOverdue(draft, swap, why);
}

/** What keeps a swap open whose deadlines are past in a finalised block. */
function barOf(swap: Swap, observation: GaslessObservation, evidence: Evidence): string | undefined {
  if (isFoundByNonce(swap, evidence))
    return observation.nonceUsed === undefined ? "the nodes do not show whether its nonce was used" : undefined;
  if (observation.serviceStatus === "pending") return "the service still says that it is at work on it";
  if (observation.isUnexplained !== true) return undefined;
  return `${swap.sell.symbol} left the wallet that nobody explains: see swapd db check`;
}

/** How long a wait for an endpoint's logs is counted at least before it is written down, and so the least that a look counts. */
const COUNTED_MS = 60_000;

/**
 * Holds the end back while an endpoint may list a fill that those which answer hide. One that is gone for good, or lists
 * nothing, holds it back for {@link UNSEEN_SECONDS} in which looks were taken: a machine that was off, or a clock that
 * jumped, counts for no more than two looks.
 */
function awaitListing(
  draft: Draft,
  { id, sell, unlisted }: Swap,
  { unlistedBy = [] }: GaslessObservation,
  { nowMs, pace }: Evidence,
): string | undefined {
  const { ms, countedMs } = unlisted ?? { ms: 0, countedMs: nowMs };
  if (unlistedBy.length === 0 || ms >= UNSEEN_SECONDS * 1_000) return undefined;
  const passedMs = nowMs - countedMs;
  if (unlisted === undefined || passedMs < 0 || passedMs >= COUNTED_MS) {
    const counts = Math.min(Math.max(0, passedMs), 2 * Math.max(COUNTED_MS, pace.watchMs));
    draft.amendSwap(id, { unlisted: { ms: ms + counts, countedMs: nowMs } });
  }
  return `${unlistedBy.join(" and ")} did not list the wallet's transfers of ${sell.symbol}, and its balance does not prove that none was hidden`;
}

/** Once: from then on it is unknown, and another reason than was told takes its place in what people see. */
function noteOverdue(draft: Draft, { id, state, heldBy }: Swap, held: string | undefined): void {
  const isNew = state === "submitted";
  if (!isNew && (state !== "unknown" || held === undefined || held === heldBy)) return;
  if (isNew) draft.moveSwap(id, "unknown", { reason: "overdue" }, held);
  draft.amendSwap(id, { heldBy: held });
  alertUnknown(draft, id, `its deadline is past, but ${held ?? "no finalised block says so yet"}`);
}

/** So long a revocation may wait for the lane: it is no hurry, but it must not wait in the queue for ever. */
export const REVOKE_WITHIN_SECONDS = 600;

/**
 * A leftover of the permit keeps the swap open, because only without it the money is free. Asked for once at a time.
 * @returns why it is not taken back now
 */
function revoke(
  draft: Draft,
  swap: Swap,
  { revocation = { gasLimit: APPROVAL_GAS_LIMIT } }: GaslessObservation,
  evidence: Evidence,
): string | undefined {
  if (swap.revokeIntentId !== undefined) return undefined;
  const isBarred = evidence.signingBarred !== undefined && evidence.mayRevoke !== true;
  if (!evidence.live || isBarred) return "its allowance is not taken back while nothing is signed";
  if ("barred" in revocation) return `its allowance is not taken back: ${revocation.barred}`;
  const revokeIntentId = `${swap.id}.revoke${swap.approvals + 1}`;
  draft.record({
    kind: "transaction",
    request: {
      id: revokeIntentId,
      purpose: "revoke",
      to: swap.sell.address,
      data: approval((swap.terms ?? evidence.service).contracts.spender, 0n),
      value: 0n,
      gasLimit: revocation.gasLimit,
      maxFeePerGasCap: evidence.policy.maxFeePerGas,
      signBySeconds: Math.floor(evidence.nowMs / 1_000) + REVOKE_WITHIN_SECONDS,
      deadlineSeconds: undefined,
    },
  });
  draft.amendSwap(swap.id, { revokeIntentId, approvals: swap.approvals + 1 });
  return undefined;
}

/** Nothing was exchanged, and nothing can be any more: the money is free. */
function endUnfilled(draft: Draft, swap: Swap, to: "cancelled" | "expired"): void {
  draft.moveSwap(swap.id, to, { reason: to });
  draft.record({ kind: "release", swapId: swap.id });
}

/**
 * Ends a proposal that can no longer be executed. Its nonce is used by something else in a final block: that is its
 * owners' decision. Or its deadline is past there: it is proposed anew while its window is open, with the same nonce.
 */
function endProposal(draft: Draft, swap: Swap, observation: GaslessObservation, evidence: Evidence): void {
  if (observation.nonceUsed === true) endUnfilled(draft, swap, "cancelled");
  else if (isOver(swap, observation)) {
    endUnfilled(draft, swap, "expired");
    const detail = `nobody executed ${swap.id} until its deadline`;
    tryAgain(draft, draft.swap(swap.id), evidence, { reason: "expired", detail });
  }
}

/** Both deadlines lie before a finalised block. */
function isOver(swap: Swap, { finalized }: GaslessObservation): boolean {
  return isPastDeadlines(swap, finalized.timestampSeconds);
}

function isOverdue(swap: Swap, evidence: Evidence, bySeconds = 0): boolean {
  return evidence.nowMs / 1000 > (swap.terms?.deadlineSeconds ?? 0) + bySeconds;
}

function alertUnknown(draft: Draft, swapId: string, why: string): void {
  draft.record({
    kind: "alert",
    severity: "warning",
    code: "SWAP_UNKNOWN",
    subject: SUBJECT.swap(swapId),
    text: `swap ${swapId} is unknown: ${why}; its money stays reserved until the chain answers`,
  });
}
