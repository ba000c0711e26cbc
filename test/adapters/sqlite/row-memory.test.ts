import fc from "fast-check";
import { expect, test } from "vitest";
import { createLaneRows } from "../../../src/adapters/sqlite/lane-rows.ts";
import { lanesIn } from "../../../src/adapters/sqlite/lanes.ts";
import { rowMemoryOf } from "../../../src/adapters/sqlite/row-memory.ts";
import type { LaneRowStore } from "../../../src/ports/lane-row-store.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { ACCOUNT, intentRow, openLaneDatabase } from "../../support/lane-database.ts";

const CHAIN = 31_337;
const HALT = { account: ACCOUNT, chainId: CHAIN, reason: "a stranger", transactionCount: 3, atMs: 5 };
const IDS = ["a", "b", "c"] as const;

/** One write of a lane, as lanes and people make them. */
type Act = (rows: LaneRowStore) => unknown;

const acts: fc.Arbitrary<Act> = fc.oneof(
  fc.constantFrom(...IDS).map(
    (id): Act =>
      (rows) =>
        rows.insertIntent(intentRow({ id, purpose: "relay" })),
  ),
  fc.constantFrom(...IDS).map(
    (id): Act =>
      (rows) =>
        rows.updateIntent(id, { nonce: IDS.indexOf(id), state: "signed" }),
  ),
  fc.constantFrom(...IDS).map(
    (id): Act =>
      (rows) =>
        rows.updateIntent(id, { state: "dropped" }),
  ),
  fc.constantFrom(...IDS).map(
    (id): Act =>
      (rows) =>
        rows.forgetUnsigned(id),
  ),
  fc.constant<Act>((rows) => rows.addHalt(HALT)),
  fc.constant<Act>((rows) => rows.releaseHalt(ACCOUNT, CHAIN, { by: "ada", atMs: 6 })),
  fc.constant<Act>((rows) => rows.acceptCount({ ...HALT, transactionCount: 9 }, { by: "ada", atMs: 7 })),
);

function answers(rows: LaneRowStore): unknown {
  return [rows.openIntents(ACCOUNT, CHAIN), rows.account(ACCOUNT, CHAIN)];
}

test("what a lane is told from memory is what the rows say, also after what was written is taken back", () => {
  const turns = fc.array(fc.record({ acts: fc.array(acts, { maxLength: 3 }), fails: fc.boolean() }), { maxLength: 12 });
  fc.assert(
    fc.property(turns, (all) => {
      const { db } = openLaneDatabase();
      const rows = createLaneRows(db, rowMemoryOf(db, "lanes"));
      for (const turn of all) {
        try {
          rows.transaction(() => {
            for (const act of turn.acts) {
              act(rows);
              // What is read here may be taken back.
              answers(rows);
            }
            if (turn.fails) throw new Error("the disk is full");
          });
        } catch {
          // What the rows refuse is taken back, too.
        }
        expect(answers(rows)).toEqual(answers(createLaneRows(db)));
      }
    }),
  );
});

test("a service asks the rows each time: its halted relayer is released by another process", () => {
  const { db, file } = openLaneDatabase();
  const { rows } = lanesIn(db);
  rows.addHalt(HALT);
  expect(rows.account(ACCOUNT, CHAIN).halt).toEqual(HALT);
  const other = openDatabase({ file });
  lanesIn(other).rows.releaseHalt(ACCOUNT, CHAIN, { by: "ada", atMs: 6 });
  other.close();
  expect(rows.account(ACCOUNT, CHAIN).halt).toBeUndefined();
});
