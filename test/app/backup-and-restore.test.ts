import { execFile } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { openPaperRows } from "../../src/adapters/sqlite/paper/open-paper-rows.ts";
import { backup } from "../../src/app/commands/backup.ts";
import { restore } from "../../src/app/commands/restore.ts";
import { readDatabaseHealth } from "../../src/app/database-health.ts";
import { readConfiguration } from "../../src/app/target.ts";
import type { OperatingMode } from "../../src/domain/run/operating-mode.ts";
import { claimDatabase } from "../../src/storage/claim.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { WALLET } from "../config/project.ts";
import { makeFolder } from "../e2e/support/swapd.ts";
import { openDaemonDatabase } from "../support/daemon-database.ts";
import { readDryExample } from "../support/example-file.ts";
import { type Said, said } from "../support/said.ts";

let config: string;
let database: string;
let service: string;
beforeEach(() => {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  vi.stubEnv("RPC_1", "http://127.0.0.1:1");
  vi.stubEnv("RPC_2", "http://127.0.0.1:2");
  onTestFinished(() => void vi.unstubAllEnvs());
  config = join(folder.path, "config/mine.yaml");
  database = join(folder.path, "swapd.db");
  service = join(folder.path, "service.db");
  const example = readDryExample(folder.path);
  const own = example.replace("main: {", `main: { address: "${WALLET}",`);
  writeFileSync(config, own.replace("/data/swapd.db", database).replace("/data/service.db", service));
  // Any database with its rows in place of the service's: what it holds does not matter here.
  for (const path of [database, service]) fill(path, "base", 8453);
});

function fill(path: string, network: string, chainId: number): void {
  const { store, db } = openDaemonDatabase(path);
  store.saveIdentity({ network, chainId, atMs: 0 });
  db.close();
}

const backUp = (to?: string): Promise<Said> =>
  said((terminal) => backup({ config, json: true, ...(to === undefined ? {} : { to }) }, terminal));
const restoreFrom = (file: string): Promise<Said> =>
  said((terminal) => restore(file, { config, json: true }, terminal));

test("a backup is made while the daemon has the database, alongside it unless reported, with the embedded service's", async () => {
  const claim = claimDatabase(database);
  if (claim.kind !== "claimed") throw new Error("not claimed");
  onTestFinished(() => claim.release());
  const { code, text } = await backUp();
  expect(code).toBe(0);
  const { copies } = JSON.parse(text) as { copies: { database: string; backup: string }[] };
  expect(copies.map((copy) => copy.database)).toEqual([database, service]);
  expect(copies[0]?.backup).toMatch(/swapd\.db\.backup-\d{8}T\d{6}Z$/);
  expect(copies[1]?.backup).toBe(`${copies[0]?.backup}.service`);
  for (const copy of copies) expect(statSync(copy.backup).mode & 0o077).toBe(0);
  expect(await backUp(copies[0]?.backup)).toMatchObject({ code: 1, text: expect.stringContaining("exists already") });
});

test.each([
  ["beside the database", undefined, "swapd.db.backup-20260105T030000Z", "swapd.db.backup-5.old"],
  ["by a name of its night", "night-2026-11-29.db", "night-2026-1-5.db", "night-a-1-5.db"],
])(
  "what nightly backups that were ended each left %s is shown, and removed by the next one: a copy that may be under way and what is not of that name stay",
  async (_where, name, leftName, otherName) => {
    const folder = dirname(database);
    const leave = (copy: string, hours: number): readonly string[] =>
      ["", "-journal"].map((suffix) => {
        const file = join(folder, `${copy}.unfinished${suffix}`);
        writeFileSync(file, "half of it");
        const atSeconds = Date.now() / 1_000 - hours * 3_600;
        utimesSync(file, atSeconds, atSeconds);
        return file;
      });
    const left = [...leave(leftName, 23), ...leave(`${leftName}.service`, 23)];
    const kept = [...leave(leftName.replace("5", "6"), 1), ...leave(otherName, 23)];
    const health = await readDatabaseHealth(database, readConfiguration(config, 1));
    const shown = health.copies.filter(({ kind }) => kind === "unfinished").map(({ file }) => file);
    if (name === undefined) expect(shown).toEqual(expect.arrayContaining([left[0], left[2], kept[0]]));
    const { code, text } = await backUp(name === undefined ? undefined : join(folder, name));
    expect(code).toBe(0);
    expect([...(JSON.parse(text) as { removed: string[] }).removed].sort()).toEqual([...left].sort());
    expect(left.filter(existsSync)).toEqual([]);
    expect(kept.filter((file) => !existsSync(file))).toEqual([]);
    expect(await backUp(join(database, "inside.db"))).toMatchObject({ code: 1 });
  },
);

