import { ChainReadError } from "../domain/chain-read-error.ts";
import type { Receipt } from "../ports/chain.ts";
import type { CostRow, IntentRow } from "../ports/lane-store.ts";
import { broadcastNewest, lowerBlocks } from "./broadcast.ts";
import { closeGap, forgetGaps } from "./close-gap.ts";
import type { Mined } from "./find-mined.ts";
import { fullestReceipt } from "./fullest-receipt.ts";
import { type LaneTurn, moveAttempt, moveIntent, passCrashPoint, reread } from "./lane-context.ts";
import { planReplacement } from "./replace-attempt.ts";
import { dropIfOver, signPlanned } from "./sign-attempt.ts";
import { judgeTakenNonce, takenNonce } from "./taken-nonce.ts";

/** Takes an intent that has a nonce one step further. @param mined which of its attempts is in a block now */
export async function followIntent(turn: LaneTurn, intent: IntentRow, mined: Mined | undefined): Promise<void> {
  if (intent.state === "planned") {
    await startOver(turn, intent);
    return;
  }
  if (mined === undefined) await lookForLoss(turn, intent);
  else await noteMined(turn, intent, mined);
}

/** A nonce was given and nothing signed yet: either now, or never. */
async function startOver(turn: LaneTurn, intent: IntentRow): Promise<void> {
  if (dropIfOver(turn, intent)) return;
  await signPlanned(turn, intent);
  const signed = reread(turn, intent);
  if (signed.state === "signed") await broadcastNewest(turn, signed);
}

async function noteMined(turn: LaneTurn, intent: IntentRow, found: Mined): Promise<void> {
  const { deps } = turn;
  const { mined, isShown } = await asShown(turn, intent, found);
  const { receipt } = mined;
  const isSame = intent.minedBlockHash === receipt.blockHash && intent.minedAttemptHash === receipt.hash;
  if ((intent.state === "mined" || intent.state === "confirmed") && !isSame) takeBack(turn, intent);
  let current = reread(turn, intent);
  if (current.state === "signed" || current.state === "broadcast") {
    passCrashPoint(deps, "lane.mined.before");
    recordMined(turn, current, mined);
    passCrashPoint(deps, "lane.mined.after");
    current = reread(turn, intent);
  }
  if (current.state === "mined" && isShown) {
    await confirmWhenDeep(turn, current, mined);
    current = reread(turn, intent);
  }
  const final = mined.isFinal ? mined : await asFinal(turn, mined);
  if (final === undefined) return;
  if (isContradicted(turn, current, final)) {
    takeBack(turn, current, "all endpoints tell another outcome of it than one did");
    recordMined(turn, reread(turn, intent), final);
    current = reread(turn, intent);
  }
  if (current.state === "mined") {
    recordConfirmed(turn, current, final);
    passCrashPoint(deps, "lane.confirmed.after");
    current = reread(turn, intent);
  }
  recordFinal(turn, current, final);
}

/**
 * Enough blocks lie on top of it. That it reverted is told once all endpoints that answer say so, because who hears of it
 * may give up. They are asked for some blocks more; then the account is free for what comes next, and its end tells it.
 */
async function confirmWhenDeep(turn: LaneTurn, intent: IntentRow, mined: Mined): Promise<void> {
  const { options, latest, deps } = turn;
  const { attempt, receipt } = mined;
  const more = latest.number - receipt.blockNumber + 1 - options.confirmations;
  if (more < 0) return;
  const isTold = attempt.kind === "cancel" || receipt.succeeded || (await isShownByAll(turn, mined));
  if (!isTold && more < options.bumpAfterBlocks) return;
  recordConfirmed(turn, intent, mined, isTold);
  passCrashPoint(deps, "lane.confirmed.after");
}

/** At the tip endpoints may disagree: one is a block behind, or wrong. */
async function isShownByAll(turn: LaneTurn, { receipt }: Mined): Promise<boolean> {
  try {
    const shown = await (await turn.agreement()).reads.receipt(receipt.hash);
    return shown?.blockHash === receipt.blockHash && shown.succeeded === receipt.succeeded;
  } catch (error) {
    if (error instanceof ChainReadError && error.code === "disagreement") return false;
    throw error;
  }
}

/** Whether the rows tell of a confirmed one that it succeeded, and all endpoints that it reverted, or the other way round. */
function isContradicted({ deps }: LaneTurn, { id, state }: IntentRow, { attempt, receipt }: Mined): boolean {
  if (state !== "confirmed") return false;
  const told = deps.store.attempts(id).find(({ hash }) => hash === attempt.hash)?.state;
  return told === (receipt.succeeded ? "reverted" : "confirmed");
}

/** Where one endpoint leaves out what the transaction did, the others are asked for the same receipt. */
async function asShown(
  { options, deps }: LaneTurn,
  intent: IntentRow,
  mined: Mined,
): Promise<{ readonly mined: Mined; readonly isShown: boolean }> {
  const { attempt, receipt } = mined;
  const shows = (one: Receipt): boolean => options.isShown?.(intent, one) ?? true;
  if (attempt.kind === "cancel" || !receipt.succeeded || shows(receipt)) return { mined, isShown: true };
  const full = await fullestReceipt(deps.chain, receipt);
  const { blockTimeSeconds } = receipt;
  return { mined: { ...mined, receipt: { ...full, blockTimeSeconds } }, isShown: shows(full) };
}

/**
 * One node's word ends nothing, neither a success, which no fork could take back any more, nor any other end, which frees
 * money: in a block that all endpoints call final all that answer have to show the same receipt. The fullest of them counts.
 */
