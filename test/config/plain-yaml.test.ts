import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { parseEvents, YAMLException } from "js-yaml";
import { describe, expect, it } from "vitest";
import { readPlainYaml } from "../../src/config/plain-yaml.ts";
import { readStrictYaml } from "../../src/config/strict-yaml.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

function yamlBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.ya?ml$/.test(name))
    .map((name) => readFileSync(join(ROOT, folder, name), "utf8"));
}

const SHIPPED = [...yamlBelow("strategies"), ...yamlBelow("config"), ...yamlBelow("test/config/broken")];

/** Whether a value or a key has a tag, by another parser than the one that judges; false where it cannot read the text. */
function isTagged(text: string): boolean {
  try {
    return parseEvents(text, {}).some((event) => "tagStart" in event && event.tagStart >= 0);
  } catch (error) {
    if (error instanceof YAMLException) return false;
    throw error;
  }
}

/** Whatever the fast reader takes, the strict one must take without a word, as the same data. */
function agrees(text: string): boolean {
  const data = readPlainYaml(text);
  if (data === undefined) return false;
  const { source, problems } = readStrictYaml("file.yaml", text);
  expect(problems, text).toEqual([]);
  expect(source?.data, text).toEqual(data);
  return true;
}

describe("the fast reader", () => {
  it("reads every shipped strategy as the strict one does", () => {
    for (const text of yamlBelow("strategies")) expect(agrees(text), text).toBe(true);
  });

  it.each([
    ["a file of two documents", "a: 1\n---\nb: 2\n"],
    ["a directive", "%YAML 1.2\n---\na: 1\n"],
    ["an anchor", "a: &x 1\n"],
    ["an alias", "a: 1\nb: *x\n"],
    ["a tag", "a: !!str 1\n"],
    ["a mark that ends a document", "...\na: 1\n"],
    ["a merge key", "<<: { a: 1 }\n"],
    ["a key that stands twice", "a: 1\na: 2\n"],
    ["an unquoted address", "a: 0x12\n"],
    ["an unquoted time", "a: 09:30\n"],
    ["a key without a value", "a:\n"],
    ["a key that swallowed its value", "a: { every:6h }\n"],
    ["a decimal comma", "a: { b: 0,5% }\n"],
    ["a text over two lines", 'a: "x\n  y"\n'],
    ["a block of text", "a: |\n  x\n"],
    ["an escape", 'a: "\\u0041"\n'],
    ["a list at the top", "- a\n"],
    ["a text at the top", "a\n"],
    ["nothing", ""],
    ["a comment alone", "# a\n"],
    ["a tab", "a:\t1\n"],
    ["a letter beyond ASCII", "a: ä\n"],
    ["a line that ends as on Windows", "a: 1\r\n"],
    ["broken syntax", "a: [1\n"],
  ])("leaves %s to the strict one", (_what, text) => {
    expect(readPlainYaml(text)).toBeUndefined();
  });

  it("never takes a changed file that the strict one reads otherwise", () => {
    const piece = fc.constantFrom(
      ..."\n :,-#{}[]\"'&*!|>%@`?~0123456789abe.xyz_\t",
      "\n  ",
      ": ",
      "- ",
      " #",
      "<<: ",
      "---\n",
      "...\n",
      "!!str ",
      "!x!y ",
      "0x1",
      "1e5",
      "null",
      "true",
      "? ",
      "''",
      '""',
      "\\n",
    );
    const change = fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), gone: fc.nat(4), piece });
    let taken = 0;
    fc.assert(
      fc.property(fc.constantFrom(...SHIPPED), fc.array(change, { minLength: 1, maxLength: 4 }), (text, changes) => {
        let changed = text;
        for (const { at, gone, piece: added } of changes) {
          const place = Math.floor(at * changed.length);
          changed = changed.slice(0, place) + added + changed.slice(place + gone);
        }
        if (agrees(changed)) taken += 1;
        else if (isTagged(changed)) expect(readStrictYaml("file.yaml", changed).problems, changed).not.toEqual([]);
      }),
      { numRuns: Number(process.env.SWAPD_YAML_RUNS ?? 3_000) },
    );
    expect(taken).toBeGreaterThan(200);
  });
});
