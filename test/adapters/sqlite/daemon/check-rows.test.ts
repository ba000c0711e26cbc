import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readChecks, writeChecks } from "../../../../src/adapters/sqlite/daemon/check-rows.ts";
import { prepareStatements } from "../../../../src/adapters/sqlite/statements.ts";
import { openDatabase } from "../../../../src/storage/database.ts";
import { readMigrations } from "../../../../src/storage/migrations.ts";
import { addSwap, openDaemonDatabase } from "../../../support/daemon-database.ts";
import { swapIn } from "../../../support/reading-samples.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

const DAEMON_MIGRATIONS = new URL("../../../../src/adapters/sqlite/daemon/", import.meta.url);
const check = { code: "TARGET_NOT_PINNED", subject: "router", value: "0x1", limit: "0x2", ok: false } as const;

test("the checks of the newest decision are reported in their order, with what was found and what was allowed", () => {
  const { db, store } = openDaemonDatabase();
  const sql = prepareStatements(db);
  addSwap(store, swapIn("denied", { id: "a" }));
  expect(readChecks(sql, "a")).toEqual([]);
  writeChecks(sql, "a", [check], 1);
  writeChecks(sql, "a", [{ ...check, ok: true }, check], 2);
  const reported = { swapId: "a", atMs: 2, code: "TARGET_NOT_PINNED", value: "router: 0x1", limit: "0x2" };
  expect(readChecks(sql, "a")).toEqual([
    { ...reported, passed: true },
    { ...reported, passed: false },
  ]);
});

test("forty checks of a swap weigh less than a kilobyte", () => {
  const { db, store } = openDaemonDatabase();
  addSwap(store, swapIn("denied", { id: "a" }));
  const checks = Array.from({ length: 40 }, (_, at) => ({
    ...check,
    ...{ value: `${10n ** 18n + BigInt(at) ** 3n}`, limit: `at least ${10n ** 17n + BigInt(at) ** 5n}` },
  }));
  writeChecks(prepareStatements(db), "a", checks, 1);
  expect(db.prepare("SELECT length(body) FROM checks").pluck().get()).toBeLessThan(1_000);
});

test("those of an older release are reported before the database is brought up to date, and afterwards", () => {
  const db = openDatabase({ file: join(temporaryDirectory(), "older.db") });
  onTestFinished(() => void db.close());
  const migrations = readMigrations(DAEMON_MIGRATIONS);
  const create = (name: string, table: string): string => {
    const sql = migrations.find((migration) => migration.name === name)?.sql ?? "";
    return sql.slice(sql.indexOf(`CREATE TABLE ${table} `)).split(";")[0] ?? "";
  };
  db.exec(`CREATE TABLE swaps (id TEXT PRIMARY KEY); ${create("daemon", "checks")}`);
  const insert = db.prepare("INSERT INTO checks VALUES (?, ?, ?, 'QUOTE_EXPIRED', ?, ?, 'after 2')");
  db.exec("INSERT INTO swaps VALUES ('a'), ('b')");
  insert.run("a", 1, 0, 1, "of before");
  for (const position of [1, 0, 10, 2]) insert.run("a", 2, position, position === 0 ? 0 : 1, `at ${position}`);
  insert.run("b", 1, 0, 1, "other");
  const reported = (): unknown =>
    ["a", "b", "c"].map((swap) =>
      readChecks(prepareStatements(db), swap).map(({ atMs, passed, value }) => [atMs, passed, value]),
    );
  const expected = [
    [
      [2, false, "at 0"],
      [2, true, "at 1"],
      [2, true, "at 2"],
      [2, true, "at 10"],
    ],
    [[1, true, "other"]],
    [],
  ];
  expect(reported()).toEqual(expected);
  db.exec(migrations.find(({ name }) => name === "checks-in-one-row")?.sql ?? "");
  expect(reported()).toEqual(expected);
});