test("what a restore that was ended left beside the database is shown, and the next one takes its place", async () => {
  const copy = `${database}.copy`;
  await backUp(copy);
  const left = `${database}.restoring`;
  writeFileSync(left, "half of it");
  const { copies } = await readDatabaseHealth(database, readConfiguration(config, 1));
  expect(copies.filter(({ kind }) => kind === "unfinished")).toMatchObject([{ file: left, bytes: 10 }]);
  expect(await restoreFrom(copy)).toMatchObject({ code: 0 });
  expect(existsSync(left)).toBe(false);
});

test("a restore puts both copies back, keeps what they replace, and is refused while a daemon runs", async () => {
  const copy = `${database}.copy`;
  await backUp(copy);
  const claim = claimDatabase(service);
  if (claim.kind !== "claimed") throw new Error("not claimed");
  const before = readFileSync(database);
  expect(await restoreFrom(copy)).toMatchObject({ code: 75, text: expect.stringContaining(`${service} is in use`) });
  expect(readFileSync(database).equals(before)).toBe(true);
  claim.release();

  const { code, text } = await restoreFrom(copy);
  expect(code).toBe(0);
  const { restored } = JSON.parse(text) as { restored: { database: string; replaced: string }[] };
  expect(restored.map((one) => one.database)).toEqual([database, service]);
  for (const { database: file, replaced } of restored) {
    expect(replaced).toMatch(/\.replaced-\d{8}T\d{9}Z$/);
    expect(existsSync(replaced)).toBe(true);
    expect(statSync(file).mode & 0o077).toBe(0);
  }
});

test("a restore that is taken back brings the service's database back with the daemon's, by the time in their names", async () => {
  const copy = `${database}.copy`;
  await backUp(copy);
  setModes(database, { eth: "paused" });
  setModes(service, { btc: "halted" });
  const { text } = await restoreFrom(copy);
  const { restored } = JSON.parse(text) as { restored: { replaced: string }[] };
  expect(modesOf(service)).toEqual({});
  const back = await restoreFrom(restored[0]?.replaced ?? "");
  expect(back.code).toBe(0);
  expect((JSON.parse(back.text) as { restored: { copy: string }[] }).restored.map((one) => one.copy)).toEqual(
    restored.map(({ replaced }) => replaced),
  );
  expect([modesOf(database), modesOf(service)]).toEqual([{ eth: "paused" }, { btc: "halted" }]);
});

test.each([
  ["is damaged", (copy: string) => writeFileSync(copy, "no database")],
  ["has a damaged service's alongside it", (copy: string) => writeFileSync(`${copy}.service`, "no database")],
  ["is not there", () => undefined, "elsewhere.db"],
])("a copy that %s is refused, and neither database is touched", async (_what, spoil, name = "swapd.db.copy") => {
  const copy = `${database}.copy`;
  await backUp(copy);
  spoil(copy);
  const before = [database, service].map((file) => readFileSync(file));
  expect(await restoreFrom(join(database, "..", name))).toMatchObject({ code: 1 });
  expect([database, service].map((file, index) => readFileSync(file).equals(before[index] ?? Buffer.alloc(0)))).toEqual(
    [true, true],
  );
});

test("an older copy of the service's alone refuses the whole backup, before the first file is made", async () => {
  const to = `${database}.nightly`;
  writeFileSync(`${to}.service`, "older");
  expect(await backUp(to)).toMatchObject({ code: 1, text: expect.stringContaining("nightly.service exists already") });
  expect(existsSync(to)).toBe(false);
  rmSync(service);
  expect(await backUp(to)).toMatchObject({ code: 1, text: expect.stringContaining("nightly.service exists already") });
});

