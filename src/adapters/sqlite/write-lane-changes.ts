import type { LaneChange } from "../../ports/lane-changes.ts";
import type { LaneRowStore } from "../../ports/lane-row-store.ts";

/** Writes one change of a lane; to be called inside a transaction. */
export function writeLaneChange(
  rows: LaneRowStore,
  { change, atMs }: { readonly change: LaneChange; readonly atMs: number },
): void {
  switch (change.kind) {
    case "intent": {
      const { id, purpose, createdAtMs } = change.intent;
      rows.insertIntent(change.intent);
      const first = { from: undefined, to: "planned", atMs: createdAtMs, detail: change.detail ?? purpose } as const;
      rows.recordTransition({ intentId: id, attemptHash: undefined, ...first });
      return;
    }
    case "intent-moved": {
      const { intentId, from, to, fields, detail } = change;
      rows.updateIntent(intentId, { ...fields, state: to });
      rows.recordTransition({ intentId, attemptHash: undefined, from, to, atMs, detail });
      return;
    }
    case "nonce-given":
      rows.updateIntent(change.intentId, { nonce: change.nonce });
      return;
    case "signing":
      rows.insertSigning(change.signing);
      return;
    case "attempt": {
      const { hash, intentId, kind, signedAtMs } = change.attempt;
      rows.insertAttempt(change.attempt);
      const first = { from: undefined, to: "signed", atMs: signedAtMs, detail: kind } as const;
      rows.recordTransition({ intentId, attemptHash: hash, ...first });
      return;
    }
    case "attempt-moved": {
      const { intentId, hash, from, to, detail } = change;
      rows.updateAttempt(hash, { state: to });
      rows.recordTransition({ intentId, attemptHash: hash, from, to, atMs, detail });
      return;
    }
    case "attempt-sent":
      rows.updateAttempt(change.hash, change.sending);
      return;
    case "cost":
      rows.saveCost(change.cost);
      return;
    case "cost-forgotten":
      rows.forgetCost(change.intentId);
      return;
    case "cancel-wish":
      rows.wishCancel(change.wish);
      return;
    case "account-halted":
      rows.addHalt(change.halt);
      return;
    case "halt-released":
      rows.releaseHalt(change.account, change.chainId, { by: change.by, atMs });
      return;
  }
}
