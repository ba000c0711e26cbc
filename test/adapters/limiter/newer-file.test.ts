import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { machineClock } from "../../../src/adapters/clock/shared-clock.ts";
import { openPaceStore } from "../../../src/adapters/limiter/pace-store.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { migrate, readMigrations, tablesOf } from "../../../src/storage/migrations.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const OWN = readMigrations(new URL("../../../src/adapters/limiter/migrations/", import.meta.url));

test("an older release makes the file of a newer one anew, once, because no copy of it was made", () => {
  const file = join(temporaryDirectory(), "limiter.db");
  const open = (keyHash: string) =>
    openPaceStore({ file, keyHash, terms: { limitPerSecond: 5, longestRetryAfterMs: 1_000 } }, machineClock());
  open("key").close();
  const db = openDatabase({ file });
  onTestFinished(() => void db.close());
  const sql = "ALTER TABLE pace RENAME TO paces; CREATE TABLE of_later (one INTEGER) STRICT;";
  const later = { number: OWN.length + 1, name: "of-later", sql };
  migrate(db, { set: "pace", migrations: [...OWN, later], backup: false });
  const stores = ["key", "another key"].map(open);
  expect(tablesOf(db)).toEqual(["pace"]);
  expect(db.prepare("SELECT max(number) FROM schema_migrations").pluck().get()).toBe(OWN.length);
  expect(db.prepare("SELECT key_hash FROM pace ORDER BY rowid").pluck().all()).toEqual(["key", "another key"]);
  for (const store of stores) store.close();
});
