import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { importsOfRooms, roomsDiagram, withRooms } from "../../scripts/rooms-diagram.ts";

const PAGE = readFileSync(new URL("../../docs/ARCHITECTURE.md", import.meta.url), "utf8");

test("the diagram of the rooms shows who imports whom today: npm run rooms writes it", () => {
  expect(withRooms(PAGE)).toBe(PAGE);
});

test("the imports of the rooms are read from the code", () => {
  expect(importsOfRooms().get("lane")).toEqual(new Set(["domain", "ports"]));
});

test("an import that a longer way stands for has no arrow, and no other is left out", () => {
  const imports = new Map([
    ["app", new Set(["engine", "domain"])],
    ["domain", new Set<string>()],
    ["engine", new Set(["domain"])],
  ]);
  expect(roomsDiagram(imports)).toBe("```mermaid\nflowchart TD\n  app --> engine\n  engine --> domain\n```");
});

test("every room stands in the table of rooms", () => {
  const listed = [...PAGE.matchAll(/^\| `src\/([a-z]+)` \|/gm)].map(([, room]) => room);
  expect(new Set(listed)).toEqual(new Set(importsOfRooms().keys()));
});
