import { checkSwap } from "../guard/check-swap.ts";
import type { DecodedSwap } from "../guard/decoded-swap.ts";
import { mostFeePerGas } from "../guard/limit-checks.ts";
import { contractsFor } from "../guard/swap-contracts.ts";
import { smaller } from "../money/bigint.ts";
import { valueUp } from "../money/price.ts";
import type { Draft } from "./draft.ts";
import type { ClearanceReading, RunEvent } from "./events.ts";
import { type Evidence, ledgerOf } from "./evidence.ts";
import { proceedsBarred, takenBackProceeds } from "./proceeds.ts";
import { factsOf, olderOutflow, unsettledAllowance } from "./reading-to-facts.ts";
import { answered, tooLate } from "./retry.ts";
import { type Swap, windowEndOf } from "./run.ts";
import { isClosed } from "./step-closed.ts";
import { approvedBy, heldBack, wouldWaitFor } from "./step-hold.ts";
import { propose } from "./step-proposal.ts";
import { beginSwap, endUnsigned, retryOrEnd } from "./step-quote.ts";
import { refuseSwap } from "./step-refuse.ts";
import { worthOf } from "./worth-of-swap.ts";

type FactsRead = Extract<RunEvent, { kind: "facts-read" }>;

/**
 * Most approvals for one swap: a reset to zero, the exact one, and one more of each after a changed target. One that
 * reverts ends the swap.
 */
const MAX_APPROVALS = 4;

/** The facts are read: the guard decides whether this swap may be signed, and what comes first. */
export function stepFacts(draft: Draft, event: FactsRead, evidence: Evidence): void {
  const swap = draft.swap(event.swapId);
  if (evidence.live && !evidence.ours.includes(swap.wallet)) {
    const detail = `the configuration names no wallet ${swap.wallet} any more`;
    endUnsigned(draft, swap.id, { reason: "signing_barred", detail });
    return;
  }
  const busy = whatIsBusy(swap, event.reading, ledgerOf(evidence));
  if (busy !== undefined) {
    retryOrEnd(draft, swap.id, evidence, { reason: "wallet_busy", detail: busy });
    return;
  }
  if (sizedAnew(draft, swap, evidence)) return;
  const swapFacts = factsOf(swap, event.reading, evidence);
  const { checks, denial } = checkSwap(swapFacts);
  draft.record({ kind: "checks", swapId: swap.id, checks });
  const price = swapFacts.prices.sold;
  const usd =
    price === undefined ? undefined : valueUp({ raw: swapFacts.gross, decimals: swap.sell.decimals }, price.usd);
  if (usd !== undefined) draft.record({ kind: "value", swapId: swap.id, usd });
  if (denial !== undefined) refuseSwap(draft, swap, { denial, swapFacts }, evidence);
  else proceed(draft, swap, { reading: event.reading, usd, maxFeePerGas: mostFeePerGas(swapFacts) }, evidence);
}

/** What else is under way with the swap's token, or came to its end while this swap was read. */
function whatIsBusy(swap: Swap, reading: ClearanceReading, ledger: ReturnType<typeof ledgerOf>): string | undefined {
  const { symbol } = swap.sell;
  if (ledger.isTokenBusy)
    return `another swap, approval or revocation of ${symbol} is open in this wallet, or was when this one was read`;
  if (ledger.lastFreed !== reading.lastFreed)
    return `another swap of ${symbol} came to its end while this one's evidence were read: allowance and permit's nonce may be old`;
  if (ledger.isPermitIntended)
    return `the permit of ${symbol} for exactly this was signed before: its nonce was read before the chain counted that one`;
  if (ledger.isOrderIntended === true)
    return "the order is, word for word, one that was written down to be signed before: the next quote's is another one";
  return unsettledAllowance(swap, reading) ?? olderOutflow(swap, reading);
}

/**
 * A reorganisation may take back what the swap was sized by, or bring it again as another amount, until the swap is signed:
 * it waits for what becomes of that, and begins anew with what is there.
 * @returns false where it has the size that it was begun with
 */
