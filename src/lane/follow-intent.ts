import { ChainReadError } from "../domain/chain-read-error.ts";
import type { Receipt } from "../ports/chain.ts";
import type { LaneEvent } from "../ports/lane-event.ts";
import type { CostRow, IntentRow } from "../ports/lane-store.ts";
import type { LaneRows } from "../ports/lane-unit-of-work.ts";
import { broadcastNewest, lowerBlocks, noteInNoBlock } from "./broadcast.ts";
import { closeGap, forgetGaps } from "./close-gap.ts";
import { dropIfOver } from "./drop-intent.ts";
import type { Mined } from "./find-mined.ts";
import { fullestReceipt } from "./fullest-receipt.ts";
import { commit, type Known, type LaneTurn, passCrashPoint, readIntent } from "./lane-context.ts";
import { attemptIn, moveAttempt, moveIntent } from "./moves.ts";
import { noteBarred } from "./note-barred.ts";
import { planReplacement } from "./replace-attempt.ts";
import { signPlanned, unsignedOf } from "./sign-attempt.ts";
import { judgeTakenNonce, noteUnshown, takenNonce } from "./taken-nonce.ts";
import { isKeptBack } from "./visibility.ts";

/** An intent that was checked. */
export interface PolledIntent {
  /** what it was then; each of its moves is decided on what it is when that is written */
  readonly rows: Known<LaneRows>;
  /** which of its attempts was in a block */
  readonly mined: Mined | undefined;
}

/** Takes an intent that has a nonce one step further. */
export async function followIntent(turn: LaneTurn, { rows, mined }: PolledIntent): Promise<void> {
  if (rows.intent.state === "planned") await startOver(turn, rows);
  else if (mined === undefined) await checkForLoss(turn, rows);
  else await noteMined(turn, rows.intent, mined);
}

/** A nonce was given and nothing signed yet: either now, or never. */
async function startOver(turn: LaneTurn, { intent, cancelRequest }: Known<LaneRows>): Promise<void> {
  if (await dropIfOver(turn, intent, cancelRequest)) return;
  await signPlanned(turn, intent.id);
  await broadcastNewest(turn, intent.id);
}

async function noteMined(turn: LaneTurn, intent: IntentRow, found: Mined): Promise<void> {
  const { deps } = turn;
  const { mined, isShown } = await asShown(turn, intent, found);
  const { receipt } = mined;
  const isSame = intent.minedBlockHash === receipt.blockHash && intent.minedAttemptHash === receipt.hash;
  let current = intent;
  if ((intent.state === "mined" || intent.state === "confirmed") && !isSame) current = await takeBack(turn, intent);
  if (current.state === "signed" || current.state === "broadcast") {
    passCrashPoint(deps, "lane.mined.before");
    current = await recordMined(turn, current, mined);
    passCrashPoint(deps, "lane.mined.after");
  }
  if (current.state === "mined" && isShown) current = await confirmWhenDeep(turn, current, mined);
  const final = mined.isFinal ? mined : await asFinal(turn, mined);
  if (final === undefined) return;
  if (await isContradicted(turn, current, final)) {
    await takeBack(turn, current, "all endpoints report another outcome of it than one did");
    current = await recordMined(turn, current, final);
  }
  if (current.state === "mined") {
    current = await recordConfirmed(turn, current, final);
    passCrashPoint(deps, "lane.confirmed.after");
  }
  await recordFinal(turn, current, final);
}

/**
 * Enough blocks lie on top of it. That it reverted is reported once all endpoints that answer say so, because the
 * listener may give up. They are asked for some blocks more; then the account is free for what comes next, and its end
 * reports it.
 */
