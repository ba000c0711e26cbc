import { expect, test } from "vitest";
import { openDatabase } from "../../src/storage/database.ts";
import { inSnapshot, inTransaction } from "../../src/storage/transaction.ts";
import { openDaemonDatabase } from "../support/daemon-database.ts";

test("what is read together is of one instant, whatever another process writes meanwhile", () => {
  const { db, file } = openDaemonDatabase();
  const other = openDatabase({ file });
  const count = (): unknown => db.prepare("SELECT count(*) FROM requests").pluck().get();
  const seen = inSnapshot(db, () => {
    const before = count();
    other
      .prepare("INSERT INTO requests (command, arguments, made_by, made_at_ms) VALUES ('pause', '{}', 'ada', 1)")
      .run();
    return [before, count()];
  });
  other.close();
  expect(seen).toEqual([0, 0]);
  expect(count()).toBe(1);
});

test("a snapshot within a transaction sees what that has written", () => {
  const { db } = openDaemonDatabase();
  const seen = inTransaction(db, () => {
    db.prepare("INSERT INTO requests (command, arguments, made_by, made_at_ms) VALUES ('pause', '{}', 'ada', 1)").run();
    return inSnapshot(db, () => db.prepare("SELECT count(*) FROM requests").pluck().get());
  });
  expect(seen).toBe(1);
});
