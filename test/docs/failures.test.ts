import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { hasTitle } from "./support/titles.ts";

/** Every test that docs/FAILURES.md and its pages name, checked against the files. */

const PAGES = "docs/failures";
const pages = ["docs/FAILURES.md", ...readdirSync(PAGES).map((name) => `${PAGES}/${name}`)];

/** A row of a table; the last cell names tests, or says why there is none. */
interface Row {
  readonly page: string;
  readonly cells: readonly string[];
}

const rows: readonly Row[] = pages.flatMap((page) =>
  readFileSync(page, "utf8")
    .split("\n")
    .filter((line) => /^\| (?!-|Id \||Failure \|)/.test(line))
    .map((line) => ({ page, cells: line.slice(2, -2).split(" | ") })),
);
const catalogue = rows.filter(({ page }) => page !== "docs/FAILURES.md");

/** `file`, or `file > title`, in backticks. */
const REFERENCE = /`((?:test|contracts\/test)\/[\w./-]+\.(?:test\.ts|t\.sol))(?: > ([^`]+))?`/g;
/** A command that is no single test but runs many. */
const COMMAND = /`npm run [\w:-]+`/;
const WITHOUT_TEST = /^(?:does not apply: .|not held: .|-$)/;

test("the judge of titles sees one that is there, and one that is not", () => {
  const self = "test/docs/failures.test.ts";
  expect(hasTitle(self, "the judge of titles sees one that is there, and one that is not")).toBe(true);
  expect(hasTitle(self, "the judge of titles")).toBe(false);
});

test("every test that is named is there, by file and by title: `file > title`, in backticks", () => {
  const missing = pages.flatMap((page) =>
    [...readFileSync(page, "utf8").matchAll(REFERENCE)].flatMap(([name, file = "", title]) => {
      const isThere =
        existsSync(file) && (title === undefined || title.split(" > ").every((part) => hasTitle(file, part)));
      return isThere ? [] : [`${page} names ${name}`];
    }),
  );
  expect(missing).toEqual([]);
});

test("every row names a test, or says why there is none", () => {
  const bare = rows.filter(({ cells }) => {
    const last = cells.at(-1) ?? "";
    return last.match(REFERENCE) === null && !COMMAND.test(last) && !WITHOUT_TEST.test(last);
  });
  expect(bare).toEqual([]);
  expect(rows.length).toBeGreaterThan(80);
});

test("a row of the catalogue has a number of its own, what fails, what happens and the test", () => {
  const numbers = catalogue.map(({ cells }) => cells[0] ?? "");
  expect(catalogue.filter(({ cells }) => cells.length !== 4)).toEqual([]);
  expect(numbers.filter((number, index) => !/^[A-N]\d+$/.test(number) || numbers.indexOf(number) !== index)).toEqual(
    [],
  );
});

test("the entry page leads to every other one", () => {
  const linked = [...readFileSync("docs/FAILURES.md", "utf8").matchAll(/\]\(failures\/([a-z-]+\.md)\)/g)];
  expect(linked.map(([, name]) => name).sort()).toEqual(readdirSync(PAGES).sort());
});
