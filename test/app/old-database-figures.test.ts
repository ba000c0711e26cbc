import { expect, test } from "vitest";
import { createProgressReader } from "../../src/adapters/sqlite/daemon/progress-rows.ts";
import { openDaemonDatabase } from "../support/daemon-database.ts";
import { memoryDirectory } from "../support/temporary-directory.ts";

test("figures are read of a database whose swaps know no times of blocks yet", () => {
  const { db } = openDaemonDatabase(`${memoryDirectory()}/old.db`);
  expect(createProgressReader(db).figures()).toEqual({ unknownSinceMs: undefined, lastFillMs: undefined });
  db.exec("ALTER TABLE swaps RENAME COLUMN block_time_seconds TO of_a_later_release");
  expect(createProgressReader(db).figures().lastFillMs).toBeUndefined();
});
