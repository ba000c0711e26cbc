import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DaemonStore } from "../../../../src/adapters/sqlite/daemon/store.ts";
import { createStore } from "../../../../src/adapters/sqlite/daemon/store.ts";
import type { Effect } from "../../../../src/domain/run/effects.ts";
import type { EffectGroup } from "../../../../src/ports/daemon-rows.ts";
import { openDatabase, type SqliteDatabase } from "../../../../src/storage/database.ts";
import { runSample, SLOT_MS, swapSample } from "../../../support/builders.ts";
import { addRun, openDaemonDatabase } from "../../../support/daemon-database.ts";
import { collectStatements } from "../../../support/query-plans.ts";

const GROUPS: readonly EffectGroup[] = ["polls", "routes", "others", "submissions", "no routes"];
const KINDS: readonly Effect[] = [
  { kind: "ReadChain", swapId: "run_1.0.1" },
  { kind: "FetchRoute", swapId: "run_1.0.1", what: "route" },
  { kind: "ReadView" },
  { kind: "SubmitGasless", swapId: "run_1.0.1" },
];

/** One act on the store, as the daemon does them. */
type Act =
  | { readonly kind: "add"; readonly effect: Effect; readonly atMs: number; readonly delayMs: number }
  | { readonly kind: "finish" | "postpone"; readonly id: number; readonly atMs: number }
  | { readonly kind: "hasten"; readonly atMs: number };

const instants = fc.integer({ min: 0, max: 40 });
const ids = fc.integer({ min: 1, max: 12 });
const acts: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ kind: fc.constant("add"), effect: fc.constantFrom(...KINDS), atMs: instants, delayMs: instants }),
  fc.record({ kind: fc.constantFrom("finish", "postpone"), id: ids, atMs: instants }),
  fc.record({ kind: fc.constant("hasten"), atMs: instants }),
);

function perform(store: DaemonStore, act: Act): void {
  if (act.kind === "add") {
    store.addEffects("run_1", [{ effect: act.effect, notBeforeMs: act.atMs + act.delayMs }], act.atMs);
  }
  if (act.kind === "finish") store.finishEffect(act.id);
  if (act.kind === "postpone") store.postponeEffect(act.id, act.atMs);
  if (act.kind === "hasten") store.hastenEffects(act.atMs);
}

/** Performs acts together; some of them end in a fault, with what came before them. */
function performTogether(store: DaemonStore, turn: { acts: readonly Act[]; fails: boolean }): void {
  const failure = new Error("the disk is full");
  try {
    store.transaction(() => {
      for (const act of turn.acts) perform(store, act);
      if (turn.fails) throw failure;
    });
  } catch (error) {
    if (error !== failure) throw error;
  }
}

/** What a daemon that starts on this file would do. */
function answers(store: DaemonStore): unknown {
  const due = GROUPS.flatMap((group) => [0, 10, 25, 100].map((nowMs) => store.dueEffects(nowMs, 3, group)));
  return [due, store.dueEffects(100, 99, "no routes"), store.nextEffectMs(), store.dueRuns(9)];
}

function withFreshStore<T>(file: string, ask: (store: DaemonStore, db: SqliteDatabase) => T): T {
  const db = openDatabase({ file });
  try {
    return ask(createStore(db), db);
  } finally {
    db.close();
  }
}

describe("what is to be done is distinguished from memory as the rows have it", () => {
  test("whatever was added, answered, put off and hastened, in transactions that hold and others that are taken back", () => {
    const turns = fc.array(fc.record({ acts: fc.array(acts, { maxLength: 4 }), fails: fc.boolean() }), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(turns, (all) => {
        const { file, store, db } = openDaemonDatabase();
        addRun(store, runSample({ swaps: [swapSample()] }));
        for (const turn of all) {
          performTogether(store, turn);
          expect(answers(store)).toEqual(withFreshStore(file, answers));
        }
        db.close();
      }),
      { numRuns: 60 },
    );
  });

  test("a run that was inserted by what was taken back does not begin, and one that was begun by it begins again", () => {
    const { store } = openDaemonDatabase();
    const due = runSample({ state: "due" });
    expect(store.dueRuns(9)).toEqual([]);
    const insertAndFail = (): void => {
      store.transaction(() => {
        store.insertRun(due, 1);
        throw new Error("the disk is full");
      });
    };
    expect(insertAndFail).toThrow("the disk is full");
    expect(store.dueRuns(9)).toEqual([]);
    store.insertRun(due, 1);
    expect(store.dueRuns(9)).toEqual(["run_1"]);
    store.insertRun({ ...due, id: "run_2", slotMs: SLOT_MS + 1 }, 1);
    expect(store.dueRuns(1)).toEqual(["run_1"]);
    expect(store.dueRuns(9)).toEqual(["run_1", "run_2"]);
  });

  test("and what fails in the lanes' part of a transaction is taken back here too", () => {
    const { store, lanes } = openDaemonDatabase();
    addRun(store, runSample({ swaps: [swapSample()] }));
    expect(store.nextEffectMs()).toBeUndefined();
    const addAndFail = (): void => {
      lanes.transaction(() => {
        store.transaction(() => store.addEffects("run_1", [{ effect: { kind: "ReadView" }, notBeforeMs: 1 }], 1));
        throw new Error("the disk is full");
      });
    };
    expect(addAndFail).toThrow("the disk is full");
    expect(store.nextEffectMs()).toBeUndefined();
    expect(store.dueEffects(9, 9, "no routes")).toEqual([]);
  });

  test("without a question to the database while nobody writes", () => {
    const { store, db } = openDaemonDatabase();
    addRun(store, runSample({ swaps: [swapSample()] }));
    store.addEffects("run_1", [{ effect: { kind: "ReadView" }, notBeforeMs: 1 }], 1);
    const before = answers(store);
    const statements = collectStatements(db);
    // Another store of the same connection has prepared nothing yet, so that whatever it asks is seen.
    expect(answers(createStore(db))).toEqual(before);
    expect([...statements]).toEqual([]);
  });

  test("the row of an effect goes with its answer, and its id is not given to another one, after a start either", () => {
    const { file, store, db } = openDaemonDatabase();
    addRun(store, runSample({ swaps: [swapSample()] }));
    const add = (to: DaemonStore): void =>
      to.addEffects("run_1", [{ effect: { kind: "ReadView" }, notBeforeMs: 1 }], 1);
    const idsOf = (from: DaemonStore): readonly number[] => from.dueEffects(9, 9, "others").map(({ id }) => id);
    add(store);
    const [first = 0] = idsOf(store);
    store.finishEffect(first);
    expect(db.prepare("SELECT count(*) FROM effects").pluck().get()).toBe(0);
    withFreshStore(file, (again) => {
      add(again);
      expect(idsOf(again)).toEqual([first + 1]);
    });
  });
});