async function confirmWhenDeep(turn: LaneTurn, intent: IntentRow, mined: Mined): Promise<IntentRow> {
  const { options, latest, deps } = turn;
  const { attempt, receipt } = mined;
  const more = latest.number - receipt.blockNumber + 1 - options.confirmations;
  if (more < 0) return intent;
  const isReported = attempt.kind === "cancel" || receipt.succeeded || (await isShownByAll(turn, mined));
  if (!isReported && more < options.bumpAfterBlocks) return intent;
  const confirmed = await recordConfirmed(turn, intent, mined, isReported);
  passCrashPoint(deps, "lane.confirmed.after");
  return confirmed;
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

/**
 * Whether the rows say of a confirmed one that it succeeded and all endpoints that it reverted, or the other way round.
 */
async function isContradicted(turn: LaneTurn, { id, state }: IntentRow, { attempt, receipt }: Mined): Promise<boolean> {
  if (state !== "confirmed") return false;
  const reported = attemptIn(await readIntent(turn, id), attempt.hash).state;
  return reported === (receipt.succeeded ? "reverted" : "confirmed");
}

/** Where one endpoint leaves out what the transaction did, the others are asked for the same receipt. */
async function asShown(
  { options, deps }: LaneTurn,
  intent: IntentRow,
  mined: Mined,
): Promise<{ readonly mined: Mined; readonly isShown: boolean }> {
  const { attempt, receipt } = mined;
  const shows = async (one: Receipt): Promise<boolean> => (await options.isShown?.(intent, one)) ?? true;
  if (attempt.kind === "cancel" || !receipt.succeeded || (await shows(receipt))) return { mined, isShown: true };
  const full = await fullestReceipt(deps.chain, receipt);
  const { blockTimeSeconds } = receipt;
  return { mined: { ...mined, receipt: { ...full, blockTimeSeconds } }, isShown: await shows(full) };
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

async function recordMined(turn: LaneTurn, { id }: IntentRow, { attempt, receipt }: Mined): Promise<IntentRow> {
  const fields = {
    minedBlockNumber: receipt.blockNumber,
    minedBlockHash: receipt.blockHash,
    minedAttemptHash: receipt.hash,
  };
  const event = attempt.kind === "cancel" ? {} : { event: { kind: "mined" as const, hash: receipt.hash, receipt } };
  return await commit(turn, id, (rows) =>
    moveIntent(turn, rows, {
      move: { to: "mined", fields, ...event, detail: `block ${receipt.blockNumber}` },
      alongside: [
        moveAttempt(attemptIn(rows, attempt.hash), "mined"),
        { kind: "cost", cost: costOf(rows.intent, receipt) },
      ],
    }),
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

async function recordConfirmed(
  turn: LaneTurn,
  { id }: IntentRow,
  { attempt, receipt }: Mined,
  isReported = true,
): Promise<IntentRow> {
  const event = isReported && attempt.kind !== "cancel" ? { event: { kind: "confirmed" as const, receipt } } : {};
  return await commit(turn, id, (rows) =>
    moveIntent(turn, rows, {
      move: { to: "confirmed", ...event },
      alongside: [moveAttempt(attemptIn(rows, attempt.hash), receipt.succeeded ? "confirmed" : "reverted")],
    }),
  );
}

async function recordFinal(turn: LaneTurn, { id }: IntentRow, { attempt, receipt }: Mined): Promise<void> {
  const succeeded = receipt.succeeded ? "succeeded" : "reverted";
  const outcome = attempt.kind === "cancel" ? "cancelled" : succeeded;
  passCrashPoint(turn.deps, "lane.final.before");
  await commit(turn, id, (rows) => {
    const others = rows.attempts.filter(({ hash }) => hash !== attempt.hash);
    const why = outcome === "cancelled" ? whyCancelled(turn, rows) : {};
    return moveIntent(turn, rows, {
      move: {
        to: "final",
        fields: { outcome },
        event: { kind: "final", outcome, receipt, ...why },
        detail: outcome,
      },
      alongside: others.map((other) => moveAttempt(other, "replaced")),
    });
  });
  passCrashPoint(turn.deps, "lane.final.after");
}

/** The lane cancels by itself as well: what is too late, what private endpoints keep back, and what has nowhere to go. */
function whyCancelled(turn: LaneTurn, rows: Known<LaneRows>): Pick<LaneEvent, "cancelledBy" | "keptBack"> {
  if (rows.cancelRequest !== undefined) return { cancelledBy: rows.cancelRequest.by };
  return isKeptBack(turn, rows) ? { keptBack: true } : {};
}

/** What was said of its block is not so: what was mined is in flight again. */
async function takeBack(
  turn: LaneTurn,
  { id }: IntentRow,
  detail = "its block is no longer canonical",
): Promise<IntentRow> {
  const { latest } = turn;
  const fields = { minedBlockNumber: undefined, minedBlockHash: undefined, minedAttemptHash: undefined };
  return await commit(turn, id, (rows) => {
    const attempt = rows.attempts.find(({ hash }) => hash === rows.intent.minedAttemptHash);
    const newest = rows.attempts.at(-1);
    const event = attempt?.kind === "cancel" ? {} : { event: { kind: "reorged" as const } };
    return moveIntent(turn, rows, {
      move: { to: "broadcast", fields, ...event, detail },
      alongside: [
        ...(attempt === undefined ? [] : [moveAttempt(attempt, "broadcast")]),
        { kind: "cost-forgotten", intentId: id },
        // It was no fault of its fees that it is in no block any more.
        ...(newest?.firstBroadcastBlock === undefined
          ? []
          : [{ kind: "attempt-sent", hash: newest.hash, sending: { firstBroadcastBlock: latest.number } } as const]),
      ],
    });
  });
}

/** No receipt. That proves nothing: a reorganisation, a lagging node, a lost broadcast and a foreign nonce look alike. */
async function checkForLoss(turn: LaneTurn, rows: Known<LaneRows>): Promise<void> {
  const { deps } = turn;
  let { intent } = rows;
  const { id, nonce, minedBlockNumber } = intent;
  if (minedBlockNumber !== undefined) {
    const canonical = await deps.chain.block(minedBlockNumber);
    if (canonical?.hash === intent.minedBlockHash && minedBlockNumber <= turn.finalized.number)
      await noteUnshown(turn, intent, turn.finalized.number);
    if (canonical === undefined || canonical.hash === intent.minedBlockHash) return;
    intent = await takeBack(turn, intent);
  }
  await lowerBlocks(turn, rows);
  if (nonce === undefined) throw new Error(`intent ${id} is ${intent.state} without a nonce`);
  const count = await deps.chain.transactionCount(turn.options.account, "latest");
  if (count > nonce) {
    await judgeTakenNonce(turn, intent, nonce);
    return;
  }
  turn.suspicions.delete(takenNonce(nonce));
  if (count < nonce) await closeGap(turn, intent, { nonce, missing: count });
  else forgetGaps(turn);
  const now = await readIntent(turn, id);
  if ((await planReplacement(turn, now, count === nonce)) || unsignedOf(now) !== undefined) await signPlanned(turn, id);
  await broadcastNewest(turn, id);
  if (count === nonce) await noteInNoBlock(turn, now);
  if (count === nonce) await noteBarred(turn, now);
}
