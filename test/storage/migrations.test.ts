import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { openDatabase } from "../../src/storage/database.ts";
import { type Migration, migrate, readMigrations } from "../../src/storage/migrations.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const first: Migration = { number: 1, name: "first", sql: "CREATE TABLE a (x INTEGER) STRICT;" };
const second: Migration = { number: 2, name: "second", sql: "ALTER TABLE a ADD COLUMN y TEXT;" };

function fresh() {
  const file = join(temporaryDirectory(), "m.db");
  return { file, db: openDatabase({ file }) };
}

test("migrations are applied once, and sets live side by side in one file", () => {
  const { db } = fresh();
  expect(migrate(db, { set: "lane", migrations: [first], backup: true }).applied).toEqual([1]);
  expect(migrate(db, { set: "lane", migrations: [first, second], backup: true }).applied).toEqual([2]);
  expect(migrate(db, { set: "lane", migrations: [first, second], backup: true }).applied).toEqual([]);
  const other: Migration = { number: 1, name: "other", sql: "CREATE TABLE b (x INTEGER) STRICT;" };
  expect(migrate(db, { set: "engine", migrations: [other], backup: true }).applied).toEqual([1]);
  const rows = db.prepare("SELECT set_name, number FROM schema_migrations ORDER BY set_name, number").raw().all();
  expect(rows).toEqual([
    ["engine", 1],
    ["lane", 1],
    ["lane", 2],
  ]);
  db.close();
});

test("a database with rows is copied before it is changed, an empty one is not", () => {
  const { db, file } = fresh();
  expect(migrate(db, { set: "lane", migrations: [first], backup: true }).backupFile).toBeUndefined();
  db.exec("INSERT INTO a VALUES (7)");
  const { backupFile } = migrate(db, { set: "lane", migrations: [first, second], backup: true });
  expect(backupFile).toBe(`${file}.before-lane-2`);
  const other: Migration = { number: 1, name: "other", sql: "CREATE TABLE b (x INTEGER) STRICT;" };
  expect(migrate(db, { set: "paper", migrations: [other], backup: true }).backupFile, "it begins").toBeUndefined();
  const copy = openDatabase({ file: `${file}.before-lane-2`, readonly: true });
  expect(copy.prepare("SELECT * FROM a").all()).toEqual([{ x: 7 }]);
  copy.close();
  db.close();
});

test("an edited migration and a newer database are refused with the file and what to do", () => {
  const { db, file } = fresh();
  migrate(db, { set: "lane", migrations: [first, second], backup: false });
  const edited = { ...first, sql: "CREATE TABLE a (x TEXT) STRICT;" };
  expect(() => migrate(db, { set: "lane", migrations: [edited, second], backup: false })).toThrow(
    `was edited after it was applied to ${file}: restore the file`,
  );
  expect(() => migrate(db, { set: "lane", migrations: [first], backup: false })).toThrow(
    `${file} has migration 2 (second) of lane, this program knows 1: start the newer release`,
  );
  const windows = { ...first, sql: first.sql.replaceAll("\n", "\r\n") };
  expect(migrate(db, { set: "lane", migrations: [windows, second], backup: false }).applied).toEqual([]);
  db.close();
});

test("a rejected migration leaves nothing of itself or of those before it in the same start", () => {
  const { db, file } = fresh();
  const broken: Migration = { number: 2, name: "broken", sql: "CREATE TABLE c (x INTEGER) STRICT; SELECT nonsense;" };
  expect(() => migrate(db, { set: "lane", migrations: [first, broken], backup: true })).toThrow(
    `migration 2 (broken) of lane was rejected, nothing changed in ${file}: `,
  );
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  expect(tables).toEqual(["schema_migrations"]);
  expect(existsSync(`${file}.before-lane-1`)).toBe(false);
  db.close();
});

test("migration files are read in order of their numbers, and a wrong name is refused", () => {
  const directory = join(temporaryDirectory(), "sql");
  mkdirSync(directory);
  writeFileSync(join(directory, "0002-second.sql"), second.sql);
  writeFileSync(join(directory, "0001-first.sql"), first.sql);
  writeFileSync(join(directory, "notes.txt"), "");
  expect(readMigrations(pathToFileURL(directory))).toEqual([first, second]);
  writeFileSync(join(directory, "3-third.sql"), "");
  expect(() => readMigrations(pathToFileURL(directory))).toThrow(/3-third\.sql is not named/);
  const { db } = fresh();
  expect(() => migrate(db, { set: "lane", migrations: [second], backup: false })).toThrow(/numbered 1, 2, 3/);
  db.close();
});
