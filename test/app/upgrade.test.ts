import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createReadModel } from "../../src/adapters/sqlite/daemon/read-model.ts";
import { migrateDaemon } from "../../src/adapters/sqlite/daemon/schema.ts";
import { migrateLane } from "../../src/adapters/sqlite/lanes.ts";
import { runCli } from "../../src/app/cli.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { type Migration, migrate, readMigrations } from "../../src/storage/migrations.ts";
import { makeFolder } from "../e2e/support/swapd.ts";
import { WALLET } from "../support/builders.ts";
import { readDryExample } from "../support/example-file.ts";

/** An upgrade and the way back, on a database of an older release and on one of a newer release. */

const DAEMON = readMigrations(new URL("../../src/adapters/sqlite/daemon/", import.meta.url));
const LANE = readMigrations(new URL("../../src/adapters/sqlite/lane/", import.meta.url));
/** Before archives, channels, budgets, the API and digests. */
const OLDER = 27;

let file: string;
let database: string;
beforeEach(() => {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  vi.stubEnv("RPC_1", "http://127.0.0.1:1");
  onTestFinished(() => void vi.unstubAllEnvs());
  file = join(folder.path, "config/mine.yaml");
  database = join(folder.path, "swapd.db");
  const own = `main: { address: "${WALLET}",`;
  writeFileSync(file, readDryExample(folder.path).replace("main: {", own).replace("/data/swapd.db", database));
});

async function swapd(...words: string[]): Promise<{ code: number; text: string }> {
  const said: string[] = [];
  const say = (text: string) => void said.push(text);
  const terminal = { out: say, err: say, isInteractive: false };
  const code = await runCli(["node", "swapd", ...words, "--config", file], terminal);
  return { code, text: said.join("\n") };
}

/** A program of a release that knows so many migrations of the daemon's tables. */
function startAs(daemon: readonly Migration[]): { readonly copies: readonly string[] } {
  const db = openDatabase({ file: database });
  try {
    const made = [
      migrate(db, { set: "daemon", migrations: daemon, backup: true }),
      migrate(db, { set: "lane", migrations: LANE, backup: true }),
    ];
    return { copies: made.flatMap(({ backupFile }) => backupFile ?? []) };
  } finally {
    db.close();
  }
}

const RUN = `INSERT INTO runs (id, strategy, slot_ms, state, spec_hash, window_ends_ms, created_at_ms)
  VALUES (?, 'weekly', ?, 'due', 'h', ?, ?)`;

function write(sql: string, ...values: readonly (string | number)[]): void {
  const db = openDatabase({ file: database });
  db.prepare(sql).run(...values);
  db.close();
}

function addRun(id: string, slotMs: number): void {
  write(RUN, id, slotMs, slotMs, slotMs);
}

async function runIds(): Promise<readonly string[]> {
  const db = openDatabase({ file: database, readonly: true });
  try {
    return (await createReadModel(db).runs({ limit: 10 })).map(({ id }) => id);
  } finally {
    db.close();
  }
}

function older(): void {
  startAs(DAEMON.slice(0, OLDER));
  write("INSERT INTO identity (one, network, chain_id, created_at_ms) VALUES (1, 'base', 8453, 1)");
  addRun("run_of_the_older", 1_700_000_000_000);
}

test("a database of an older release is read before the upgrade, taken over with a copy, and loses nothing", async () => {
  older();
  expect(await runIds()).toEqual(["run_of_the_older"]);
  expect(await swapd("db", "check")).toMatchObject({ code: 1, text: expect.stringContaining("an older release") });
  expect((await swapd("doctor")).text).toMatch(/ERROR +database +file .*older release.* -> swapd start --config /);
  const db = openDatabase({ file: database });
  migrateDaemon(db);
  migrateLane(db);
  db.close();
  expect(await runIds()).toEqual(["run_of_the_older"]);
  const copies = readdirSync(dirname(database)).filter((name) =>
    name.startsWith(`${basename(database)}.before-daemon-`),
  );
  expect(copies).toEqual([`swapd.db.before-daemon-${OLDER + 1}`]);
  const checked = await swapd("db", "check", "--json");
  expect(JSON.parse(checked.text)).toMatchObject({
    problems: [],
    schema: [
      { set: "daemon", applied: DAEMON.length, known: DAEMON.length },
      { set: "lane", applied: LANE.length, known: LANE.length },
    ],
    copies: expect.arrayContaining([expect.objectContaining({ kind: "before" })]),
  });
});

