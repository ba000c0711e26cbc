import type { RunEvent, TransactionChange } from "../domain/run/events.ts";
import type { Receipt } from "../ports/chain.ts";
import type { LaneEvent } from "../ports/lane-event.ts";

/**
 * What a lane reports, as an event of the run that asked for the transaction.
 * @param of.value the native coin that the intent carries, wei
 * @returns undefined where it is the lane's own matter
 */
export function runEventOf(
  event: LaneEvent,
  { swapId, value }: { readonly swapId: string; readonly value: bigint },
): RunEvent | undefined {
  const change = changeOf(event, value);
  return change === undefined ? undefined : { kind: "transaction", swapId, intentId: event.intentId, change };
}

function changeOf(event: LaneEvent, value: bigint): TransactionChange | undefined {
  switch (event.kind) {
    case "signed":
    case "broadcast":
      return event.hash === undefined ? undefined : { kind: event.kind, hash: event.hash };
    case "mined":
      return event.receipt === undefined ? undefined : { kind: "mined", receipt: event.receipt, value: value };
    case "confirmed":
      return event.receipt === undefined
        ? undefined
        : { kind: "confirmed", succeeded: event.receipt.succeeded, ...receiptAgain(event.receipt, value) };
    case "reorged":
      return { kind: "reorged" };
    case "final":
      return event.outcome === undefined
        ? undefined
        : {
            ...{ kind: "final", outcome: event.outcome, ...receiptAgain(event.receipt, value) },
            ...(event.keptBack === undefined ? {} : { keptBack: true }),
            ...asked(event),
          };
    case "dropped":
      return {
        kind: "dropped",
        reason: event.reason ?? "it was not signed in time",
        ...asked(event),
      };
    case "replaced":
      return undefined;
  }
}

/** That a person asked for its end. */
function asked({ cancelledBy }: LaneEvent): { byPerson?: true } {
  return cancelledBy === undefined ? {} : { byPerson: true };
}

/** What a fill is measured from once more; a revert exchanged nothing. */
function receiptAgain(receipt: Receipt | undefined, value: bigint): { receipt?: Receipt; value?: bigint } {
  return receipt?.succeeded === true ? { receipt, value: value } : {};
}
