import type { LaneRows } from "../ports/lane-unit-of-work.ts";
import { firstFees, raisedFees } from "./fees.ts";
import { cancelCapOf, feeCapOf, isTooDear, isTooLate, type Known, type LaneTurn, readToSign } from "./lane-context.ts";
import { planAttempt, unsignedOf } from "./sign-attempt.ts";
import { cancelVisibility, hasEndpoint, isKeptBack, isLeftAlone, replacementVisibility } from "./visibility.ts";

/**
 * Writes down a version of the intent that is to take the place of its newest attempt, when it is time for one: past
 * its deadline, or when a person wants it, an intent is cancelled; unmined for too long it is sent with higher fees, up
 * to the cap.
 * @param isNext whether the chain waits for exactly this nonce: an earlier one that is missing delays it, not its fees
 * @returns whether it wrote one down
 */
export async function planReplacement(turn: LaneTurn, before: Known<LaneRows>, isNext: boolean): Promise<boolean> {
  const { deps, latest } = turn;
  const { id } = before.intent;
  if (dueKind(turn, before, isNext) === undefined) return false;
  if (!(await readToSign(turn, id)).maySign) return false;
  const market = { baseFeePerGas: latest.baseFeePerGas, priorityFee: await deps.chain.priorityFee() };
  return await planAttempt(turn, id, (rows) => {
    const newest = rows.attempts.at(-1);
    const kind = dueKind(turn, rows, isNext);
    if (newest === undefined || kind === undefined) return undefined;
    const cap = kind === "cancel" ? cancelCapOf(turn, rows.intent) : feeCapOf(turn, rows.intent);
    const fees = raisedFees(newest, market, cap);
    if (fees === undefined || firstFees(market, cap) === undefined) return undefined;
    const visibility = kind === "cancel" ? cancelVisibility(turn, rows) : replacementVisibility(rows);
    return { kind, fees, visibility };
  });
}

type DueKind = "replacement" | "cancel" | undefined;

/**
 * Which version is due now, if any. What waits for its signature comes first, but for higher fees of what is to end, and
 * for fees above the ceiling of now, which are never signed.
 */
function dueKind(turn: LaneTurn, rows: Known<LaneRows>, isNext: boolean): DueKind {
  const kind = nextKind(turn, rows, isNext);
  const waiting = unsignedOf(rows);
  if (waiting === undefined || isTooDear(turn, rows.intent, waiting)) return kind;
  return waiting.kind === "replacement" && kind === "cancel" ? kind : undefined;
}

function nextKind(turn: LaneTurn, rows: Known<LaneRows>, isNext: boolean): DueKind {
  const { options, latest } = turn;
  const { intent, attempts, cancelRequest } = rows;
  const newest = attempts.at(-1);
  if (newest === undefined) return undefined;
  const sinceBlock = newest.firstBroadcastBlock;
  const isStuck = isNext && sinceBlock !== undefined && latest.number - sinceBlock >= options.bumpAfterBlocks;
  // Once a cancellation is out, the chain's time may even go back: the intent itself is never sent again.
  if (newest.kind === "cancel") return isCancelDue(turn, rows, { isNext, isStuck }) ? "cancel" : undefined;
  const { deadlineSeconds } = intent;
  if (deadlineSeconds !== undefined && latest.timestamp > deadlineSeconds + options.cancelMarginSeconds)
    return "cancel";
  if (cancelRequest !== undefined || isLeftAlone(turn, rows) || (isNext && isKeptBack(turn, rows))) return "cancel";
  if (!isStuck || !hasEndpoint(turn, rows)) return undefined;
  return attempts.length <= options.maxReplacements && !isTooLate(turn, intent) ? "replacement" : undefined;
}

/**
 * Whether one more cancellation follows the newest one. A private one is sent again and not raised: once no block had it for
 * so long, everybody may see a higher one, and that is raised like every other.
 */
function isCancelDue(
  turn: LaneTurn,
  rows: Known<LaneRows>,
  { isNext, isStuck }: { readonly isNext: boolean; readonly isStuck: boolean },
): boolean {
  if (rows.attempts.at(-1)?.visibility === "private") return isNext && cancelVisibility(turn, rows) === "public";
  const shown = rows.attempts.filter(({ kind, visibility }) => kind === "cancel" && visibility === "public");
  return isStuck && shown.length < turn.options.maxCancellations;
}
