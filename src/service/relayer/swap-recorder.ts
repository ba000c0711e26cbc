import type { Clock } from "../../ports/clock.ts";
import type { LaneEvent, LaneListener } from "../../ports/lane-event.ts";
import { ERRORS } from "../errors/errors.ts";
import type { SettledNetwork } from "../options.ts";
import { filledAmount } from "../settlement/swapped-event.ts";
import type { ServiceStore, SwapChange, SwapRow } from "../store/service-store.ts";
import type { RelayBook } from "./relay-book.ts";
import { THE_RELAYER, WOULD_REVERT } from "./send-gate.ts";

export interface RecorderDependencies {
  readonly store: ServiceStore;
  readonly book: RelayBook;
  readonly clock: Clock;
  /** why a swap that was never sent was not worth it when it was last checked */
  readonly lastReason: (intentId: string) => string | undefined;
}

/**
 * Writes into a swap's record what the lane saw of its transaction, in the lane's own database transaction.
 * pending -> success (mined in a finalised block) | error (reverted there, or its order's nonce used there) | expired
 * (its nonce went to a cancellation, or it was never signed). Before a finalised block nothing is an end: another block
 * may have another outcome.
 */
export function createSwapRecorder(network: SettledNetwork, dependencies: RecorderDependencies): LaneListener {
  const { store, clock } = dependencies;
  return {
    onIntent(event) {
      const row = store.swapBy("intent_id", event.intentId);
      if (row === undefined || row.status !== "pending") return;
      // The record names it once it is in a block; everybody may see it before that.
      if (event.kind === "replaced" && event.hash !== undefined) store.addHash(row.id, event.hash);
      const change = changeOf(event, row, { network, lastReason: dependencies.lastReason });
      if (change !== undefined) store.updateSwap(row.id, change.fields, { ms: clock.nowMs(), detail: change.detail });
      keepBook(event, store.swapBy("intent_id", event.intentId) ?? row, dependencies);
    },
  };
}

/**
 * Gas and data are paid once they are in a block, whatever for; they are earned back by a fill only. A receipt that does
 * not report the fee for data is no proof that there was none: then what was expected counts.
 */
function keepBook({ kind, intentId, receipt, outcome }: LaneEvent, row: SwapRow, to: RecorderDependencies): void {
  const { book, clock } = to;
  if (kind === "reorged") book.forgetCost(intentId);
  if (receipt === undefined || (kind !== "mined" && kind !== "final")) return;
  const isFilled = row.amountOut !== null && outcome !== "cancelled";
  const terms = book.terms(intentId);
  const earned = isFilled ? (terms?.feeWorth ?? 0n) : 0n;
  const dataFee = receipt.dataFee ?? terms?.dataFee ?? 0n;
  const paid = receipt.gasUsed * receipt.effectiveGasPrice + dataFee;
  book.writeCost(intentId, { paid, earned, reverted: !receipt.succeeded, atMs: clock.nowMs() });
}

interface Change {
  readonly fields: SwapChange;
  readonly detail: string | null;
}

function changeOf(
  event: LaneEvent,
  row: SwapRow,
  { network, lastReason }: { network: SettledNetwork; lastReason: RecorderDependencies["lastReason"] },
): Change | undefined {
  switch (event.kind) {
    case "signed":
    case "broadcast":
      return event.hash === undefined ? undefined : { fields: { hash: event.hash }, detail: null };
    case "mined": {
      if (event.receipt === undefined) return undefined;
      const { hash, blockNumber } = event.receipt;
      return { fields: { hash, blockNumber, amountOut: amountIn(event, row, network) }, detail: null };
    }
    case "reorged":
      return { fields: { blockNumber: null, amountOut: null }, detail: null };
    case "final":
      // A node may have left the event out of the receipt before.
      return finalChange(event, { ...row, amountOut: amountIn(event, row, network) ?? row.amountOut });
    case "dropped":
      return droppedChange(event, lastReason(event.intentId));
    case "confirmed":
    case "replaced":
      return undefined;
  }
}

/** What the receipt says that the order brought; null where it says nothing of it. */
function amountIn({ receipt }: LaneEvent, row: SwapRow, { settlement }: SettledNetwork): string | null {
  const order = { settlement, owner: row.wallet, nonce: BigInt(row.nonce) };
  return receipt === undefined ? null : (filledAmount(receipt.logs, order)?.toString() ?? null);
}

/** Nothing was signed, so nothing can happen any more. */
function droppedChange({ cancelledBy, reason }: LaneEvent, lastReason: string | undefined): Change {
  if (cancelledBy === THE_RELAYER) {
    const { code, message } = ERRORS.SIMULATION_REVERTED;
    const wouldRevert = lastReason?.startsWith(WOULD_REVERT) === true;
    const errorMessage = wouldRevert ? message : "The relayer ended the swap, which was not worth sending";
    return { fields: { status: "error", errorCode: code, errorMessage }, detail: lastReason ?? null };
  }
  if (cancelledBy !== undefined) {
    const { code, message } = ERRORS.ORDER_NONCE_USED;
    return { fields: { status: "error", errorCode: code, errorMessage: message }, detail: reason ?? null };
  }
  const notSent = lastReason === undefined ? "" : `; it was not sent because ${lastReason}`;
  return { fields: { status: "expired" }, detail: `${reason ?? "it was not signed in time"}${notSent}` };
}

function finalChange(event: LaneEvent, row: SwapRow): Change {
  if (event.outcome === "succeeded" && row.amountOut !== null) {
    return { fields: { status: "success", amountOut: row.amountOut }, detail: `final in block ${row.blockNumber}` };
  }
  if (event.outcome === "cancelled" && event.reason !== undefined) {
    const errorMessage = "A transaction that is not the relayer's took the place of this swap's";
    const fields: SwapChange = { status: "error", errorCode: ERRORS.INTERNAL.code, errorMessage, amountOut: null };
    return { fields, detail: event.reason };
  }
  if (event.outcome === "cancelled") {
    const fields: SwapChange = { status: "expired", hash: null, blockNumber: null, amountOut: null };
    return { fields, detail: "the deadline passed before the swap was mined" };
  }
  const reverted = event.outcome === "reverted";
  const errorMessage = reverted ? "The transaction reverted on the chain" : "The transaction has no Swapped event";
  const { code } = ERRORS[reverted ? "SIMULATION_REVERTED" : "INTERNAL"];
  const fields: SwapChange = { status: "error", errorCode: code, errorMessage, amountOut: null };
  return { fields, detail: `final in block ${row.blockNumber}` };
}
