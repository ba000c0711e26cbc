import {
  chmodSync,
  chownSync,
  copyFileSync,
  linkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { backUp } from "../../src/storage/backup.ts";
import { type Claim, claimDatabase } from "../../src/storage/claim.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { migrate } from "../../src/storage/migrations.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

function claim(file: string): Claim {
  const claimed = claimDatabase(file);
  if (claimed.kind !== "claimed") throw new Error(`not claimed: ${claimed.kind}`);
  onTestFinished(claimed.release);
  return claimed;
}

function permissions(file: string): string {
  return (statSync(file).mode & 0o777).toString(8);
}

test("a second daemon is refused whatever link it comes by, also before the file is there", () => {
  const folder = temporaryDirectory();
  symlinkSync(folder, join(folder, "elsewhere"));
  symlinkSync("swapd.db", join(folder, "link.db"));
  claim(join(folder, "link.db"));
  for (const name of ["swapd.db", "link.db", "elsewhere/swapd.db", "elsewhere/link.db", "./swapd.db"]) {
    expect(claimDatabase(join(folder, name)), name).toMatchObject({ kind: "held" });
  }
});

test("a database with a second name is refused under both: each would have a log of its own", () => {
  const folder = temporaryDirectory();
  const [first, second] = [join(folder, "swapd.db"), join(folder, "second.db")];
  openDatabase({ file: first }).close();
  linkSync(first, second);
  for (const file of [first, second]) {
    expect(claimDatabase(file)).toMatchObject({ kind: "linked", message: expect.stringContaining("2 names") });
  }
  rmSync(second);
  expect(claim(first).found).toBe("database");
});

test("the claim is over when the lock or the database is removed or replaced under it, and a backup's link ends nothing", () => {
  const folder = temporaryDirectory();
  const file = join(folder, "swapd.db");
  const held = claim(file);
  const db = openDatabase({ file });
  onTestFinished(() => void db.close());
  linkSync(file, join(folder, "snapshot.db"));
  expect(held.problem()).toBeUndefined();
  renameSync(`${file}.lock.db`, join(folder, "away"));
  expect(held.problem()).toContain("swapd.db.lock.db was removed");
  expect(held.keepsDatabase()).toBe(true);
  writeFileSync(`${file}.lock.db`, "");
  expect(held.problem()).toContain("swapd.db.lock.db was replaced");
  renameSync(join(folder, "away"), `${file}.lock.db`);
  expect(held.problem()).toBeUndefined();
  renameSync(file, join(folder, "moved.db"));
  expect(held.problem()).toContain("swapd.db was removed");
  writeFileSync(file, "");
  expect(held.problem()).toContain("swapd.db was replaced");
  expect(held.keepsDatabase()).toBe(false);
});

test("a copy that is written over the file under the running daemon is noticed, and checkpoints are not", () => {
  const file = join(temporaryDirectory(), "swapd.db");
  const held = claim(file);
  const db = openDatabase({ file });
  db.exec("CREATE TABLE things (id INTEGER)");
  const copy = `${file}.copy`;
  db.prepare("VACUUM INTO ?").run(copy);
  held.watchContents(db);
  for (let count = 0; count < 20; count += 1) {
    db.prepare("INSERT INTO things VALUES (?)").run(count);
    db.pragma("wal_checkpoint(TRUNCATE)");
    expect(held.problem()).toBeUndefined();
  }
  copyFileSync(copy, file);
  expect(held.problem()).toContain("was written over under the running daemon");
  expect(held.keepsDatabase(), "nothing may be written into it").toBe(false);
  db.close();
});

test("a backup of the same life that is written over the file is noticed, too", () => {
  const file = join(temporaryDirectory(), "swapd.db");
  const held = claim(file);
  const db = openDatabase({ file });
  db.exec("CREATE TABLE things (id INTEGER)");
  held.watchContents(db);
  expect(held.problem()).toBeUndefined();
  const copy = `${file}.copy`;
  const reader = openDatabase({ file, readonly: true });
  backUp([{ db: reader, to: copy }]);
  reader.close();
  expect(held.problem()).toBeUndefined();
  copyFileSync(copy, file);
  expect(held.problem()).toContain("was written over under the running daemon");
  db.close();
});

test("what has not reached the file yet is not missed, and looking at the file ends no claim", () => {
  const file = join(temporaryDirectory(), "swapd.db");
  const held = claim(file);
  const db = openDatabase({ file });
  db.exec("CREATE TABLE things (id INTEGER)");
  const reader = openDatabase({ file, readonly: true });
  reader.exec("BEGIN; SELECT * FROM things");
  held.watchContents(db);
  expect(held.problem()).toBeUndefined();
  reader.exec("COMMIT");
  db.pragma("wal_checkpoint(TRUNCATE)");
  expect([held.problem(), claimDatabase(file).kind]).toEqual([undefined, "held"]);
  for (const connection of [reader, db]) connection.close();
});

test("what was found is reported: nothing, an empty file, or a database", () => {
  const folder = temporaryDirectory();
  const file = (name: string): string => join(folder, name);
  writeFileSync(file("empty.db"), "");
  openDatabase({ file: file("full.db") }).close();
  expect(claim(file("new.db")).found).toBe("missing");
  expect(claim(file("empty.db")).found).toBe("empty");
  expect(claim(file("full.db")).found).toBe("database");
});

test("files of a database are their owner's alone whatever the umask, copies before migrations too", () => {
  const umask = process.umask(0);
  onTestFinished(() => void process.umask(umask));
  const file = join(temporaryDirectory(), "swapd.db");
  claim(file);
  const db = openDatabase({ file });
  onTestFinished(() => void db.close());
  const first = { number: 1, name: "first", sql: "CREATE TABLE t (a INTEGER) STRICT; INSERT INTO t VALUES (1)" };
  migrate(db, { set: "daemon", migrations: [first], backup: true });
  const second = { number: 2, name: "second", sql: "CREATE TABLE u (a INTEGER) STRICT" };
  const { backupFile } = migrate(db, { set: "daemon", migrations: [first, second], backup: true });
  const files = [file, `${file}-wal`, `${file}-shm`, `${file}.lock.db`, `${file}.lock.db.holder`, backupFile ?? ""];
  expect(files.map(permissions)).toEqual(files.map(() => "600"));
});

test("files that others could read are narrowed, and named", () => {
  const file = join(temporaryDirectory(), "swapd.db");
  openDatabase({ file }).close();
  chmodSync(file, 0o644);
  expect(claim(file).narrowed).toEqual([file]);
  expect(permissions(file)).toBe("600");
});

test.runIf(process.getuid?.() === 0)(
  "what root claims first can be claimed by the user of its folder afterwards",
  () => {
    const folder = temporaryDirectory();
    chownSync(folder, 65_534, 65_533);
    const file = join(folder, "swapd.db");
    claim(file);
    for (const made of [file, `${file}.lock.db`]) expect(statSync(made)).toMatchObject({ uid: 65_534, gid: 65_533 });
  },
);

test("a folder in the place of a database is called one", () => {
  const folder = temporaryDirectory();
  const message = `${folder} is a folder: name a file in it, for example ${folder}/swapd.db`;
  expect(claimDatabase(folder)).toEqual({ kind: "linked", message });
});
