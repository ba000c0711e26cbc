import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { assertWhole, backUp, replaceDatabases } from "../../src/storage/backup.ts";
import { openDatabase, type SqliteDatabase } from "../../src/storage/database.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

function begin(): { folder: string; file: string; db: SqliteDatabase } {
  const folder = temporaryDirectory();
  const file = join(folder, "swapd.db");
  const db = openDatabase({ file });
  onTestFinished(() => void db.close());
  db.exec("CREATE TABLE t (a INTEGER) STRICT; INSERT INTO t VALUES (1)");
  return { folder, file, db };
}

function rowsOf(file: string): unknown[] {
  const db = openDatabase({ file, readonly: true });
  try {
    return db.prepare("SELECT a FROM t ORDER BY a").pluck().all();
  } finally {
    db.close();
  }
}

test("a copy is whole and its owner's alone, made while another connection writes, and never over a file", () => {
  const { folder, file, db } = begin();
  const reader = openDatabase({ file, readonly: true });
  onTestFinished(() => void reader.close());
  db.exec("BEGIN IMMEDIATE; INSERT INTO t VALUES (2)");
  const umask = process.umask(0);
  onTestFinished(() => void process.umask(umask));
  const to = join(folder, "copy.db");
  expect(backUp([{ db: reader, to }])).toEqual([statSync(to).size]);
  db.exec("COMMIT");
  expect(rowsOf(to)).toEqual([1]);
  expect((statSync(to).mode & 0o777).toString(8)).toBe("600");
  expect(() => backUp([{ db: reader, to }])).toThrow("exists already");
  expect(readdirSync(folder).filter((name) => name.includes("unfinished"))).toEqual([]);
});

test("a copy that is not whole gets no name, and leaves nothing behind", () => {
  const { folder, db } = begin();
  db.exec("CREATE TABLE runs (id INTEGER PRIMARY KEY) STRICT; CREATE TABLE swaps (run INTEGER REFERENCES runs) STRICT");
  db.pragma("foreign_keys = OFF");
  db.exec("INSERT INTO swaps VALUES (7)");
  expect(() => backUp([{ db, to: join(folder, "copy.db") }])).toThrow("a row of swaps refers to no row of runs");
  expect(readdirSync(folder).filter((name) => name.startsWith("copy.db"))).toEqual([]);
});

test("a damaged file, and one of another kind, is no copy to restore", async () => {
  const { folder, file, db } = begin();
  db.exec(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO t SELECT i FROM n",
  );
  const to = join(folder, "copy.db");
  backUp([{ db, to }]);
  assertWhole(to);
  truncateSync(to, statSync(to).size - 8_192);
  const before = readFileSync(file);
  await expect(replaceDatabases([{ file, copy: to, keepAs: join(folder, "kept.db") }])).rejects.toThrow(
    /damaged|malformed/,
  );
  writeFileSync(join(folder, "text.db"), "no database ".repeat(400));
  expect(() => assertWhole(join(folder, "text.db"))).toThrow("cannot open the database");
  expect([existsSync(join(folder, "kept.db")), readFileSync(file).equals(before)]).toEqual([false, true]);
});

test("a copy takes the place of a database, whose rows are kept with its write-ahead log", async () => {
  const { folder, file, db } = begin();
  const to = join(folder, "copy.db");
  backUp([{ db, to }]);
  db.exec("INSERT INTO t VALUES (2)");
  // The process was killed: what was committed last stands in the log alone.
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
  const keepAs = join(folder, "kept.db");
  expect(await replaceDatabases([{ file, copy: to, keepAs }])).toEqual([keepAs]);
  expect([rowsOf(file), rowsOf(keepAs), rowsOf(to)]).toEqual([[1], [1, 2], [1]]);
  expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
  const nowhere = join(folder, "new.db");
  expect(await replaceDatabases([{ file: nowhere, copy: to, keepAs: join(folder, "none.db") }])).toEqual([undefined]);
  expect(rowsOf(nowhere)).toEqual([1]);
});

