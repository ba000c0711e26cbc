import fc from "fast-check";
import { expect, test } from "vitest";
import { runMemoryOf } from "../../../../src/adapters/sqlite/daemon/run-memory.ts";
import { createRunRows } from "../../../../src/adapters/sqlite/daemon/run-rows.ts";
import type { DaemonStore } from "../../../../src/adapters/sqlite/daemon/store.ts";
import { prepareStatements } from "../../../../src/adapters/sqlite/statements.ts";
import { inTransaction } from "../../../../src/storage/transaction.ts";
import { runSample, swapSample } from "../../../support/builders.ts";
import { addRun, openDaemonDatabase, saveAs } from "../../../support/daemon-database.ts";
import { swapIn } from "../../../support/reading-samples.ts";

const SIDES = ["a", "b"] as const;
const STATES = ["planned", "quoted", "signed", "confirmed"] as const;

/** One write of a run: another reason of its own, or another state of its swap. */
type Act = (store: DaemonStore) => void;

function runOf(side: string) {
  return runSample({
    id: `run_${side}`,
    strategyId: side,
    swaps: [swapSample({ id: `run_${side}.0.1`, runId: `run_${side}` })],
  });
}

const acts: fc.Arbitrary<Act> = fc.oneof(
  fc.tuple(fc.constantFrom(...SIDES), fc.string()).map(
    ([side, reason]): Act =>
      (store) =>
        saveAs(store, { ...(store.run(`run_${side}`) ?? runOf(side)), reason }),
  ),
  fc.tuple(fc.constantFrom(...SIDES), fc.constantFrom(...STATES)).map(
    ([side, state]): Act =>
      (store) =>
        saveAs(store, { ...runOf(side), swaps: [swapIn(state, { id: `run_${side}.0.1`, runId: `run_${side}` })] }),
  ),
);

test("a run that is read from memory is what the rows say, also after what was written is taken back", () => {
  const turns = fc.array(fc.record({ acts: fc.array(acts, { maxLength: 3 }), fails: fc.boolean() }), { maxLength: 8 });
  fc.assert(
    fc.property(turns, (all) => {
      const { store, db } = openDaemonDatabase();
      const runs = (from: Pick<DaemonStore, "run">): unknown => SIDES.map((side) => from.run(`run_${side}`));
      for (const side of SIDES) addRun(store, runOf(side));
      for (const turn of all) {
        try {
          inTransaction(db, () => {
            for (const act of turn.acts) {
              act(store);
              // What is read here may be taken back.
              runs(store);
            }
            if (turn.fails) throw new Error("the disk is full");
          });
        } catch {
          // What was written is taken back.
        }
        expect(runs(store)).toEqual(runs(createRunRows(prepareStatements(db))));
      }
    }),
    { numRuns: 30 },
  );
});

test("a run is read once until it is written, and what was read long ago is read again", () => {
  const { db } = openDaemonDatabase();
  const memory = runMemoryOf(db);
  let readings = 0;
  const read = (id: string, length = 8_000) =>
    memory.read(id, () => {
      readings += 1;
      return { run: runSample({ id, retries: readings }), length };
    });
  expect([read("first"), read("first")].map((run) => run?.retries)).toEqual([1, 1]);
  memory.forget("first");
  expect(read("first")?.retries).toBe(2);
  for (let index = 0; index < 999; index += 1) read(`run_${index}`);
  expect(read("first")?.retries).toBe(2);
  read("one more");
  expect(read("first")?.retries).toBe(1_002 + 1);
});

test("runs that a service made long are kept as far as there is room: a thousand of them would be gigabytes", () => {
  const { db } = openDaemonDatabase();
  const memory = runMemoryOf(db);
  const read = (id: string) => memory.read(id, () => ({ run: runSample({ id }), length: 3_000_000 }));
  const [first, second] = [read("a"), read("b")];
  expect([read("a"), read("b")]).toEqual([first, second]);
  expect([read("a") === first, read("b") === second]).toEqual([true, true]);
  read("c");
  expect([read("b") === second, read("a") === first]).toEqual([true, false]);
});
