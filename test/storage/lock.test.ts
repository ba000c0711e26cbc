import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { StorageError } from "../../src/storage/database.ts";
import { acquireLock } from "../../src/storage/lock.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const HOLD = `
  const { acquireLock } = await import(process.argv[1]);
  console.log(acquireLock(process.argv[2], { holder: "the first daemon" }).kind);
  setInterval(() => {}, 1000);
  // What nobody refers to is gone now, and not at some later moment: what a collection frees is closed in a later turn.
  const later = () => new Promise((resolve) => setTimeout(resolve, 20));
  for (let round = 0; round < 3; round += 1) { await later(); gc(); }
  await later();
  console.log("collected");
`;

async function holdInAnotherProcess(file: string): Promise<ChildProcess> {
  const lockModule = new URL("../../src/storage/lock.ts", import.meta.url).href;
  const args = ["--expose-gc", "--input-type=module", "-e", HOLD, lockModule, file];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe("acquired");
  expect((await lines.next()).value).toBe("collected");
  return child;
}

test("a second process is refused quickly and reported who holds the lock, also while the first is stopped", async () => {
  const file = join(temporaryDirectory(), "lock.db");
  const child = await holdInAnotherProcess(file);
  child.kill("SIGSTOP");
  const start = performance.now();
  expect(acquireLock(file)).toEqual({ kind: "held", holder: "the first daemon" });
  expect(performance.now() - start).toBeLessThan(4_000);
});

test("the lock is free after the holder was killed, without any clean-up", async () => {
  const file = join(temporaryDirectory(), "lock.db");
  const child = await holdInAnotherProcess(file);
  child.kill("SIGKILL");
  await once(child, "exit");
  const lock = acquireLock(file);
  expect(lock.kind).toBe("acquired");
  if (lock.kind === "acquired") lock.release();
});

test("a released lock can be taken again, and releasing twice frees nobody else's", () => {
  const file = join(temporaryDirectory(), "lock.db");
  const first = acquireLock(file);
  if (first.kind !== "acquired") throw new Error("the first lock was not acquired");
  expect(acquireLock(file).kind).toBe("held");
  first.release();
  const second = acquireLock(file, { holder: "the second" });
  first.release();
  expect(acquireLock(file)).toEqual({ kind: "held", holder: "the second" });
  if (second.kind === "acquired") second.release();
});

test("a lock whose folder is missing, or that cannot be opened, is no mistake of ours, and the path is said", () => {
  const folder = temporaryDirectory();
  const missing = join(folder, "none");
  expect(() => acquireLock(join(missing, "swapd.db.lock.db"))).toThrow(StorageError);
  expect(() => acquireLock(join(missing, "swapd.db.lock.db"))).toThrow(`the folder ${missing} does not exist: make it`);
  const taken = join(folder, "folder.db");
  mkdirSync(taken);
  expect(() => acquireLock(taken)).toThrow(StorageError);
  expect(() => acquireLock(taken)).toThrow(`cannot open the database ${taken}`);
  // As on a mount that may only be read: the lock can be opened, and who holds it cannot be written.
  mkdirSync(join(folder, "kept.db.holder"));
  expect(() => acquireLock(join(folder, "kept.db"))).toThrow(StorageError);
});