test("what a restore replaced is restored again with what stood in its log alone, and stays as it is", async () => {
  const { folder, file, db } = begin();
  const to = join(folder, "copy.db");
  backUp([{ db, to }]);
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.exec("INSERT INTO t VALUES (2)");
  const keepAs = join(folder, "kept.db");
  await replaceDatabases([{ file, copy: to, keepAs }]);
  expect(statSync(`${keepAs}-wal`).size).toBeGreaterThan(0);
  await replaceDatabases([{ file, copy: keepAs, keepAs: join(folder, "second.db") }]);
  expect([rowsOf(file), rowsOf(keepAs)]).toEqual([
    [1, 2],
    [1, 2],
  ]);
  expect(readdirSync(folder).filter((name) => name.includes("restoring"))).toEqual([]);
});

test("a write-ahead log that was left without its database says nothing of the copy that takes its place", async () => {
  const { folder, file, db } = begin();
  const to = join(folder, "copy.db");
  backUp([{ db, to }]);
  db.exec("INSERT INTO t VALUES (2); CREATE TABLE later (a INTEGER)");
  const [lost, log] = [join(folder, "lost.db"), readFileSync(`${file}-wal`)];
  writeFileSync(lost, "");
  writeFileSync(`${lost}-wal`, log);
  expect(await replaceDatabases([{ file: lost, copy: to, keepAs: join(folder, "kept.db") }])).toEqual([undefined]);
  expect(rowsOf(lost)).toEqual([1]);
  expect(readFileSync(join(folder, "kept.db-wal")).equals(log)).toBe(true);
});

test("where one of two copies cannot be made, none is, and nothing is left behind", () => {
  const { folder, db } = begin();
  const to = join(folder, "copy.db");
  expect(() =>
    backUp([
      { db, to },
      { db, to: join(folder, "none", "second.db") },
    ]),
  ).toThrow("unable to open");
  writeFileSync(join(folder, "taken.db"), "older");
  expect(() =>
    backUp([
      { db, to },
      { db, to: join(folder, "taken.db") },
    ]),
  ).toThrow("exists already");
  expect(readdirSync(folder).filter((name) => name.startsWith("copy.db"))).toEqual([]);
});

test("where one of two databases cannot be replaced, neither is: not while copying, and not while renaming", async () => {
  const { folder, file, db } = begin();
  const to = join(folder, "copy.db");
  backUp([{ db, to }]);
  db.exec("INSERT INTO t VALUES (2)");
  const first = { file, copy: to, keepAs: join(folder, "kept.db") };
  const service = join(folder, "service.db");
  const second = { file: service, copy: join(folder, "none.db"), keepAs: join(folder, "kept-service.db") };
  await expect(replaceDatabases([first, second])).rejects.toThrow(`cannot open the database ${second.copy}`);
  expect([rowsOf(file), existsSync(first.keepAs)]).toEqual([[1, 2], false]);
  // A folder stands where the second one's old file is to go.
  writeFileSync(service, "old");
  mkdirSync(second.keepAs);
  await expect(replaceDatabases([first, { ...second, copy: to }])).rejects.toThrow("EISDIR");
  expect([rowsOf(file), existsSync(first.keepAs), readFileSync(service, "utf8")]).toEqual([[1, 2], false, "old"]);
  expect(readdirSync(folder).filter((name) => name.includes("restoring"))).toEqual([]);
});

test.runIf(process.getuid?.() === 0)(
  "what root restores can be opened by the user whose database it replaces",
  async () => {
    const { folder, file, db } = begin();
    const to = join(folder, "copy.db");
    backUp([{ db, to }]);
    chownSync(file, 65_534, 65_533);
    await replaceDatabases([{ file, copy: to, keepAs: join(folder, "kept.db") }]);
    expect(statSync(file)).toMatchObject({ uid: 65_534, gid: 65_533 });
  },
);
