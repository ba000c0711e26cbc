import ts from "typescript";
import { describe, expect, it } from "vitest";
import { filesBelow, readText } from "./support/repository.ts";
import { findingAt, lineCount, nodesOf, parseFile } from "./support/syntax.ts";

// The page is a program of its own for browsers: what of the house's rules holds there is asked here.

const PATHS = filesBelow("dashboard/source");
const CODE = PATHS.filter((path) => /\.tsx?$/.test(path)).map(parseFile);
const MAX_FILE_LINES = 280;
const MAX_FUNCTION_LINES = 70;

/** Places that are asked at each node; what is said of one is found. */
function find(question: (node: ts.Node) => string | undefined) {
  return CODE.flatMap((file) =>
    [...nodesOf(file)].flatMap((node) => {
      const what = question(node);
      return what === undefined ? [] : [findingAt(node, what)];
    }),
  );
}

describe("the page's source", () => {
  it("has the size of the house: files and functions", () => {
    expect(CODE.length).toBeGreaterThan(30);
    const files = CODE.map(({ fileName }) => ({ fileName, lines: readText(fileName).trimEnd().split("\n").length }));
    expect(files.filter(({ lines }) => lines > MAX_FILE_LINES)).toEqual([]);
    const long = find((node) =>
      ts.isFunctionLike(node) && "body" in node && lineCount(node) > MAX_FUNCTION_LINES ? "long" : undefined,
    );
    expect(long).toEqual([]);
  });

  it("names keys of the configuration that there are", () => {
    const schema = JSON.parse(readText("config/swapd.schema.json")) as { properties: object };
    const texts = PATHS.map((path) => readText(path).replaceAll(/\s+/g, " "));
    const named = texts.flatMap((text) => [...text.matchAll(/`([\w.]+)` in the configuration/g)].map(([, key]) => key));
    expect(named.length).toBeGreaterThan(0);
    const isThere = (key = ""): boolean => {
      const [first = "", ...rest] = key.split(".");
      const found = JSON.stringify(schema.properties[first as never] ?? null);
      return found !== "null" && rest.every((part) => found.includes(`"${part}":`));
    };
    expect(named.filter((key) => !isThere(key))).toEqual([]);
  });

  it("says of the value over time what is not known of it, as docs/API.md does", () => {
    const said = "deposits, withdrawals and gas are not known at their time";
    const places = [
      "docs/API.md",
      "dashboard/source/parts/portfolio-chart.tsx",
      "src/app/http/api/shapes/strategy-shapes.ts",
    ];
    const texts = places.map((path) => readText(path).replaceAll(/\s+/g, " ").toLowerCase());
    expect(places.filter((_, index) => texts[index]?.includes(said) !== true)).toEqual([]);
  });

  it("is named in kebab-case, without drawers and index files", () => {
    const isNamed = /^[a-z0-9]+(?:-[a-z0-9]+)*\.(?:tsx?|css)$/;
    const drawers = /(?:^|-)(?:utils?|helpers?|manager|misc|index)[.-]/;
    const names = PATHS.map((path) => path.slice(path.lastIndexOf("/") + 1));
    expect(names.filter((name) => !isNamed.test(name) || drawers.test(name))).toEqual([]);
  });

  it("writes no markup from text, and runs none", () => {
    const ways = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|javascript:/;
    expect(CODE.filter(({ text }) => ways.test(text)).map(({ fileName }) => fileName)).toEqual([]);
  });

  it("takes types alone from the daemon: no code of it runs in a browser", () => {
    const found = find((node) => {
      if (!ts.isImportDeclaration(node) || !ts.isStringLiteral(node.moduleSpecifier)) return undefined;
      const isOutside = node.moduleSpecifier.text.includes("/src/") || node.moduleSpecifier.text === "zod";
      const isType = node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
      return isOutside && !isType ? node.moduleSpecifier.text : undefined;
    });
    expect(found).toEqual([]);
  });

  it("uses `any` nowhere, and has no default export", () => {
    const found = find((node) =>
      node.kind === ts.SyntaxKind.AnyKeyword || ts.isExportAssignment(node) ? node.getText() : undefined,
    );
    expect(found).toEqual([]);
  });
});
