import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** CHANGELOG.md by release and kind of change (keepachangelog.com), a short line a change. */

const MAX_LINE = 160;
const KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];

const changelog = readFileSync("CHANGELOG.md", "utf8");
const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };

interface Release {
  readonly heading: string;
  readonly groups: readonly { readonly kind: string; readonly lines: readonly string[] }[];
}

const releases: readonly Release[] = changelog
  .split(/^## /m)
  .slice(1)
  .map((part) => {
    const [head = "", ...groups] = part.split(/^### /m);
    return {
      heading: head.trim(),
      groups: groups.map((group) => {
        const [kind = "", ...lines] = group.trimEnd().split("\n");
        return { kind, lines: lines.filter((line) => line !== "") };
      }),
    };
  });

test("each release has a version and a day, but for the one that is coming", () => {
  const [coming, ...made] = releases.map(({ heading }) => heading);
  expect(coming).toMatch(/^\d+\.\d+\.\d+ - (?:unreleased|\d{4}-\d\d-\d\d)$/);
  expect(made.filter((heading) => !/^\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d$/.test(heading))).toEqual([]);
  // What is released is the version of package.json, and what is coming is another one.
  const isReleased = coming?.endsWith("unreleased") === false;
  expect(coming?.split(" ")[0] === version).toBe(isReleased);
});

test("the kinds of changes are those that readers know, each once, in their order, and none is empty", () => {
  for (const { heading, groups } of releases) {
    const kinds = groups.map(({ kind }) => kind);
    expect(kinds, heading).toEqual(KINDS.filter((kind) => kinds.includes(kind)));
    expect(groups.filter(({ lines }) => lines.length === 0)).toEqual([]);
  }
});

test(`a change is one line of at most ${MAX_LINE} characters`, () => {
  const lines = releases.flatMap(({ groups }) => groups.flatMap((group) => group.lines));
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.filter((line) => !line.startsWith("- ") || !line.endsWith(".") || line.length > MAX_LINE)).toEqual([]);
  expect(lines.filter((line, index) => lines.indexOf(line) !== index)).toEqual([]);
});