test("an older program refuses the database of a newer one, says how to go back, and changes nothing", async () => {
  startAs(DAEMON);
  const next = { number: DAEMON.length + 1, name: "of-later", sql: "CREATE TABLE of_later (one INTEGER) STRICT" };
  write("INSERT INTO identity (one, network, chain_id, created_at_ms) VALUES (1, 'base', 8453, 1)");
  addRun("run_before", 1_700_000_000_000);
  startAs([...DAEMON, next]);
  const refused = await swapd("halt");
  expect(refused.code).toBe(78);
  expect(refused.text).toContain(`${database} has migration ${next.number} (of-later) of daemon`);
  expect(refused.text).toContain("start the newer release, or go back to the copy made before that migration");
  const checked = await swapd("db", "check");
  expect(checked).toMatchObject({ code: 1, text: expect.stringContaining("a newer release made its tables") });
  expect(await runIds()).toEqual(["run_before"]);
  const db = openDatabase({ file: database, readonly: true });
  expect(db.prepare("SELECT count(*) FROM modes").pluck().get()).toBe(0);
  expect(db.prepare("SELECT max(number) FROM schema_migrations WHERE set_name = 'daemon'").pluck().get()).toBe(
    next.number,
  );
  db.close();
});

test("the way back is the copy of before: the older program takes it, a halt of the newer one is kept", async () => {
  startAs(DAEMON);
  write("INSERT INTO identity (one, network, chain_id, created_at_ms) VALUES (1, 'base', 8453, 1)");
  addRun("run_before", 1_700_000_000_000);
  const next = { number: DAEMON.length + 1, name: "of-later", sql: "CREATE TABLE of_later (one INTEGER) STRICT" };
  const { copies } = startAs([...DAEMON, next]);
  const [copy = ""] = copies;
  addRun("run_after", 1_700_000_100_000);
  write("INSERT INTO modes (scope, mode, set_by, reason, at_ms) VALUES ('global', 'halted', 'ops', 'going back', 1)");
  const restored = await swapd("restore", copy);
  expect(restored, restored.text).toMatchObject({ code: 0 });
  expect(restored.text).toContain("global halted");
  expect(await runIds()).toEqual(["run_before"]);
  expect(await swapd("halt")).toMatchObject({ code: 0 });
  const kept = readdirSync(dirname(database)).filter((name) => name.includes(".replaced-"));
  expect(kept.filter((name) => !/-(?:wal|shm)$/.test(name))).toHaveLength(1);
  expect(existsSync(copy)).toBe(true);
});

test("a copy that a newer release made is refused by the older program, and neither file is written into", async () => {
  const next = { number: DAEMON.length + 1, name: "of-later", sql: "CREATE TABLE of_later (one INTEGER) STRICT" };
  startAs([...DAEMON, next]);
  write("INSERT INTO identity (one, network, chain_id, created_at_ms) VALUES (1, 'base', 8453, 1)");
  const copy = `${database}.copy`;
  const db = openDatabase({ file: database });
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
  renameSync(database, copy);
  startAs(DAEMON);
  addRun("run_of_this_one", 1_700_000_000_000);
  const before = readFileSync(copy);
  const refused = await swapd("restore", copy);
  const why = `a newer release made it (migration ${next.number} of daemon, and this one knows ${DAEMON.length}): restore it with that release`;
  expect(refused).toMatchObject({ code: 1, text: expect.stringContaining(`${copy} is not restored: ${why}`) });
  expect(readFileSync(copy).equals(before)).toBe(true);
  expect(await runIds()).toEqual(["run_of_this_one"]);
});

test("a copy from before the API and the archives is taken back by a release that has them", async () => {
  older();
  const { copies } = startAs(DAEMON);
  const restored = await swapd("restore", copies[0] ?? "");
  expect(restored, restored.text).toMatchObject({ code: 0 });
  expect(await swapd("halt")).toMatchObject({ code: 0 });
  expect(await runIds()).toEqual(["run_of_the_older"]);
});
