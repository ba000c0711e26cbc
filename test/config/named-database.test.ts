import { join } from "node:path";
import { expect, test } from "vitest";
import { namedDatabase } from "../../src/config/named-database.ts";
import { write } from "./project.ts";

const named = (text: string): string | undefined => {
  const folder = write({ "main.yaml": text });
  return namedDatabase(join(folder, "main.yaml"))?.replace(`${folder}/`, "");
};

test.each([
  ["database: swapd.db", "swapd.db"],
  ["database: my files/swapd.db # on the disk", "my files/swapd.db"],
  ["mode: live\r\ndatabase: swapd.db\r\nlog:\r\n", "swapd.db"],
  [`database: "/data/swapd.db"   # in the container`, "/data/swapd.db"],
  ["database: '/data/swapd.db'", "/data/swapd.db"],
  [`database: "swapd.db`, "swapd.db"],
  ["mode: paper # for now\ndatabase: swapd.db", "swapd.db.paper.db"],
  [`mode: "paper"\n`, "swapd.db.paper.db"],
  ["serve:\n  database: service.db\n# database: old.db\n", "swapd.db"],
  ["version: 1\nlog: [", "swapd.db"],
])("the database is found whatever else is wrong with a file: %j", (text, database) => {
  expect(named(text)).toBe(database);
});

test("a file that is not there names none", () => {
  expect(namedDatabase("/nowhere/main.yaml")).toBeUndefined();
});