function sizedAnew(draft: Draft, swap: Swap, evidence: Evidence): boolean {
  const barred = proceedsBarred(draft.run(), swap);
  if (barred === undefined) return false;
  const isTakenBack = takenBackProceeds(draft.run(), swap) !== undefined;
  if (isTakenBack) retryOrEnd(draft, swap.id, evidence, { reason: "wallet_busy", detail: barred });
  else beginSwap(draft, swap.id, evidence, 0);
  return true;
}

interface Cleared {
  readonly reading: ClearanceReading;
  /** what it sells, in dollars scaled by 1e18 */
  readonly usd: bigint | undefined;
  /** what gas may cost at most for it to pass the same checks, wei */
  readonly maxFeePerGas: bigint | undefined;
}

/** Clears the swap for signing: everything that is signed from here on is written down first. */
function proceed(draft: Draft, swap: Swap, cleared: Cleared, evidence: Evidence): void {
  const { reading, usd } = cleared;
  if (!evidence.live) {
    if (isClosed(draft, swap, reading, evidence)) return;
    draft.record(worthOf(swap, reading, evidence));
    const detail = ["every check passed", "nothing is signed in a dry run", wouldWaitFor(usd, evidence)];
    endUnsigned(draft, swap.id, { reason: "dry_run", detail: detail.filter((part) => part !== undefined).join("; ") });
    return;
  }
  const barred = evidence.signingBarred ?? evidence.tradingBarred;
  if (barred !== undefined) {
    endUnsigned(draft, swap.id, { reason: "signing_barred", detail: barred });
    return;
  }
  // Long after its window nobody is asked any more; and an answer may have made its window shorter.
  if (endLate(draft, swap.id, evidence) || isClosed(draft, swap, reading, evidence)) return;
  if (heldBack(draft, swap, usd, evidence)) return;
  if (endLate(draft, swap.id, evidence)) return;
  if (!reading.decoding.ok) throw new Error(`swap ${swap.id} passed every check undecoded`);
  answered(draft);
  const terms = termsOf(swap, reading.decoding.swap, { reading, evidence });
  draft.moveSwap(swap.id, "cleared", { terms }, approvedBy(evidence));
  draft.record(worthOf(swap, reading, evidence));
  if (reading.proposal !== undefined) propose(draft, draft.swap(swap.id), reading, evidence);
  else if (reading.approval !== undefined) approve(draft, draft.swap(swap.id), cleared, evidence);
  else if (swap.mode === "gasless") intendSignatures(draft, swap, reading, evidence);
  else transact(draft, swap, cleared, evidence);
}

/** @returns false where it is not too late */
function endLate(draft: Draft, swapId: string, evidence: Evidence): boolean {
  const late = tooLate(draft.run(), draft.swap(swapId), evidence);
  if (late !== undefined) endUnsigned(draft, swapId, { reason: "window_over", detail: late });
  return late !== undefined;
}

/**
 * What comes before the swap may cost no more per gas than the swap itself, whose gas counts it. One that no block has while
 * the swap may still follow it is cancelled: it would hold its nonce until gas is that cheap again.
 */
function approve(draft: Draft, swap: Swap, cleared: Cleared, evidence: Evidence): void {
  const { approval } = cleared.reading;
  if (approval === undefined) return;
  if (swap.approvals >= MAX_APPROVALS) {
    endUnsigned(draft, swap.id, { reason: "approval_failed", detail: `${MAX_APPROVALS} approvals did not suffice` });
    return;
  }
  const intentId = `${swap.id}.approve${swap.approvals + 1}`;
  const windowEndSeconds = Math.floor(windowEndOf(draft.run(), swap) / 1000);
  draft.record({
    kind: "grant",
    wallet: swap.wallet,
    token: swap.sell.address,
    spender: contractsFor(evidence.service, swap.quote).spender,
  });
  draft.record({
    kind: "transaction",
    request: {
      id: intentId,
      purpose: "approve",
      to: approval.to,
      data: approval.data,
      value: 0n,
      gasLimit: approval.gasLimit,
      maxFeePerGasCap: feeCap(cleared, evidence),
      signBySeconds: windowEndSeconds,
      deadlineSeconds: windowEndSeconds + evidence.pace.maxLifetimeSeconds,
    },
  });
  draft.moveSwap(swap.id, "approving", { intentId, approvals: swap.approvals + 1 });
}