test("where there is room for the first file alone, nothing is backed up, and nothing restored", async () => {
  const copy = `${database}.copy`;
  const db = openDatabase({ file: service });
  db.exec("CREATE TABLE much (a BLOB) STRICT; INSERT INTO much VALUES (randomblob(4000000))");
  db.close();
  await backUp(copy);
  const room = 2 * statSync(copy).size;
  const before = [database, service].map((file) => readFileSync(file));
  const backedUp = await withRoom(room, ["backup", "--to", `${database}.second`]);
  expect(backedUp).toMatchObject({ code: 75, said: expect.stringContaining("no backup was made") });
  const restored = await withRoom(room, ["restore", copy]);
  expect(restored.code).not.toBe(0);
  expect(restored.said).toContain("nothing was restored");
  expect([database, service].map((file, index) => readFileSync(file).equals(before[index] ?? Buffer.alloc(0)))).toEqual(
    [true, true],
  );
  const left = readdirSync(dirname(database)).filter((name) => /second|restoring|replaced|unfinished/.test(name));
  expect(left).toEqual([]);
});

/** A command of swapd, none of whose files can become larger than so many bytes. */
async function withRoom(bytes: number, args: readonly string[]): Promise<{ code: number; said: string }> {
  const swapd = [process.execPath, join(import.meta.dirname, "../../bin/swapd.js"), ...args, "--config", config];
  const script = `ulimit -f ${Math.floor(bytes / 512)}; "$@" 2>&1; echo "exit $?"`;
  const { stdout } = await promisify(execFile)("sh", ["-c", script, "sh", ...swapd]);
  return { code: Number(/exit (\d+)\s*$/.exec(stdout)?.[1]), said: stdout };
}

test("a copy of another network is refused by name", async () => {
  const copy = `${database}.copy`;
  fill(copy, "ethereum", 1);
  expect(await restoreFrom(copy)).toMatchObject({ code: 1, text: expect.stringContaining("belongs to ethereum") });
});

test("what happened on paper is not restored as what happened in earnest, nor the other way round", async () => {
  const [copy, onPaper] = [`${database}.copy`, `${database}.paper.copy`];
  await backUp(copy);
  fill(onPaper, "base", 8453);
  const db = openDatabase({ file: onPaper });
  openPaperRows(db);
  db.close();
  const before = readFileSync(database);
  const paperForReal = await restoreFrom(onPaper);
  expect(paperForReal).toMatchObject({ code: 1, text: expect.stringContaining("is what happened on paper") });
  expect(readFileSync(database).equals(before)).toBe(true);

  writeFileSync(config, readFileSync(config, "utf8").replace("mode: dry-run", "mode: paper"));
  const realOnPaper = await restoreFrom(copy);
  expect(realOnPaper).toMatchObject({ code: 1, text: expect.stringContaining("is not what happened on paper") });
  expect(existsSync(`${database}.paper.db`)).toBe(false);
  expect(await restoreFrom(onPaper)).toMatchObject({ code: 0 });
});

test("a restore takes no halt and no pause back: the stricter mode of both databases is in force, and said", async () => {
  const copy = `${database}.copy`;
  setModes(database, { eth: "paused", btc: "exits-only" });
  await backUp(copy);
  setModes(database, { global: "halted", eth: "active", btc: "paused" });
  const { code, text } = await said((terminal) => restore(copy, { config }, terminal));
  expect(code).toBe(0);
  expect(modesOf(database)).toEqual({ global: "halted", eth: "paused", btc: "paused" });
  expect(modesOf(copy)).toEqual({ eth: "paused", btc: "exits-only" });
  expect(text).toContain(
    "in force: btc paused (by hand), eth paused (by hand), global halted (by hand); kept from what stood there: btc paused, global halted",
  );
});

