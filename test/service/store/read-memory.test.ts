import { expect, onTestFinished, test } from "vitest";
import { createReadMemory } from "../../../src/service/store/read-memory.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

function open() {
  const file = `${temporaryDirectory()}/memory.db`;
  const [db, other] = [openDatabase({ file }), openDatabase({ file })];
  onTestFinished(() => {
    for (const one of [db, other]) one.close();
  });
  db.exec("CREATE TABLE numbers (value INTEGER NOT NULL) STRICT");
  const memory = createReadMemory(db);
  const seen = { reads: 0 };
  const sum = db.prepare<[], number>("SELECT coalesce(sum(value), 0) FROM numbers").pluck();
  const read = () => {
    seen.reads += 1;
    return sum.get();
  };
  return { db, other, seen, read: () => memory.read("sum", read) };
}

test("what was read is kept until this connection or another one writes", () => {
  const { db, other, seen, read } = open();
  for (let time = 0; time < 3; time += 1) expect(read()).toBe(0);
  expect(seen.reads).toBe(1);
  db.exec("INSERT INTO numbers VALUES (1)");
  for (let time = 0; time < 3; time += 1) expect(read()).toBe(1);
  expect(seen.reads).toBe(2);
  other.exec("INSERT INTO numbers VALUES (1)");
  for (let time = 0; time < 3; time += 1) expect(read()).toBe(2);
  expect(seen.reads).toBe(3);
  db.exec("UPDATE numbers SET value = 2");
  expect(read()).toBe(4);
  db.exec("DELETE FROM numbers");
  expect(read()).toBe(0);
});

test("a transaction sees what it wrote, and nothing of it is kept where it is taken back", () => {
  const { db, read } = open();
  expect(read()).toBe(0);
  const write = db.transaction((end: () => void) => {
    db.exec("INSERT INTO numbers VALUES (1)");
    expect(read()).toBe(1);
    expect(read()).toBe(1);
    end();
  });
  const takeBack = () => {
    throw new Error("taken back");
  };
  expect(() => write(takeBack)).toThrow("taken back");
  expect(read()).toBe(0);
  write(() => undefined);
  expect(read()).toBe(1);
});
