import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { hasTitle } from "./support/titles.ts";

/** docs/PROMISES.md, checked against the pages that it quotes, the tests that it names and the bounds in the source. */

interface Row {
  readonly page: string;
  readonly said: string;
  readonly heldBy: string;
}

const rows: readonly Row[] = readFileSync("docs/PROMISES.md", "utf8")
  .split(/^## /m)
  .slice(1)
  .flatMap((part) => {
    const [page = "", ...lines] = part.split("\n");
    return lines
      .filter((line) => /^\| (?!-|Said \|)/.test(line))
      .map((line) => {
        const [said = "", heldBy = ""] = line.slice(2, -2).split(" | ");
        return { page, said, heldBy };
      });
  });

/** `file`, `file > title`, `a source's file: text of it`, or a command that runs tests. */
const REFERENCE = /`(?:(test\/[\w./-]+)(?: > ([^`]+))?|(src\/[\w./-]+\.ts): ([^`]+)|(npm run [\w:-]+))`/g;

function isThere([, file, title, source, text, command]: RegExpMatchArray): boolean {
  if (command !== undefined) return SCRIPTS.includes(command);
  if (source !== undefined) return existsSync(source) && readFileSync(source, "utf8").includes(text ?? "");
  if (file === undefined || !existsSync(file)) return false;
  return title === undefined || title.split(" > ").every((part) => hasTitle(file, part));
}
const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
const SCRIPTS = Object.keys(scripts).map((name) => `npm run ${name}`);

test("what is quoted stands in its page, word for word", () => {
  expect(rows.filter(({ page, said }) => !readFileSync(page, "utf8").includes(said))).toEqual([]);
  expect(rows.length).toBeGreaterThan(100);
});

test("each quote names what holds it, and all of that is there", () => {
  const broken = rows.flatMap(({ said, heldBy }) => {
    const references = [...heldBy.matchAll(REFERENCE)];
    const missing = references.filter((reference) => !isThere(reference)).map(([name]) => name);
    return references.length === 0 || missing.length > 0 ? [{ said, missing }] : [];
  });
  expect(broken).toEqual([]);
});

test("no section of a page that promises something is left out", () => {
  const left = ["README.md", "docs/OPERATIONS.md", "docs/SERVICE.md"].flatMap((page) =>
    readFileSync(page, "utf8")
      .split(/^##+ /m)
      .slice(1)
      .filter((section) => !rows.some((row) => row.page === page && section.includes(row.said)))
      .map((section) => `${page}: ${section.split("\n")[0]}`),
  );
  expect(left).toEqual(["README.md: Where things are"]);
});

test("the tests that docs/SECURITY.md names for its promises are there", () => {
  const table = readFileSync("docs/SECURITY.md", "utf8").split("\n## Promises\n")[1]?.split("\n## ")[0] ?? "";
  const promises = table.split("\n").filter((line) => /^\| (?!-|Promise \|)/.test(line));
  const named = promises.map((line) => [...line.matchAll(/`((?:src|test)\/[\w./-]+)`/g)].map(([, path = ""]) => path));
  expect(promises.length).toBeGreaterThan(20);
  expect(named.filter((paths) => !paths.some((path) => path.startsWith("test/")))).toEqual([]);
  expect(named.flat().filter((path) => !existsSync(path))).toEqual([]);
});
