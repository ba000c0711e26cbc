import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Lexer } from "yaml";
import { readYaml } from "../../src/config/read-yaml.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

function yamlBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.ya?ml$/.test(name))
    .map((name) => readFileSync(join(ROOT, folder, name), "utf8"));
}

const SHIPPED = [...yamlBelow("strategies"), ...yamlBelow("config"), ...yamlBelow("test/config/broken")];

/** Stands before a word that is text, as a block of text that begins with an exclamation mark is. */
const TEXT_FOLLOWS = "\u001f";

/** Whether a value or a key has a tag, by the words of the text alone: what is made of them may leave a tag out. */
function isTagged(text: string): boolean {
  const words = [...new Lexer().lex(text)];
  return words.some((word, index) => word.startsWith("!") && words[index - 1] !== TEXT_FOLLOWS);
}

it("a tag behind an explicit key is reported with its place, though the parser leaves it out", () => {
  const { problems } = readYaml("file.yaml", "mode: live\n? ''!!str\nkind: dca\n");
  expect(problems).toMatchObject([{ line: 2, column: 5, message: expect.stringContaining("tags (a leading !)") }]);
});

describe("a changed file", () => {
  it("is never taken without a word when a tag stands in it", () => {
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
    let tagged = 0;
    fc.assert(
      fc.property(fc.constantFrom(...SHIPPED), fc.array(change, { minLength: 1, maxLength: 4 }), (text, changes) => {
        let changed = text;
        for (const { at, gone, piece: added } of changes) {
          const place = Math.floor(at * changed.length);
          changed = changed.slice(0, place) + added + changed.slice(place + gone);
        }
        const { source, problems } = readYaml("file.yaml", changed);
        if (source === undefined) expect(problems, changed).not.toEqual([]);
        if (!isTagged(changed)) return;
        tagged += 1;
        expect(problems, changed).not.toEqual([]);
      }),
      { numRuns: Number(process.env.SWAPD_YAML_RUNS ?? 3_000) },
    );
    expect(tagged).toBeGreaterThan(100);
  });
});