async function asFinal(turn: LaneTurn, mined: Mined): Promise<Mined | undefined> {
  const { receipt } = mined;
  if (receipt.blockNumber > turn.finalized.number) return undefined;
  const { reads, finalized } = await turn.agreement();
  if (receipt.blockNumber > finalized.number) return undefined;
  const shown = await reads.receipt(receipt.hash);
  if (shown?.blockHash !== receipt.blockHash || shown.succeeded !== receipt.succeeded) return undefined;
  const logs = shown.logs.length > receipt.logs.length ? shown.logs : receipt.logs;
  return { ...mined, receipt: { ...receipt, logs }, isFinal: true };
}

function recordMined(turn: LaneTurn, intent: IntentRow, mined: Mined): void {
  const { attempt, receipt } = mined;
  moveIntent(
    turn.deps,
    intent,
    {
      to: "mined",
      change: {
        minedBlockNumber: receipt.blockNumber,
        minedBlockHash: receipt.blockHash,
        minedAttemptHash: receipt.hash,
      },
      ...(attempt.kind === "cancel" ? {} : { event: { kind: "mined" as const, hash: receipt.hash, receipt } }),
      detail: `block ${receipt.blockNumber}`,
    },
    () => {
      moveAttempt(turn.deps, attempt, { to: "mined" });
      turn.deps.store.saveCost(costOf(intent, receipt));
    },
  );
}

/** What the account paid, whatever came of it. */
function costOf({ id }: IntentRow, receipt: Mined["receipt"]): CostRow {
  const { hash, succeeded, blockNumber, blockTimeSeconds, gasUsed, effectiveGasPrice, dataFee } = receipt;
  return {
    intentId: id,
    hash,
    succeeded,
    blockNumber,
    blockTimeSeconds,
    gasUsed,
    gasPrice: effectiveGasPrice,
    dataFee,
  };
}

function recordConfirmed({ deps }: LaneTurn, intent: IntentRow, { attempt, receipt }: Mined, isTold = true): void {
  const event = isTold && attempt.kind !== "cancel" ? { event: { kind: "confirmed" as const, receipt } } : {};
  moveIntent(deps, intent, { to: "confirmed", ...event }, () =>
    moveAttempt(deps, attempt, { to: receipt.succeeded ? "confirmed" : "reverted" }),
  );
}

function recordFinal(turn: LaneTurn, intent: IntentRow, mined: Mined): void {
  const { deps } = turn;
  const succeeded = mined.receipt.succeeded ? "succeeded" : "reverted";
  const outcome = mined.attempt.kind === "cancel" ? "cancelled" : succeeded;
  passCrashPoint(deps, "lane.final.before");
  moveIntent(
    deps,
    intent,
    { to: "final", change: { outcome }, event: { kind: "final", outcome, receipt: mined.receipt }, detail: outcome },
    () => {
      for (const attempt of deps.store.attempts(intent.id)) {
        if (attempt.hash !== mined.attempt.hash) moveAttempt(deps, attempt, { to: "replaced" });
      }
    },
  );
  passCrashPoint(deps, "lane.final.after");
}

/** What was told of its block is not so: what was mined is in flight again. */
function takeBack(turn: LaneTurn, intent: IntentRow, detail = "its block is no longer canonical"): void {
  const { deps, latest } = turn;
  const attempts = deps.store.attempts(intent.id);
  const attempt = attempts.find((candidate) => candidate.hash === intent.minedAttemptHash);
  moveIntent(
    deps,
    intent,
    {
      to: "broadcast",
      change: { minedBlockNumber: undefined, minedBlockHash: undefined, minedAttemptHash: undefined },
      ...(attempt?.kind === "cancel" ? {} : { event: { kind: "reorged" as const } }),
      detail,
    },
    () => {
      if (attempt !== undefined) moveAttempt(deps, attempt, { to: "broadcast" });
      deps.store.forgetCost(intent.id);
      const newest = attempts.at(-1);
      // It was no fault of its fees that it is in no block any more.
      if (newest?.firstBroadcastBlock !== undefined) {
        deps.store.updateAttempt(newest.hash, { firstBroadcastBlock: latest.number });
      }
    },
  );
}

/** No receipt. That proves nothing: a reorganisation, a lagging node, a lost broadcast and a foreign nonce look alike. */
async function lookForLoss(turn: LaneTurn, intent: IntentRow): Promise<void> {
  const { deps } = turn;
  if (intent.minedBlockNumber !== undefined) {
    const canonical = await deps.chain.block(intent.minedBlockNumber);
    if (canonical === undefined || canonical.hash === intent.minedBlockHash) return;
    takeBack(turn, intent);
  }
  const current = reread(turn, intent);
  lowerBlocks(turn, intent);
  const attempts = deps.store.attempts(intent.id);
  const { nonce } = current;
  if (nonce === undefined) throw new Error(`intent ${intent.id} is ${current.state} without a nonce`);
  const count = await deps.chain.transactionCount(turn.options.account, "latest");
  if (count > nonce) {
    await judgeTakenNonce(turn, current, { attempts, nonce });
    return;
  }
  turn.suspicions.delete(takenNonce(nonce));
  if (count < nonce) await closeGap(turn, current, { nonce, missing: count });
  else forgetGaps(turn);
  await planReplacement(turn, current, { attempts, isNext: count === nonce });
  await signPlanned(turn, current);
  await broadcastNewest(turn, reread(turn, current));
}
