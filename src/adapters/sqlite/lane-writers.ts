import type { LaneChange } from "../../ports/lane-changes.ts";
import type { LaneRowStore } from "../../ports/lane-row-store.ts";

type Kinds = LaneChange["kind"];
type Write<K extends Kinds> = (change: Extract<LaneChange, { kind: K }>, atMs: number) => undefined;

/** How each change of a lane is written, inside a transaction. @param lanes the rows, when one is written */
export function createLaneWriters(lanes: () => LaneRowStore): { readonly [K in Kinds]: Write<K> } {
  return {
    ...intentWriters(lanes),
    ...attemptWriters(lanes),
    "cancel-wish": ({ cancelRequest }) => void lanes().requestCancel(cancelRequest),
    "account-halted": ({ halt }) => void lanes().addHalt(halt),
    "halt-released": ({ account, chainId, by }, atMs) => void lanes().releaseHalt(account, chainId, { by, atMs }),
  };
}

/** Writes changes of lanes in their order, inside a transaction. */
export function writeLaneChanges(rows: LaneRowStore, changes: readonly LaneChange[], atMs: number): void {
  const writers = createLaneWriters(() => rows);
  const writeOne = <K extends Kinds>(kind: K, change: Extract<LaneChange, { kind: K }>): void =>
    writers[kind](change, atMs);
  for (const change of changes) writeOne(change.kind, change);
}

type IntentKinds = "intent" | "intent-moved" | "nonce-given" | "cost" | "cost-forgotten";

function intentWriters(lanes: () => LaneRowStore): { readonly [K in IntentKinds]: Write<K> } {
  const ofIntent = { attemptHash: undefined } as const;
  return {
    intent: ({ intent, detail = intent.purpose }) => {
      const { id: intentId, createdAtMs: atMs } = intent;
      lanes().insertIntent(intent);
      lanes().recordTransition({ ...ofIntent, intentId, from: undefined, to: "planned", atMs, detail });
    },
    "intent-moved": ({ intentId, from, to, fields, detail }, atMs) => {
      lanes().updateIntent(intentId, { ...fields, state: to });
      lanes().recordTransition({ ...ofIntent, intentId, from, to, atMs, detail });
    },
    "nonce-given": ({ intentId, nonce }) => void lanes().updateIntent(intentId, { nonce }),
    cost: ({ cost }) => void lanes().saveCost(cost),
    "cost-forgotten": ({ intentId }) => void lanes().forgetCost(intentId),
  };
}

type AttemptKinds = "signing" | "attempt" | "attempt-moved" | "attempt-sent";

function attemptWriters(lanes: () => LaneRowStore): { readonly [K in AttemptKinds]: Write<K> } {
  return {
    signing: ({ signing }) => void lanes().insertSigning(signing),
    attempt: ({ attempt }) => {
      const { hash: attemptHash, intentId, kind: detail, signedAtMs: atMs } = attempt;
      lanes().insertAttempt(attempt);
      lanes().recordTransition({ intentId, attemptHash, from: undefined, to: "signed", atMs, detail });
    },
    "attempt-moved": ({ intentId, hash: attemptHash, from, to, detail }, atMs) => {
      lanes().updateAttempt(attemptHash, { state: to });
      lanes().recordTransition({ intentId, attemptHash, from, to, atMs, detail });
    },
    "attempt-sent": ({ hash, sending }) => void lanes().updateAttempt(hash, sending),
  };
}
