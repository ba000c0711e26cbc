import type { AttemptRow, IntentRow } from "../ports/lane-store.ts";
import { firstFees, raisedFees } from "./fees.ts";
import { feeCapOf, isTooLate, type LaneTurn, maySign } from "./lane-context.ts";
import { planAttempt } from "./sign-attempt.ts";

/** How much more than an intent's own cap its cancellation may pay: it must be able to outbid what it replaces. */
export const CANCEL_CAP_FACTOR = 2n;

/**
 * Writes down a version of the intent that is to take the place of its newest attempt, when it is time for one: past its
 * deadline, or when a person wants it, an intent is cancelled; unmined for too long it is sent with higher fees, up to the cap.
 * @param isNext whether the chain waits for exactly this nonce: an earlier one that is missing holds it up, not its fees
 */
export async function planReplacement(
  turn: LaneTurn,
  intent: IntentRow,
  now: { attempts: readonly AttemptRow[]; isNext: boolean },
): Promise<void> {
  const { deps, latest } = turn;
  const newest = now.attempts.at(-1);
  if (newest === undefined || deps.store.signings(intent.id).length > now.attempts.length) return;
  const kind = dueKind(turn, intent, { ...now, newest });
  if (kind === undefined || !maySign(turn, intent)) return;
  const market = { baseFeePerGas: latest.baseFeePerGas, priorityFee: await deps.chain.priorityFee() };
  const cap = kind === "cancel" ? intent.maxFeePerGasCap * CANCEL_CAP_FACTOR : feeCapOf(turn, intent);
  const fees = raisedFees(newest, market, cap);
  if (fees === undefined || firstFees(market, cap) === undefined) return;
  // A person may have halted everything while the node answered.
  if (!maySign(turn, intent)) return;
  planAttempt(turn, intent, { kind, fees });
}

function dueKind(
  turn: LaneTurn,
  intent: IntentRow,
  now: { attempts: readonly AttemptRow[]; newest: AttemptRow; isNext: boolean },
): "replacement" | "cancel" | undefined {
  const { options, latest, deps } = turn;
  const { newest, attempts, isNext } = now;
  const sinceBlock = newest.firstBroadcastBlock;
  const isStuck = isNext && sinceBlock !== undefined && latest.number - sinceBlock >= options.bumpAfterBlocks;
  // Once a cancellation is out, the chain's time may even go back: the intent itself is never sent again.
  if (newest.kind === "cancel") {
    const cancellations = attempts.filter(({ kind }) => kind === "cancel").length;
    return isStuck && cancellations < options.maxCancellations ? "cancel" : undefined;
  }
  const { deadlineSeconds } = intent;
  if (deadlineSeconds !== undefined && latest.timestamp > deadlineSeconds + options.cancelMarginSeconds)
    return "cancel";
  if (deps.store.cancelWish(intent.id) !== undefined) return "cancel";
  return isStuck && attempts.length <= options.maxReplacements && !isTooLate(turn, intent) ? "replacement" : undefined;
}
