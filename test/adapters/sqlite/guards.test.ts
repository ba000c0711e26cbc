import { expect, test } from "vitest";
import { RUN_TRANSITIONS, SWAP_TRANSITIONS } from "../../../src/domain/run/states.ts";
import { ATTEMPT_TRANSITIONS, INTENT_TRANSITIONS } from "../../../src/lane/transitions.ts";
import type { SqliteDatabase } from "../../../src/storage/database.ts";
import { HUNDRED_USDC, NOW_MS, runSample } from "../../support/builders.ts";
import { addRun, openDaemonDatabase, saveAs } from "../../support/daemon-database.ts";
import { attemptRow, intentRow } from "../../support/lane-database.ts";
import { swapIn } from "../../support/reading-samples.ts";

type Table = Readonly<Record<string, readonly string[]>>;

/** All moves of a table as the database would list them. */
function movesOf(subject: string, table: Table, first: string): readonly string[] {
  const moves = Object.entries(table).flatMap(([from, next]) => next.map((to) => `${subject} ${from} > ${to}`));
  return [`${subject}  > ${first}`, ...moves].sort();
}

function listed(db: SqliteDatabase, table: "moves" | "lane_moves"): readonly string[] {
  const sql = `SELECT subject || ' ' || from_state || ' > ' || to_state FROM ${table}`;
  return db.prepare<[], string>(sql).pluck().all().sort();
}

test("the database lists exactly the moves that the program's tables list", () => {
  const { db } = openDaemonDatabase();
  const daemon = [...movesOf("run", RUN_TRANSITIONS, "due"), ...movesOf("swap", SWAP_TRANSITIONS, "planned")];
  expect(listed(db, "moves")).toEqual(daemon.sort());
  const lane = [
    ...movesOf("intent", INTENT_TRANSITIONS, "planned"),
    ...movesOf("attempt", ATTEMPT_TRANSITIONS, "signed"),
  ];
  expect(listed(db, "lane_moves")).toEqual(lane.sort());
});

function move(db: SqliteDatabase, subject: string, id: string, [from, to]: readonly [string | null, string]): void {
  db.prepare("INSERT INTO transitions (subject, subject_id, from_state, to_state, at_ms) VALUES (?, ?, ?, ?, 0)").run(
    subject,
    id,
    from,
    to,
  );
}

test("a transition that no table lists, of nothing, or not from where the last one ended is refused", () => {
  const { db, store } = openDaemonDatabase();
  addRun(store, runSample({ state: "executing", swaps: [swapIn("final")] }));
  expect(() => move(db, "swap", "run_1.0.1", ["final", "planned"])).toThrow("no table lists this transition");
  expect(() => move(db, "run", "run_1", ["executing", "due"])).toThrow("no table lists this transition");
  expect(() => move(db, "swap", "run_9.0.1", [null, "planned"])).toThrow("a transition of nothing");
  expect(() => move(db, "swap", "run_1.0.1", ["confirmed", "final"])).toThrow("begins where the last one ended");
  expect(() => move(db, "swap", "run_1.0.1", [null, "planned"])).toThrow("begins where the last one ended");
  move(db, "run", "run_1", ["executing", "filled"]);
});

test("a state changes by its transition alone, and begins where the machine begins", () => {
  const { db, store } = openDaemonDatabase();
  const run = addRun(store, runSample({ state: "executing", swaps: [swapIn("submitted")] }));
  expect(() => db.exec("UPDATE swaps SET state = 'final'")).toThrow("changes by a transition");
  expect(() => db.exec("UPDATE runs SET state = 'filled'")).toThrow("changes by a transition");
  expect(() => store.insertRun(runSample({ id: "run_2", slotMs: 1, state: "filled" }), NOW_MS)).toThrow("as due");
  const late = { ...swapIn("final"), id: "run_1.1.1", position: 1 };
  expect(() => store.saveRun({ ...run, swaps: [late] }, [], NOW_MS)).toThrow("begins as planned");
});

test("what a swap is about never changes, and nothing of one that was signed is lost or written anew", () => {
  const { db, store } = openDaemonDatabase();
  const run = addRun(store, runSample({ state: "executing", swaps: [swapIn("confirmed")] }));
  for (const column of ["wallet", "recipient", "sell_token", "buy_token", "run_id"]) {
    expect(() => db.exec(`UPDATE swaps SET ${column} = 'x'`), column).toThrow("never changes");
  }
  expect(() => db.exec("UPDATE runs SET slot_ms = 1")).toThrow("never changes");
  saveAs(store, { ...run, swaps: [swapIn("final")] });
  for (const column of ["amount_out_min", "mode", "quote_id", "hash", "sold", "bought", "nonce"]) {
    expect(() => db.exec(`UPDATE swaps SET ${column} = NULL, amount_in = '1'`), column).toThrow("never changes");
  }
  db.exec("UPDATE swaps SET distributions = '[]', service_record = '{}'");
  db.pragma("foreign_keys = OFF");
  expect(() => db.exec("DELETE FROM swaps")).toThrow("never deleted");
});

test("the money of a swap changes by its settlement alone", () => {
  const { db, store } = openDaemonDatabase();
  const run = addRun(store, runSample({ state: "executing", swaps: [swapIn("submitted")] }));
  const ledger = (): unknown => db.prepare("SELECT amount, usd, state FROM ledger").get();
  expect(() => db.exec("UPDATE ledger SET amount = '1'")).toThrow("by its settlement");
  for (const column of ["strategy", "wallet", "token"]) {
    expect(() => db.exec(`UPDATE ledger SET ${column} = 'x'`), column).toThrow("never changes");
  }
  store.writeRecord(run, { kind: "value", swapId: "run_1.0.1", usd: 7n }, NOW_MS);
  store.writeRecord(run, { kind: "spend", swapId: "run_1.0.1", amount: HUNDRED_USDC - 1n }, NOW_MS);
  expect(() => db.exec("UPDATE ledger SET usd = '0'")).toThrow("never changes");
  expect(() => db.exec("UPDATE ledger SET amount = '1'")).toThrow("by its settlement");
  expect(() => db.exec("UPDATE ledger SET state = 'released'")).toThrow("no such move");
  expect(() => db.exec("DELETE FROM ledger")).toThrow("never forgotten");
  expect(ledger()).toEqual({ amount: (HUNDRED_USDC - 1n).toString(), usd: "7", state: "spent" });
  store.writeRecord(run, { kind: "unspend", swapId: "run_1.0.1", amount: HUNDRED_USDC }, NOW_MS);
  store.writeRecord(run, { kind: "release", swapId: "run_1.0.1" }, NOW_MS);
  expect(() => db.exec("UPDATE ledger SET state = 'reserved'")).toThrow("no such move");
});

test("an intent and its attempts move as their tables list it", () => {
  const { db, lanes } = openDaemonDatabase();
  lanes.insertIntent(intentRow({ id: "a", state: "planned" }));
  const add = (from: string | null, to: string): void => {
    db.prepare("INSERT INTO lane_transitions (intent_id, from_state, to_state, at_ms) VALUES ('a', ?, ?, 0)").run(
      from,
      to,
    );
  };
  expect(() => add(null, "final")).toThrow("no table lists");
  add(null, "planned");
  expect(() => add("signed", "broadcast")).toThrow("begins where the last one ended");
  expect(() => db.exec("UPDATE lane_intents SET state = 'confirmed'")).toThrow("no such move");
  lanes.insertAttempt(attemptRow({ intentId: "a", state: "signed" }));
  expect(() => db.exec("UPDATE lane_attempts SET state = 'reverted'")).toThrow("no such move");
});
