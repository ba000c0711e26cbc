import type { LaneEvent, LaneListener } from "../../lane/lane-event.ts";
import type { Clock } from "../../ports/clock.ts";
import { ERRORS } from "../errors.ts";
import type { NetworkOptions } from "../options.ts";
import { filledAmount } from "../settlement/swapped-event.ts";
import type { ServiceStore, SwapChange, SwapRow } from "../store/service-store.ts";

/**
 * Writes into a swap's record what the lane saw of its transaction, in the lane's own database transaction.
 * pending -> success (mined in a finalised block) | error (reverted there) | expired (its nonce went to a cancellation,
 * or it was never signed). Before a finalised block nothing is an end: another block may tell another story.
 */
export function createSwapRecorder(store: ServiceStore, network: NetworkOptions, clock: Clock): LaneListener {
  return {
    onIntent(event) {
      const row = store.swapBy("intent_id", event.intentId);
      if (row === undefined || row.status !== "pending") return;
      const change = changeOf(event, row, network);
      if (change === undefined) return;
      store.updateSwap(row.id, change.fields, { ms: clock.nowMs(), detail: change.detail });
    },
  };
}

interface Change {
  readonly fields: SwapChange;
  readonly detail: string | null;
}

function changeOf(event: LaneEvent, row: SwapRow, network: NetworkOptions): Change | undefined {
  switch (event.kind) {
    case "signed":
    case "broadcast":
      return event.hash === undefined ? undefined : { fields: { hash: event.hash }, detail: null };
    case "mined": {
      if (event.receipt === undefined) return undefined;
      const { hash, blockNumber, logs } = event.receipt;
      const order = { settlement: network.settlement, owner: row.wallet, nonce: BigInt(row.nonce) };
      const amountOut = filledAmount(logs, order)?.toString() ?? null;
      return { fields: { hash, blockNumber, amountOut }, detail: null };
    }
    case "reorged":
      return { fields: { blockNumber: null, amountOut: null }, detail: null };
    case "final":
      return finalChange(event, row);
    case "dropped":
      return { fields: { status: "expired" }, detail: event.reason ?? "it was not signed in time" };
    case "confirmed":
    case "replaced":
      return undefined;
  }
}

function finalChange(event: LaneEvent, row: SwapRow): Change {
  if (event.outcome === "succeeded" && row.amountOut !== null) {
    return { fields: { status: "success" }, detail: `final in block ${row.blockNumber}` };
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
