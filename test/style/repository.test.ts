import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesBelow, ROOT, readText, typescriptBelow } from "./support/repository.ts";
import { hasRuntimeCode, localImportsOf, parseFile } from "./support/syntax.ts";

const TEXT = /\.(?:ts|js|cjs|mjs|json|md|ya?ml|sol|sql|toml|sh)$|(?:^|\/)(?:Dockerfile|LICENSE|run|\.[a-z]+ignore)$/;

/** Everything that is written by hand and committed. */
const WRITTEN = filesBelow("").filter(
  (path) => TEXT.test(path) && path !== "package-lock.json" && !path.startsWith("contracts/artifacts/"),
);

/** Lines of written files that match, each with its place. */
function lines(pattern: RegExp, paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) =>
    readText(path)
      .split("\n")
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 100)}`] : [])),
  );
}

describe("what is committed", () => {
  it("leaves nothing for later", () => {
    // Written in pieces, so that this file is not its own finding.
    const marks = new RegExp(`\\b(?:${["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"].join("|")})\\b`);
    expect(lines(marks, WRITTEN)).toEqual([]);
  });

  it("names no two packages with one command, because npm 10 loses it when it skips the one of another machine", () => {
    const lock = JSON.parse(readText("package-lock.json")) as { packages: Record<string, { bin?: object }> };
    const commands = Object.entries(lock.packages)
      .filter(([place]) => /^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(place))
      .flatMap(([place, { bin = {} }]) => Object.keys(bin).map((command) => ({ command, place })));
    expect(commands.map(({ command }) => command)).toContain("node");
    const byCommand = Map.groupBy(commands, ({ command }) => command);
    expect([...byCommand.values()].filter((packages) => packages.length > 1)).toEqual([]);
  });

  it("speaks of the project alone, not of the machine it was written on", () => {
    const places = /(?:^|[\s"'`(=:])\/(?:wor[k]|far[m]|root|Users)\/|\.\.\/share[d]\b/;
    expect(lines(places, WRITTEN)).toEqual([]);
  });

  it("holds tests that run: none skipped, none singled out, no module mocked", () => {
    const tests = typescriptBelow("test").filter((path) => !path.startsWith("test/style/"));
    expect(lines(/\b(?:it|test|describe)\.(?:skip|only|todo)\b|\bvi\.(?:mock|doMock)\(|\bretry: \d/, tests)).toEqual(
      [],
    );
  });

  it("holds contracts to 300 lines a file", () => {
    const long = filesBelow("contracts/src").filter((path) => readText(path).split("\n").length > 301);
    expect(long).toEqual([]);
  });
});

describe("documents", () => {
  const documents = filesBelow("").filter((path) => path.endsWith(".md"));
  /** A document without its blocks of code, in which names and links are examples. */
  const proseOf = (path: string) => readText(path).replaceAll(/^(`{3,})\w*\n[\s\S]*?^\1$/gm, "");

  it("names only files that exist", () => {
    const named = /`((?:src|test|docs|config|strategies|contracts|scripts|bench|bin|dashboard)\/[\w./*-]+)`/g;
    const missing = documents.flatMap((path) =>
      [...proseOf(path).matchAll(named)].flatMap(([, name = ""]) => {
        const plain = name.replace(/\/?\*.*$/, "");
        return existsSync(join(ROOT, plain)) ? [] : [`${path} names ${name}`];
      }),
    );
    expect(missing).toEqual([]);
  });

  it("links only to files that exist", () => {
    const links = /\]\((?!https?:|#|mailto:)([^)#\s]+)/g;
    const missing = documents.flatMap((path) =>
      [...proseOf(path).matchAll(links)].flatMap(([, link = ""]) =>
        existsSync(join(ROOT, path, "..", link)) ? [] : [`${path} links to ${link}`],
      ),
    );
    expect(missing).toEqual([]);
  });
});

/** Paths of src that a set of files imports, near and far. */
function reachedFrom(starts: readonly string[]): ReadonlySet<string> {
  const reached = new Set<string>();
  const waiting = [...starts];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    for (const imported of localImportsOf(path)) {
      if (reached.has(imported) || !existsSync(join(ROOT, imported))) continue;
      reached.add(imported);
      if (imported.endsWith(".ts")) waiting.push(imported);
    }
  }
  return reached;
}

describe("every file of src", () => {
  const running = typescriptBelow("src").filter((path) => hasRuntimeCode(parseFile(path)));
  const tests = typescriptBelow("test").filter((path) => path.endsWith(".test.ts"));

  it("is reached by a test, or runs as a process in one", () => {
    const reached = reachedFrom(tests);
    // The commands are composed in src/app and run as processes, which no import shows.
    const left = running.filter((path) => !reached.has(path) && !/^src\/(?:main\.ts|app\/)/.test(path));
    expect(left).toEqual([]);
  });

  it("that decides about money is reached by the tests of the domain, or has a test of its own", () => {
    const reached = new Set([
      ...reachedFrom(tests.filter((path) => path.startsWith("test/domain/"))),
      ...tests.flatMap(localImportsOf),
    ]);
    expect(running.filter((path) => path.startsWith("src/domain/") && !reached.has(path))).toEqual([]);
  });
});