test("a restore takes no halt back that no daemon took: one that hung and was killed was asked for it", async () => {
  const copy = `${database}.copy`;
  setModes(database, { btc: "paused" });
  await backUp(copy);
  const db = openDatabase({ file: database });
  db.exec(
    "INSERT INTO strategies (id, kind, spec_hash, spec, memory, memory_at_ms, last_slot_ms) VALUES ('eth', 'dca', 'h', '{}', '{}', 0, 0)",
  );
  const ask = db.prepare("INSERT INTO requests (command, arguments, made_by, made_at_ms) VALUES (?, ?, 'ann', 7)");
  ask.run("mode", JSON.stringify({ mode: "halted", reason: "it hangs" }));
  for (const mode of ["paused", "active"]) ask.run("mode", JSON.stringify({ mode, scope: "eth" }));
  ask.run("mode", JSON.stringify({ mode: "exits-only", scope: "btc" }));
  ask.run("mode", JSON.stringify({ mode: "halted", scope: "no-such-strategy" }));
  ask.run("mode", JSON.stringify({ mode: "asleep" }));
  ask.run("run", JSON.stringify({ strategy: "eth" }));
  db.close();
  const { code, text } = await said((terminal) => restore(copy, { config }, terminal));
  expect([code, modesOf(database)]).toEqual([0, { btc: "paused", eth: "paused", global: "halted" }]);
  expect(text).toContain("global halted (it hangs); kept from what stood there: global halted, eth paused");

  // What a killed daemon left is a copy, too: a start that finds it older refuses what was asked there.
  const left = join(dirname(database), "left.db");
  const asked = openDatabase({ file: copy });
  asked
    .prepare("INSERT INTO requests (command, arguments, made_by, made_at_ms) VALUES ('mode', ?, 'ann', 7)")
    .run(JSON.stringify({ mode: "halted", reason: "it hung" }));
  asked.close();
  copyFileSync(copy, left);
  rmSync(database);
  const again = await said((terminal) => restore(left, { config }, terminal));
  expect([again.code, modesOf(database)]).toEqual([0, { btc: "paused", global: "halted" }]);
  expect(again.text).toContain("is not known; in force: btc paused (by hand), global halted (it hung)");
});

test("the database of a killed daemon is restored with what its log alone has", async () => {
  setModes(database, { eth: "paused" });
  const killed = openDatabase({ file: database });
  onTestFinished(() => void killed.close());
  killed.prepare("UPDATE modes SET reason = 'seen last'").run();
  const old = join(dirname(database), "old-disk.db");
  for (const suffix of ["", "-wal"]) copyFileSync(`${database}${suffix}`, `${old}${suffix}`);
  expect(statSync(`${old}-wal`).size).toBeGreaterThan(0);
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${database}${suffix}`, { force: true });
  const { code, text } = await said((terminal) => restore(old, { config }, terminal));
  expect([code, text]).toEqual([0, expect.stringContaining("in force: eth paused (seen last)")]);
});

test("a restore where nothing stood, or nothing readable, says that later halts are not known", async () => {
  const copy = `${database}.copy`;
  setModes(database, { eth: "paused" });
  await backUp(copy);
  for (const spoil of [() => writeFileSync(database, "no database"), () => rmSync(database)]) {
    spoil();
    const { code, text } = await said((terminal) => restore(copy, { config }, terminal));
    expect([code, modesOf(database)]).toEqual([0, { eth: "paused" }]);
    expect(text).toContain(
      "what was halted or paused since the copy was made is not known; in force: eth paused (by hand)",
    );
  }
});

function setModes(path: string, modes: Readonly<Record<string, OperatingMode>>): void {
  const { store, db } = openDaemonDatabase(path);
  for (const [scope, mode] of Object.entries(modes)) {
    store.setMode({ scope, mode, setBy: "ops", reason: "by hand", atMs: 0 });
  }
  db.close();
}

function modesOf(path: string): Record<string, string> {
  const db = openDatabase({ file: path, readonly: true });
  const rows = db.prepare<[], { scope: string; mode: string }>("SELECT scope, mode FROM modes").all();
  db.close();
  return Object.fromEntries(rows.map(({ scope, mode }) => [scope, mode]));
}
