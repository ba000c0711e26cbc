import { formatUnits } from "../domain/money/amount.ts";
import type { LaneDecided, LaneRows, SigningRows } from "../ports/lane-unit-of-work.ts";
import { raisedFees } from "./fees.ts";
import { cancelCapOf, commit, type Known, type LaneTurn, nothing, textOf } from "./lane-context.ts";
import { unsignedOf } from "./sign-attempt.ts";

/**
 * A person is notified of what keeps its nonce because neither it nor its cancellation may leave: an order past its deadline
 * is never sent again, and what was signed before a halt of its strategy was sent to nobody. All of the account waits for it,
 * also what other strategies want. A halt of the account itself is an alert already, and so is a signer that is away.
 */
export async function noteBarred(turn: LaneTurn, before: Known<LaneRows>): Promise<void> {
  if (!isOverdue(turn, before) && !isUnsent(before)) return;
  const { id } = before.intent;
  await commit(turn, id, (rows): LaneDecided<undefined> => {
    const why = rows.halt === undefined ? whyBarred(turn, rows) : undefined;
    if (why === undefined) return nothing(turn, undefined);
    const detail = `${textOf(rows.intent)} is in no block, ${why}. All else of the account waits for it`;
    return { ...nothing(turn, undefined), refusal: { intentId: id, detail } };
  });
}

/** It is halted by a person, by a difference that nobody decided on yet, or its wallet is only watched. */
const BARRED = "nothing of its strategy may be signed now, `swapd status` says why and what ends that";

function whyBarred(turn: LaneTurn, rows: Known<SigningRows>): string | undefined {
  const { baseFeePerGas } = turn.latest;
  const newest = rows.attempts.at(-1);
  if (newest === undefined) return undefined;
  if (isOverdue(turn, rows)) {
    const late = "its deadline is past, and no cancellation of it may be signed";
    if (!rows.maySign) return `${late}: ${BARRED}`;
    const cap = cancelCapOf(turn, rows.intent);
    if (baseFeePerGas <= cap && raisedFees(newest, { baseFeePerGas, priorityFee: 0n }, cap)) return undefined;
    const [most, base] = [cap, baseFeePerGas].map((wei) => `${formatUnits(wei, 9)} gwei`);
    // A relayer's lane has no such bound: what it may offer goes by what the order was taken for.
    const way = turn.options.maxFeePerGas === undefined ? ": no setting raises that" : ", or raise max_gas_price";
    return `${late}: it may offer ${most} per gas, and the base fee is ${base}. Wait until gas is cheaper${way}`;
  }
  return isUnsent(rows) && !rows.maySign ? `and what was signed of it may not be sent: ${BARRED}` : undefined;
}

/** Whether an order is past its deadline, and no cancellation of it is written down. */
function isOverdue({ latest, options }: LaneTurn, rows: Known<LaneRows>): boolean {
  const { deadlineSeconds = Number.POSITIVE_INFINITY } = rows.intent;
  const isCancelled = [rows.attempts.at(-1), unsignedOf(rows)].some((version) => version?.kind === "cancel");
  return latest.timestamp > deadlineSeconds + options.cancelMarginSeconds && !isCancelled;
}

function isUnsent({ attempts }: LaneRows): boolean {
  const newest = attempts.at(-1);
  return newest !== undefined && newest.lastBroadcastBlock === undefined;
}
