import { expect, test } from "vitest";
import { ACCOUNT, attemptRow, intentRow, openLaneDatabase } from "../../support/lane-database.ts";

const block = { minedBlockNumber: 9, minedBlockHash: "0xbb", minedAttemptHash: "0xaa" } as const;
const noBlock = { minedBlockNumber: undefined, minedBlockHash: undefined, minedAttemptHash: undefined };

test("rows come back as they were written, amounts with every digit", () => {
  const { store } = openLaneDatabase();
  const intent = intentRow({ deadlineSeconds: 77 });
  store.insertIntent(intent);
  expect(store.intent("tx_1")).toEqual(intent);
  expect(store.intent("tx_2")).toBeUndefined();
  const attempt = attemptRow();
  store.insertAttempt(attempt);
  store.updateAttempt(attempt.hash, { state: "broadcast", firstBroadcastBlock: 3, lastBroadcastBlock: 4 });
  store.updateAttempt(attempt.hash, { lastBroadcastBlock: undefined });
  expect(store.attempts("tx_1")).toEqual([{ ...attempt, state: "broadcast", firstBroadcastBlock: 3 }]);
  const signing = {
    ...{ intentId: "tx_1", kind: "original" as const, nonce: 0, to: intent.to, data: intent.data },
    ...{
      value: intent.value,
      gasLimit: 1n,
      maxFeePerGas: 2n,
      maxPriorityFeePerGas: 3n,
      visibility: "private" as const,
      atMs: 4,
    },
  };
  store.insertSigning(signing);
  expect(store.signings("tx_1")).toEqual([signing]);
});

test("open intents come oldest first, whatever the clock said", () => {
  const { store } = openLaneDatabase();
  store.insertIntent(intentRow({ id: "a", createdAtMs: 500 }));
  store.insertIntent(intentRow({ id: "b", createdAtMs: 400 }));
  store.insertIntent(intentRow({ id: "c", state: "dropped" }));
  expect(store.openIntents(ACCOUNT, 31337).map(({ id }) => id)).toEqual(["a", "b"]);
  expect(store.openIntents(ACCOUNT, 1)).toEqual([]);
});

test("two intents can neither share a nonce nor be in flight together", () => {
  const { store } = openLaneDatabase();
  expect(store.account(ACCOUNT, 31337).highestNonce).toBeUndefined();
  store.insertIntent(intentRow({ id: "a" }));
  store.insertIntent(intentRow({ id: "b" }));
  store.updateIntent("a", { nonce: 0 });
  expect(() => store.updateIntent("b", { nonce: 0 })).toThrow(/UNIQUE/);
  expect(() => store.updateIntent("b", { nonce: 1 })).toThrow(/UNIQUE/);
  store.updateIntent("a", { state: "signed" });
  store.updateIntent("a", { state: "mined", ...block });
  expect(() => store.updateIntent("b", { nonce: 1 })).toThrow(/UNIQUE/);
  store.updateIntent("a", { state: "confirmed" });
  store.updateIntent("b", { nonce: 1 });
  expect(store.account(ACCOUNT, 31337).highestNonce).toBe(1);
});

test("a reorg may bring a confirmed intent back alongside the one in flight", () => {
  const { store } = openLaneDatabase();
  store.insertIntent(intentRow({ id: "a", nonce: 0, state: "signed" }));
  store.updateIntent("a", { state: "mined", ...block });
  store.updateIntent("a", { state: "confirmed" });
  store.insertIntent(intentRow({ id: "b", nonce: 1, state: "signed" }));
  store.updateIntent("a", { state: "broadcast", ...noBlock });
  expect(store.openIntents(ACCOUNT, 31337).map(({ state }) => state)).toEqual(["broadcast", "signed"]);
});

test("a dropped intent gives its nonce back, and no other state may lack one", () => {
  const { store } = openLaneDatabase();
  store.insertIntent(intentRow({ nonce: 4 }));
  expect(() => store.updateIntent("tx_1", { state: "dropped" })).toThrow(/CHECK/);
  expect(() => store.updateIntent("tx_1", { state: "signed", nonce: undefined })).toThrow(/CHECK/);
  store.updateIntent("tx_1", { state: "dropped", nonce: undefined });
  expect(store.account(ACCOUNT, 31337).highestNonce).toBeUndefined();
});

