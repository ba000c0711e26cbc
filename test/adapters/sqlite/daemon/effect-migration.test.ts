import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createStore } from "../../../../src/adapters/sqlite/daemon/store.ts";
import { openDatabase } from "../../../../src/storage/database.ts";
import { migrate, readMigrations } from "../../../../src/storage/migrations.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

test("what an older release had written down to be done is done by this one, and what it had done is forgotten", () => {
  const db = openDatabase({ file: join(temporaryDirectory(), "older.db") });
  onTestFinished(() => void db.close());
  const migrations = readMigrations(new URL("../../../../src/adapters/sqlite/daemon/", import.meta.url));
  migrate(db, { set: "daemon", migrations: migrations.slice(0, 26), backup: false });
  db.exec(
    `INSERT INTO runs (id, strategy, slot_ms, state, spec_hash, window_ends_ms, created_at_ms)
       VALUES ('run_1', 'weekly', 1, 'due', 's', 1, 1);
     INSERT INTO effects (id, run_id, kind, version, payload, not_before_ms, attempts, done_at_ms, created_at_ms) VALUES
       (3, 'run_1', 'ReadView', 1, '{"kind":"ReadView"}', 1, 0, 2, 1),
       (7, 'run_1', 'SubmitGasless', 1, '{"kind":"SubmitGasless","swapId":"run_1.0.1"}', 5, 2, NULL, 4)`,
  );
  migrate(db, { set: "daemon", migrations: migrations.slice(0, 27), backup: false });
  const store = createStore(db);
  const effect = { kind: "SubmitGasless", swapId: "run_1.0.1" };
  expect(store.dueEffects(5, 9, "no routes")).toEqual([{ id: 7, runId: "run_1", effect }]);
  expect(db.prepare("SELECT id, not_before_ms, attempts, created_at_ms FROM effects").raw().all()).toEqual([
    [7, 5, 2, 4],
  ]);
  store.finishEffect(7);
  store.addEffects("run_1", [{ effect: { kind: "ReadView" }, notBeforeMs: 0 }], 1);
  expect(store.dueEffects(5, 9, "no routes")).toMatchObject([{ id: 8 }]);
});
