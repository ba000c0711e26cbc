import { writeFileSync } from "node:fs";
import { join } from "node:path";
import SqliteConstructor from "better-sqlite3";
import { expect, test } from "vitest";
import { assertDurable, isAtLeast, openDatabase } from "../../src/storage/database.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

function durability(db: ReturnType<typeof openDatabase>): unknown[] {
  return [db.pragma("journal_mode", { simple: true }), db.pragma("synchronous", { simple: true })];
}

test("commits stay fully synchronous after the first writes to a fresh file and after it is reopened", () => {
  const file = join(temporaryDirectory(), "a.db");
  const db = openDatabase({ file });
  expect(durability(db)).toEqual(["wal", 2]);
  db.exec("CREATE TABLE t (a INTEGER) STRICT; INSERT INTO t VALUES (1)");
  expect(durability(db)).toEqual(["wal", 2]);
  db.close();
  const again = openDatabase({ file });
  again.exec("INSERT INTO t VALUES (2)");
  expect(durability(again)).toEqual(["wal", 2]);
  expect(again.pragma("foreign_keys", { simple: true })).toBe(1);
  again.close();
});

test("a connection that would lose commits is refused by name", () => {
  const file = join(temporaryDirectory(), "a.db");
  const db = openDatabase({ file });
  db.pragma("synchronous = NORMAL");
  expect(() => assertDurable(db, file)).toThrow(/synchronous=1 instead of wal and 2/);
  db.close();
  expect(() => openDatabase({ file: ":memory:" })).toThrow(/journal_mode=memory/);
});

test("a database of another program is not written to", () => {
  const file = join(temporaryDirectory(), "other.db");
  const other = new SqliteConstructor(file);
  other.exec("CREATE TABLE theirs (a)");
  other.close();
  expect(() => openDatabase({ file })).toThrow(/another program/);
});

test("a file that is no database, and a directory that does not exist, give a clear message", () => {
  const directory = temporaryDirectory();
  const file = join(directory, "text.db");
  writeFileSync(file, "this is not a database, but it is long enough to be looked at as one ".repeat(20));
  expect(() => openDatabase({ file })).toThrow(/cannot open the database .*text\.db/);
  expect(() => openDatabase({ file: join(directory, "missing", "a.db") })).toThrow(/cannot open the database/);
});

test("a read-only connection reads alongside the writer and cannot write", () => {
  const file = join(temporaryDirectory(), "a.db");
  const writer = openDatabase({ file });
  writer.exec("CREATE TABLE t (a INTEGER) STRICT; INSERT INTO t VALUES (1)");
  const reader = openDatabase({ file, readonly: true });
  expect(reader.prepare("SELECT a FROM t").pluck().all()).toEqual([1]);
  expect(() => reader.exec("INSERT INTO t VALUES (2)")).toThrow(/readonly/);
  reader.close();
  writer.close();
});

test("version texts are compared number by number, not as text", () => {
  expect(isAtLeast("3.51.3", [3, 51, 3])).toBe(true);
  expect(isAtLeast("3.100.0", [3, 51, 3])).toBe(true);
  expect(isAtLeast("3.51.2", [3, 51, 3])).toBe(false);
  expect(isAtLeast("3.9.9", [3, 51, 3])).toBe(false);
  expect(isAtLeast("4", [3, 51, 3])).toBe(true);
});
