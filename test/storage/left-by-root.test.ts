import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, lstatSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { claimDatabase } from "../../src/storage/claim.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { acquireLock } from "../../src/storage/lock.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const ROOT = 0;
/** Whom the daemon runs as, and its folder belongs to. */
const OWNER = 12_345;

const isRoot = process.getuid?.() === ROOT;

if (!isRoot) console.error("not run: what root leaves to another user needs root");

/** Everything is loaded before another user's rights are taken: that user may not read the program's folder. */
const CLAIM = `
  const [, user, way, file, claims, databases, locks] = process.argv;
  const { claimDatabase } = await import(claims);
  const { openDatabase } = await import(databases);
  const { acquireLock } = await import(locks);
  new (await import("better-sqlite3")).default(":memory:").close();
  process.setgroups([]);
  process.setgid(Number(user));
  process.setuid(Number(user));
  try {
    const held = way === "lock" ? acquireLock(file) : claimDatabase(file);
    if (held.kind === "claimed") openDatabase({ file }).exec("CREATE TABLE IF NOT EXISTS things (id INTEGER)");
    console.log(JSON.stringify({ kind: held.kind, holder: held.holder }));
  } catch (error) {
    console.log(JSON.stringify({ error: error.message }));
  }
  setInterval(() => {}, 1000);
`;

interface Asked {
  readonly user: number;
  readonly way?: "claim" | "lock";
}

/** A process of a user that claims and lives on, and what came of it. */
async function claimAs({ user, way = "claim" }: Asked, file: string): Promise<{ child: ChildProcess; found: unknown }> {
  const modules = ["claim", "database", "lock"].map((name) => new URL(`../../src/storage/${name}.ts`, import.meta.url));
  const args = ["--input-type=module", "-e", CLAIM, `${user}`, way, file, ...modules.map(String)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const { value } = await createInterface(child.stdout)[Symbol.asyncIterator]().next();
  return { child, found: JSON.parse(String(value)) };
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

function folderOfOwner(): string {
  const folder = temporaryDirectory();
  chownSync(folder, OWNER, OWNER);
  return folder;
}

test.skipIf(!isRoot).each([
  ["there was no database yet", false],
  ["the database was there", true],
])("a command of root's that is killed bars no start of the owner, where %s", async (_name, isThere) => {
  const file = join(folderOfOwner(), "swapd.db");
  if (isThere) {
    openDatabase({ file }).close();
    chownSync(file, OWNER, OWNER);
  }
  const root = await claimAs({ user: ROOT }, file);
  expect(root.found).toEqual({ kind: "claimed" });
  expect((await claimAs({ user: OWNER }, file)).found).toEqual({ kind: "held", holder: `pid ${root.child.pid}` });
  await kill(root.child);
  const left = ["", "-wal", "-shm", ".lock.db", ".lock.db-journal", ".lock.db.holder"].map((name) => `${file}${name}`);
  expect(left.filter((name) => existsSync(name) && statSync(name).uid !== OWNER)).toEqual([]);
  expect((await claimAs({ user: OWNER }, file)).found).toEqual({ kind: "claimed" });
});

test.skipIf(!isRoot)("a lock alone that root took and was killed with can be taken by the folder's owner", async () => {
  const file = join(folderOfOwner(), "relayer.lock.db");
  const root = await claimAs({ user: ROOT, way: "lock" }, file);
  expect(root.found).toEqual({ kind: "acquired" });
  await kill(root.child);
  expect((await claimAs({ user: OWNER, way: "lock" }, file)).found).toEqual({ kind: "acquired" });
});

test.skipIf(!isRoot)(
  "a holder's line that is root's is nobody's name to others, and replaced at the next start",
  async () => {
    const file = join(folderOfOwner(), "swapd.db");
    const held = claimDatabase(file);
    if (held.kind !== "claimed") throw new Error("not claimed");
    const line = `${file}.lock.db.holder`;
    chownSync(line, ROOT, ROOT);
    expect((await claimAs({ user: OWNER }, file)).found).toEqual({ kind: "held" });
    held.release();
    writeFileSync(line, "pid 1 that was killed", { mode: 0o600 });
    expect((await claimAs({ user: OWNER }, file)).found).toEqual({ kind: "claimed" });
    expect(statSync(line).uid).toBe(OWNER);
  },
);

test.skipIf(!isRoot)("root gives away no file of its own that a link in the place of the lock leads to", () => {
  const [folder, own] = [folderOfOwner(), join(temporaryDirectory(), "own")];
  writeFileSync(own, "root's, and no lock");
  symlinkSync(own, join(folder, "swapd.db.lock.db"));
  expect(() => claimDatabase(join(folder, "swapd.db"))).toThrow("not a database");
  mkdirSync(join(folder, "other.db.lock.db"));
  expect(() => acquireLock(join(folder, "other.db.lock.db"))).toThrow("cannot open");
  for (const kept of [own, join(folder, "other.db.lock.db")]) expect(lstatSync(kept).uid).toBe(ROOT);
});
