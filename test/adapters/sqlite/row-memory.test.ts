import fc from "fast-check";
import { expect, test } from "vitest";
import { createLaneRows } from "../../../src/adapters/sqlite/lane-rows.ts";
import { lanesIn } from "../../../src/adapters/sqlite/lanes.ts";
import { rowMemoryOf } from "../../../src/adapters/sqlite/row-memory.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import type { LaneRowStore } from "../../../src/ports/lane-row-store.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { ACCOUNT, intentRow, openLaneDatabase } from "../../support/lane-database.ts";

const CHAIN = 31_337;
/** The lane of a second account, which stays known while the first one's rows are written. */
const OTHER = toAddress("0x00000000000000000000000000000000000000a2");
const ACCOUNTS = [ACCOUNT, OTHER] as const;
const HALT = { account: ACCOUNT, chainId: CHAIN, reason: "a stranger", transactionCount: 3, atMs: 5 };
const IDS = ["a", "b", "c"] as const;

/** One write of a lane, as lanes and people make them. */
type Act = (rows: LaneRowStore) => unknown;

const acts: fc.Arbitrary<Act> = fc.oneof(
  fc.constantFrom(...IDS).map(
    (id): Act =>
      (rows) =>
        rows.insertIntent(intentRow({ id, purpose: "relay", account: id === "c" ? OTHER : ACCOUNT })),
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
  fc.constantFrom(...ACCOUNTS).map(
    (account): Act =>
      (rows) =>
        rows.addHalt({ ...HALT, account }),
  ),
  fc.constantFrom(...ACCOUNTS).map(
    (account): Act =>
      (rows) =>
        rows.releaseHalt(account, CHAIN, { by: "ada", atMs: 6 }),
  ),
  fc.constantFrom(...ACCOUNTS).map(
    (account): Act =>
      (rows) =>
        rows.acceptCount({ ...HALT, account, transactionCount: 9 }, { by: "ada", atMs: 7 }),
  ),
);

function answers(rows: LaneRowStore): unknown {
  const ofLanes = ACCOUNTS.map((account) => [rows.openIntents(account, CHAIN), rows.account(account, CHAIN)]);
  return [ofLanes, rows.halts()];
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