test("what was asked, signed and written down cannot be changed or removed", () => {
  const { store, db } = openLaneDatabase();
  store.insertIntent(intentRow({ nonce: 0, state: "signed" }));
  store.insertAttempt(attemptRow());
  store.recordTransition({
    ...{ intentId: "tx_1", attemptHash: undefined, from: undefined, to: "planned", atMs: 1, detail: "why" },
  });
  expect(store.transitions("tx_1")).toMatchObject([{ to: "planned", detail: "why", from: undefined }]);
  for (const sql of [
    "UPDATE lane_intents SET value = '1'",
    "DELETE FROM lane_intents",
    "UPDATE lane_attempts SET raw = '0x03'",
    "DELETE FROM lane_attempts",
    "UPDATE lane_transitions SET detail = ''",
    "DELETE FROM lane_transitions",
  ]) {
    expect(() => db.exec(sql), sql).toThrow(/never|append-only/);
  }
  store.updateIntent("tx_1", { state: "mined", ...block });
  store.updateIntent("tx_1", { state: "confirmed" });
  store.updateIntent("tx_1", { state: "final", outcome: "succeeded" });
  expect(() => store.updateIntent("tx_1", { state: "broadcast" })).toThrow(/no such move|ended never changes/);
  expect(() => store.updateIntent("tx_9", { state: "broadcast" })).toThrow(/no row/);
});

test("a listener's writes and the lane's are committed together or not at all", () => {
  const { store, db } = openLaneDatabase();
  db.exec("CREATE TABLE listener (x INTEGER) STRICT");
  const work = () =>
    store.transaction(() => {
      store.insertIntent(intentRow());
      store.transaction(() => void db.prepare("INSERT INTO listener VALUES (1)").run());
      throw new Error("the listener broke");
    });
  expect(work).toThrow("the listener broke");
  expect(store.intent("tx_1")).toBeUndefined();
  expect(db.prepare("SELECT count(*) FROM listener").pluck().get()).toBe(0);
});

test("a halt lasts until it is released, and what was accepted by a release is remembered", () => {
  const { store, db } = openLaneDatabase();
  const halt = { account: ACCOUNT, chainId: 31337, reason: "foreign nonce", transactionCount: 4, atMs: 8 };
  expect(store.halt(ACCOUNT, 31337)).toBeUndefined();
  store.addHalt(halt);
  expect(store.halt(ACCOUNT, 31337)).toEqual(halt);
  expect(store.halts()).toEqual([halt]);
  expect(store.halt(ACCOUNT, 1)).toBeUndefined();
  expect(() => store.addHalt(halt)).toThrow("UNIQUE");
  expect(store.account(ACCOUNT, 31337).acceptedCount).toBe(0);
  store.releaseHalt(ACCOUNT, 31337, { by: "ann", atMs: 9 });
  expect(store.halt(ACCOUNT, 31337)).toBeUndefined();
  expect(store.halts()).toEqual([]);
  expect(store.account(ACCOUNT, 31337).acceptedCount).toBe(4);
  expect(store.account(ACCOUNT, 1).acceptedCount).toBe(0);
  store.addHalt({ ...halt, transactionCount: 7 });
  expect(store.account(ACCOUNT, 31337).acceptedCount).toBe(4);
  expect(() => db.exec("DELETE FROM lane_halts")).toThrow("never deleted");
  expect(() => db.exec("UPDATE lane_halts SET transaction_count = 9 WHERE id = 1")).toThrow("never changes");
});

test("an intent ends without a block only where something else took its nonce", () => {
  const { store } = openLaneDatabase();
  store.insertIntent(intentRow({ state: "broadcast", nonce: 3 }));
  expect(() => store.updateIntent("tx_1", { state: "final", outcome: "succeeded" })).toThrow("CHECK");
  store.updateIntent("tx_1", { state: "final", outcome: "cancelled" });
  expect(store.intent("tx_1")?.outcome).toBe("cancelled");
});
