import type { TransactionChange } from "../domain/run/events.ts";
import type { LaneEvent, LaneListener } from "../lane/lane-event.ts";
import type { Receipt } from "../ports/chain.ts";
import type { LaneRowStore } from "../ports/lane-row-store.ts";
import type { RunStore } from "../ports/store.ts";
import type { Committer } from "./commit.ts";

/**
 * Carries what a lane reports into the run that asked for the transaction. It is called inside the lane's own
 * transaction, so the attempt's row and the swap's row change together. Revocations of the janitor belong to no run.
 */
export function createLaneListener(
  stores: { runs: RunStore; lanes: LaneRowStore },
  committer: () => Pick<Committer, "commitHere">,
): LaneListener {
  return {
    onIntent: (event) => {
      const owner = stores.runs.runOfIntent(event.intentId);
      const change = changeOf(event, () => stores.lanes.intent(event.intentId)?.value ?? 0n);
      if (owner === undefined || change === undefined) return;
      const { runId, swapId } = owner;
      committer().commitHere({ runId, event: { kind: "transaction", swapId, intentId: event.intentId, change } });
    },
  };
}

function changeOf(event: LaneEvent, value: () => bigint): TransactionChange | undefined {
  switch (event.kind) {
    case "signed":
    case "broadcast":
      return event.hash === undefined ? undefined : { kind: event.kind, hash: event.hash };
    case "mined":
      return event.receipt === undefined ? undefined : { kind: "mined", receipt: event.receipt, value: value() };
    case "confirmed":
      return event.receipt === undefined
        ? undefined
        : { kind: "confirmed", succeeded: event.receipt.succeeded, ...receiptAgain(event.receipt, value) };
    case "reorged":
      return { kind: "reorged" };
    case "final":
      return event.outcome === undefined
        ? undefined
        : { kind: "final", outcome: event.outcome, ...receiptAgain(event.receipt, value) };
    case "dropped":
      return {
        kind: "dropped",
        reason: event.reason ?? "it was not signed in time",
        ...(event.cancelledBy === undefined ? {} : { byPerson: true }),
      };
    case "replaced":
      return undefined;
  }
}

/** What a fill is measured from once more; a revert exchanged nothing. */
function receiptAgain(receipt: Receipt | undefined, value: () => bigint): { receipt?: Receipt; value?: bigint } {
  return receipt?.succeeded === true ? { receipt, value: value() } : {};
}
