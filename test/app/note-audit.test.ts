import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createListing } from "../../src/adapters/sqlite/daemon/listing.ts";
import { noteAudit } from "../../src/app/note-audit.ts";
import { type AuditReport, difference } from "../../src/audit/report.ts";
import { openDaemonDatabase } from "../support/daemon-database.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const NOTHING = { wallets: 1, fills: 0, transitions: 0, transfers: 0, balances: 0, allowances: 0, signatures: 0 };

function report(differences: AuditReport["differences"] = []): AuditReport {
  return {
    ...{
      clean: differences.length === 0,
      chainId: 1,
      tip: { number: 90, hash: "0x", seconds: 1_800_000_000 },
      differences,
    },
    ...{ openSwaps: [], deposits: [], openAllowances: [], notes: [] },
    checked: { ...NOTHING, runs: 3, swaps: 4, transactions: 5, blocks: 80 },
  };
}

const MADE = { report: report(), since: undefined, by: "ops", atMs: 1_000 };

function note(made: Parameters<typeof noteAudit>[0]): readonly string[] {
  const said: string[] = [];
  noteAudit(made, { err: (text) => void said.push(text) });
  return said;
}

it("notes what an audit found, by whom, when, and from where to where it looked", async () => {
  const { file: database, db } = openDaemonDatabase();
  expect(note({ ...MADE, database })).toEqual([]);
  const wrong = difference("SOLD_DIFFERS", "run_1.0.1", `sold ${"9".repeat(2_000)}`);
  const found = report(Array.from({ length: 30 }, () => wrong));
  expect(note({ ...MADE, database, report: found, since: { seconds: 7 }, atMs: 2_000 })).toEqual([]);
  const { newest, whole } = await createListing(db).audits(10);
  expect(newest[0]).toMatchObject({ madeBy: "ops", atMs: 2_000, fromMs: 7_000, fromBlock: null, differences: 30 });
  expect(newest[0]?.findings).toHaveLength(20);
  expect(newest[0]?.findings[0]).toMatchObject({
    code: "SOLD_DIFFERS",
    message: expect.stringMatching(/^sold 9{495}$/),
  });
  expect(whole).toEqual(newest[1]);
  const lookedAt = "3 runs, 4 swaps, 5 transactions, 80 blocks, the last of 2027-01-15T08:00:00.000Z";
  expect(whole).toMatchObject({ differences: 0, toBlock: 90, lookedAt });
});

it("keeps the newest hundred, however often somebody's timer audits, and what they would hide", async () => {
  const { file: database, db } = openDaemonDatabase();
  note({ ...MADE, database, report: report([difference("SOLD_DIFFERS", "run_1.0.1", "differs")]), atMs: 1 });
  note({ ...MADE, database, atMs: 2 });
  for (let atMs = 3; atMs < 150; atMs += 1) note({ ...MADE, database, since: { block: 80 }, atMs });
  const { newest, whole } = await createListing(db).audits(1_000);
  expect(newest.map(({ atMs }) => atMs)).toEqual([...Array.from({ length: 100 }, (_, place) => 149 - place), 2, 1]);
  expect(whole).toMatchObject({ atMs: 2, differences: 0 });
});

it("says that it noted nothing where the database cannot take it, and leaves the audit's own answer alone", () => {
  const older = openDaemonDatabase();
  older.db.exec("DROP TABLE audits");
  const foreign = join(temporaryDirectory(), "foreign.db");
  writeFileSync(foreign, "no database at all, and long enough to be looked at as if it were one");
  for (const database of [older.file, foreign, temporaryDirectory()])
    expect(note({ ...MADE, database })).toEqual([
      expect.stringContaining("what this audit found is not in the database"),
    ]);
});
