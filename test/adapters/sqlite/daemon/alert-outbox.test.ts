import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createAlertOutbox, setAlertChannels } from "../../../../src/adapters/sqlite/daemon/alert-outbox.ts";
import { createHistoryReader } from "../../../../src/adapters/sqlite/daemon/history-rows.ts";
import { createStore } from "../../../../src/adapters/sqlite/daemon/store.ts";
import { openDatabase } from "../../../../src/storage/database.ts";
import { migrate, readMigrations } from "../../../../src/storage/migrations.ts";
import { alertSample, NOW_MS } from "../../../support/builders.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

const MIGRATIONS = readMigrations(new URL("../../../../src/adapters/sqlite/daemon/", import.meta.url));
const CHANNELS = MIGRATIONS.findIndex(({ name }) => name === "alert-channels");

/** A database of the time when there was one webhook, with an alert in each of its states. */
function oldDatabase(states: readonly (readonly [id: string, state: string, isOver: boolean])[]) {
  const db = openDatabase({ file: join(temporaryDirectory(), "daemon.db") });
  onTestFinished(() => void db.close());
  migrate(db, { set: "daemon", migrations: MIGRATIONS.slice(0, CHANNELS), backup: false });
  const insert = db.prepare(
    `INSERT INTO alerts (id, severity, code, subject, text, raised_at_ms, over_at_ms, state, attempts, not_before_ms, outcome)
     VALUES (?, 'warning', ?, 'swap run_1.0.1', 'look at it', ?, ?, ?, 3, 9000, 'HTTP 500')`,
  );
  for (const [id, state, isOver] of states) insert.run(id, id, NOW_MS, isOver ? NOW_MS : null, state);
  return { db, migrateAll: () => migrate(db, { set: "daemon", migrations: MIGRATIONS, backup: true }) };
}

const EVERY_STATE = [
  ["past", "sent", true],
  ["true", "sent", false],
  ["waits", "waiting", true],
  ["waits-true", "waiting", false],
  ["lost", "given-up", true],
  ["lost-true", "given-up", false],
  ["log", "log-only", true],
  ["log-true", "log-only", false],
] as const;

test("a database of one webhook keeps what is true and what was not sent, and sends nothing twice", async () => {
  const { db, migrateAll } = oldDatabase(EVERY_STATE);
  const unsent = (): unknown[] =>
    createHistoryReader(db)
      .unsentAlerts()
      .map(({ channel, code, state, attempts }) => [channel, code, state, attempts]);
  const before = unsent();
  expect(before).toEqual([
    ["webhook", "lost-true", "given-up", 3],
    ["webhook", "waits-true", "waiting", 3],
    ["webhook", "waits", "waiting", 3],
  ]);
  migrateAll();
  expect(unsent()).toEqual(before);
  expect(
    await setAlertChannels(db, [{ name: "webhook", severities: ["warning", "critical"], sendsEnds: false }]),
  ).toEqual([]);
  const outbox = createAlertOutbox(db, "webhook");
  await outbox.makeAllDue();
  await outbox.waitAgain();
  const reported: string[] = [];
  for (let next = await outbox.next(); next !== undefined; next = await outbox.next()) {
    reported.push(next.alert.id);
    await outbox.finish(next.number, { state: "sent", outcome: "HTTP 200", atMs: NOW_MS });
  }
  expect(reported).toEqual(["waits", "waits-true", "lost-true", "log-true"]);
  const open = db.prepare("SELECT id FROM alerts WHERE over_at_ms IS NULL ORDER BY number").pluck().all();
  expect(open).toEqual(["true", "waits-true", "lost-true", "log-true"]);
  expect(createStore(db).raiseAlert(alertSample({ id: "again", code: "true" }))).toBe(false);
});

test("a database that never had a webhook has no channel, and the first one that is named is told what is true", async () => {
  const { db, migrateAll } = oldDatabase([
    ["log", "log-only", true],
    ["log-true", "log-only", false],
  ]);
  migrateAll();
  expect(createHistoryReader(db).channels()).toEqual([]);
  await setAlertChannels(db, [{ name: "phone", severities: ["warning", "critical"], sendsEnds: false }]);
  const outbox = createAlertOutbox(db, "phone");
  await outbox.waitAgain();
  expect([(await outbox.next())?.alert.id, db.prepare("SELECT count(*) FROM alert_deliveries").pluck().get()]).toEqual([
    "log-true",
    1,
  ]);
});

test("a webhook that is configured no more after the migration keeps nothing waiting", async () => {
  const { db, migrateAll } = oldDatabase(EVERY_STATE);
  migrateAll();
  expect(await setAlertChannels(db, [])).toEqual([{ name: "webhook", waiting: 2 }]);
  expect(db.prepare("SELECT count(*) FROM alert_deliveries").pluck().get()).toBe(0);
});
