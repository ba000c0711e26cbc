import { expect, test } from "vitest";
import { createUnitOfWork } from "../../../../src/adapters/sqlite/daemon/unit-of-work.ts";
import type { Change } from "../../../../src/ports/changes.ts";
import type { Unit } from "../../../../src/ports/unit-of-work.ts";
import { openDatabase } from "../../../../src/storage/database.ts";
import { inTransaction } from "../../../../src/storage/transaction.ts";
import { openDaemonDatabase } from "../../../support/daemon-database.ts";

const ASKED = { kind: "due-runs", limit: 9 } as const;

/** Units that write notes of the daemon, the transactions that they take, and the notes that are there. */
function open() {
  const { db, file, store } = openDaemonDatabase();
  const transactions: string[] = [];
  const notes = (): unknown[] => db.prepare("SELECT detail FROM daemon_events ORDER BY id").pluck().all();
  const { commit } = createUnitOfWork({
    transaction: (work) => {
      transactions.push("begun");
      const value = inTransaction(db, work);
      transactions.push("over");
      return value;
    },
    snapshot: (work) => work(),
    answer: () => [] as never,
    write: (changes: readonly Change[], atMs) => {
      for (const change of changes)
        if (change.kind === "daemon-event") store.addDaemonEvent("started", change.detail, atMs);
      return [];
    },
  });
  const note = (detail: string, see: () => void = () => undefined): Unit<"due-runs", string> => ({
    question: ASKED,
    decide: () => {
      see();
      return { changes: [{ kind: "daemon-event", event: "started", detail }], atMs: 1, value: detail };
    },
  });
  return { db, file, commit, note, notes, transactions };
}

test("what is asked for in one moment is one transaction, in the order of the calls, each reading what was written before", async () => {
  const { commit, note, notes, transactions } = open();
  const seen: unknown[] = [];
  const answers = await Promise.all(
    ["a", "b", "c"].map((detail) => commit([note(detail, () => seen.push(notes())), note(`${detail}2`)])),
  );
  expect(answers.map((written) => written.map(({ value }) => value))).toEqual([
    ["a", "a2"],
    ["b", "b2"],
    ["c", "c2"],
  ]);
  expect(seen).toEqual([[], ["a", "a2"], ["a", "a2", "b", "b2"]]);
  expect(transactions).toEqual(["begun", "over"]);
  await commit([note("d")]);
  expect(transactions).toHaveLength(4);
  expect(notes()).toEqual(["a", "a2", "b", "b2", "c", "c2", "d"]);
});

test("answers of one turn of the event loop are one transaction, however many waits each of them passes through", async () => {
  const { commit, note, notes, transactions } = open();
  const passed = async (detail: string, waits: number): Promise<void> => {
    for (let wait = 0; wait < waits; wait += 1) await undefined;
    await commit([note(detail)]);
  };
  await Promise.all([passed("a", 9), passed("b", 0), passed("c", 3)]);
  expect(transactions).toEqual(["begun", "over"]);
  expect(notes()).toEqual(["b", "c", "a"]);
});

test("nobody hears that something is written before the transaction is over", async () => {
  const { commit, note, transactions } = open();
  const heard = async (detail: string) => {
    await commit([note(detail)]);
    transactions.push(detail);
  };
  await Promise.all([heard("a"), heard("b")]);
  expect(transactions).toEqual(["begun", "over", "a", "b"]);
});

test("of several of which one throws all others are written, in their order, and nothing of that one", async () => {
  const { commit, note, notes } = open();
  const broken = note("b", () => {
    throw new Error("an invariant is broken");
  });
  const answers = await Promise.allSettled([commit([note("a")]), commit([note("b1"), broken]), commit([note("c")])]);
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(notes()).toEqual(["a", "c"]);
});

test("where the database cannot be written, everyone hears of it", async () => {
  const { db, commit, note, notes } = open();
  db.pragma("query_only = ON");
  const answers = await Promise.allSettled(["a", "b"].map((detail) => commit([note(detail)])));
  expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  db.pragma("query_only = OFF");
  expect(notes()).toEqual([]);
  await commit([note("later")]);
  expect(notes()).toEqual(["later"]);
});

test("a lock that another process holds is waited for once, however many are waiting", async () => {
  const { db, file, commit, note, notes } = open();
  db.pragma("busy_timeout = 100");
  const other = openDatabase({ file });
  other.exec("BEGIN IMMEDIATE");
  const beganMs = performance.now();
  const answers = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => commit([note(String(index))])));
  expect(performance.now() - beganMs).toBeLessThan(1_000);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => "rejected"));
  other.exec("ROLLBACK");
  other.close();
  await commit([note("later")]);
  expect(notes()).toEqual(["later"]);
});
