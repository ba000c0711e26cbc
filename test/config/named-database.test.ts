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
  ["database: /home/o'brien/a#b.db # here\nlog: [", "/home/o'brien/a#b.db"],
  ["database: 5\nmode: paper\n", "5.paper.db"],
  ["database: one.db\ndatabase: two.db\n", "one.db"],
  [`"serve":\n  database: service.db\nmode: paper\n#database: old.db\nlog: [`, "swapd.db.paper.db"],
  ["serve: { database: service.db }\nlog: [", "swapd.db"],
  ["\ufeffdatabase: my.db\nlog: [", "my.db"],
])("the database is found whatever else is wrong with a file: %j", (text, database) => {
  expect(named(text)).toBe(database);
});

test.each([
  "database: /home/o'brien/x.db",
  `database: "/home/o'brien/x.db"`,
  "database: '/home/o''brien/x.db'",
  `"database": /home/o'brien/x.db`,
  "database : /home/o'brien/x.db",
  "database:\n  /home/o'brien/x.db",
  `{ version: 1, database: "/home/o'brien/x.db" }`,
  "  version: 1\n  database: /home/o'brien/x.db",
  "\ufeffdatabase: /home/o'brien/x.db",
  `database: "/home/o\\u0027brien/x.db"`,
])("the database is the one that the loader reads where the file itself is YAML: %j", (text) => {
  expect(named(`${text}\n`)).toBe("/home/o'brien/x.db");
});

test.each([
  `"database": real.db\nlog: [`,
  "'database' : real.db\nlog: [",
  "database:\n  real.db\nlog: [",
  "database: # on the disk\n  real.db\nlog: [",
  `\ufeff"database": real.db\nlog: [`,
  "log: 'open\ndatabase:\n  real.db\n",
  "? database\n: real.db\nlog: [",
  "{ version: 1, database: real.db, log: [ }",
  `{ version: 1, "database": real.db,\nmode: live, log: [ }`,
  "  version: 1\n  database: real.db\n  log: [",
  `database: ""\n`,
  "database:\n",
  "database:\n  5\n",
])("a file that names a database none can tell of is not said to name the default one: %j", (text) => {
  expect(named(text)).toBeUndefined();
});

test("a file that is not there names none", () => {
  expect(namedDatabase("/nowhere/main.yaml")).toBeUndefined();
});
