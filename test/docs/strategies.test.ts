import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";

/** The rules of docs/STRATEGIES.md and its pages, checked against the names of the tests. */

const DOCS = "docs/strategies";
const pages = ["docs/STRATEGIES.md", ...readdirSync(DOCS).map((name) => join(DOCS, name))];
const RULE = /^\| ([A-Z]{3,4}-[0-9]+) \|/gm;
/** A title, or the row of a table of cases that becomes one, begins with the number and goes on with a space. */
const TITLE = /["'`]([A-Z]{3,4}-[0-9]+) /g;

const rules = pages.flatMap((page) =>
  [...readFileSync(page, "utf8").matchAll(RULE)].map((match) => ({ rule: match[1] ?? "", page })),
);

const tested = readdirSync("test", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts") && basename(name) !== "strategies.test.ts")
  .flatMap((name) => {
    const text = readFileSync(join("test", name), "utf8");
    return [...text.matchAll(TITLE)].map((match) => ({ rule: match[1] ?? "", name }));
  });

test("the rules and their tests are found at all", () => {
  expect(rules.length).toBeGreaterThan(60);
  expect(tested.length).toBeGreaterThan(100);
});

test("every rule has a test whose name begins with its number", () => {
  const known = new Set(tested.map(({ rule }) => rule));
  expect(rules.filter(({ rule }) => !known.has(rule))).toEqual([]);
});

test("every test that names a rule names one that is written down", () => {
  const known = new Set(rules.map(({ rule }) => rule));
  const described = new Set(rules.map(({ rule }) => rule.split("-")[0]));
  const unknown = tested.filter(({ rule }) => described.has(rule.split("-")[0]) && !known.has(rule));
  expect(unknown).toEqual([]);
});

test("no number is given twice", () => {
  const numbers = rules.map(({ rule }) => rule);
  expect(numbers.filter((rule, index) => numbers.indexOf(rule) !== index)).toEqual([]);
});

test("the entry page leads to every other one", () => {
  const entry = readFileSync("docs/STRATEGIES.md", "utf8");
  const linked = [...entry.matchAll(/\]\((strategies\/[a-z-]+\.md)\)/g)].map((match) => match[1] ?? "");
  expect(linked.filter((page) => !existsSync(join("docs", page)))).toEqual([]);
  expect(linked.map((page) => basename(page)).sort()).toEqual(readdirSync(DOCS).sort());
});