function transact(draft: Draft, swap: Swap, cleared: Cleared, evidence: Evidence): void {
  const { reading } = cleared;
  const { transaction } = reading;
  const { terms } = draft.swap(swap.id);
  if (transaction === undefined || terms === undefined) {
    throw new Error(`swap ${swap.id} is cleared without a transaction`);
  }
  const intentId = `${swap.id}.swap`;
  draft.record({
    kind: "open-capability",
    swapId: swap.id,
    wallet: swap.wallet,
    token: swap.sell.address,
    spender: contractsFor(evidence.service, swap.quote).spender,
    untilSeconds: undefined,
  });
  draft.record({
    kind: "transaction",
    request: {
      id: intentId,
      purpose: "swap",
      to: transaction.to,
      data: transaction.data,
      value: transaction.value,
      gasLimit: reading.gasLimit,
      maxFeePerGasCap: feeCap(cleared, evidence),
      signBySeconds: terms.deadlineSeconds - evidence.pace.submitMarginSeconds,
      deadlineSeconds: terms.deadlineSeconds,
    },
  });
  draft.amendSwap(swap.id, { intentId });
}

/** The intent to sign, with both digests, is committed before the key is asked. */
function intendSignatures(draft: Draft, swap: Swap, reading: ClearanceReading, evidence: Evidence): void {
  const { signing } = reading;
  const { terms } = draft.swap(swap.id);
  if (signing === undefined || terms === undefined) throw new Error(`swap ${swap.id} is cleared without typed data`);
  const untilSeconds = Math.max(terms.deadlineSeconds, signing.permit?.deadlineSeconds ?? 0);
  draft.record({
    kind: "open-capability",
    swapId: swap.id,
    wallet: swap.wallet,
    token: swap.sell.address,
    spender: contractsFor(evidence.service, swap.quote).spender,
    untilSeconds,
  });
  draft.record({
    kind: "intend-signature",
    swapId: swap.id,
    purpose: "swap",
    digest: signing.swap.digest,
    typedData: signing.swap.typedData,
    validUntilSeconds: terms.deadlineSeconds,
  });
  if (signing.permit !== undefined) {
    draft.record({
      kind: "grant",
      wallet: swap.wallet,
      token: swap.sell.address,
      spender: contractsFor(evidence.service, swap.quote).spender,
    });
    draft.record({
      kind: "intend-signature",
      swapId: swap.id,
      purpose: "permit",
      digest: signing.permit.digest,
      typedData: signing.permit.typedData,
      validUntilSeconds: signing.permit.deadlineSeconds,
    });
  }
  draft.amendSwap(swap.id, {
    signatures: {
      swapDigest: signing.swap.digest,
      swapSignature: undefined,
      permitDigest: signing.permit?.digest,
      permitSignature: undefined,
      permitDeadlineSeconds: signing.permit?.deadlineSeconds,
    },
  });
  draft.effect({ kind: "SignGasless", swapId: swap.id }, evidence.nowMs);
}

function termsOf(
  { quote }: Swap,
  decoded: DecodedSwap,
  { reading, evidence }: { readonly reading: ClearanceReading; readonly evidence: Evidence },
): NonNullable<Swap["terms"]> {
  return {
    contracts: contractsFor(evidence.service, quote),
    amountOutMin: decoded.amountOutMin,
    swapFee: decoded.swapFee,
    affiliateFee: decoded.affiliate?.fee ?? 0n,
    deadlineSeconds: Number(decoded.deadline),
    nonce: decoded.nonce,
    fromBlock: reading.fillFrom,
    ...(evidence.policyMark === undefined ? {} : { policy: evidence.policyMark }),
  };
}

/** The strictest of the strategy's and the policy's ceilings and of what the swap is worth; holds for every replacement too. */
function feeCap({ maxFeePerGas }: Cleared, { spec, policy }: Evidence): bigint {
  const ceiling = smaller(spec.limits.maxFeePerGas, policy.maxFeePerGas);
  return smaller(ceiling, maxFeePerGas ?? ceiling);
}
