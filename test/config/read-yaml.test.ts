import { describe, expect, it } from "vitest";
import { readYaml } from "../../src/config/read-yaml.ts";
import { pathKey } from "../../src/config/source.ts";
import { watchProcessorTime } from "../support/processor-time.ts";
import { brief } from "./project.ts";

function problems(text: string): string[] {
  return readYaml("file.yaml", text).problems.map(brief);
}

describe("plain data", () => {
  it("keeps the text of quoted values and reads plain numbers and booleans", () => {
    const text = `a: "1"\nb: 1\nc: true\nd: yes\ne: 2027-12-31\nf: 1_000\ng: 1.5\nh: "0x1F"\ni:\nj: 100 USDC\n`;
    const { source, problems: found } = readYaml("file.yaml", text);
    expect(found).toEqual([]);
    expect(source?.data).toEqual({
      a: "1",
      b: 1,
      c: true,
      d: "yes",
      e: "2027-12-31",
      f: 1_000,
      g: 1.5,
      h: "0x1F",
      i: null,
      j: "100 USDC",
    });
  });

  it("knows the place of every key and value", () => {
    const { source } = readYaml("file.yaml", `a:\n  b: { c: 1 }\n  d:\n    - x\n    - y\n`);
    expect(source?.places().values.get(pathKey(["a", "b", "c"]))).toEqual({ line: 2, column: 11 });
    expect(source?.places().keys.get(pathKey(["a", "b", "c"]))).toEqual({ line: 2, column: 8 });
    expect(source?.places().values.get(pathKey(["a", "d", 1]))).toEqual({ line: 5, column: 7 });
  });

  it("takes a key named __proto__ as a key, not as the prototype", () => {
    const { source } = readYaml("file.yaml", "__proto__: { polluted: true }\n");
    expect(Object.keys(source?.data as object)).toEqual(["__proto__"]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe("what YAML would silently change is refused", () => {
  it.each([
    [
      "an unquoted address",
      "to: 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913\n",
      '1:5 to: YAML reads an unquoted 0x... as a number and loses digits -> write "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"',
    ],
    [
      "an unquoted address as a key",
      "0xabcd: 1\n",
      "1:1 : YAML reads an unquoted 0x... as a number -> put it in quotes",
    ],
    ["an unquoted time", "at: 09:30\n", '1:5 at: YAML 1.1 reads an unquoted time as a base-60 number -> write "09:30"'],
    [
      "a duplicate key",
      "a: 1\nb: 2\na: 3\n",
      "3:1 a: the same key occurs twice in this map, first in line 1 -> keep one of the two",
    ],
    [
      "a duplicate key deep inside",
      "x:\n  - { a: 1, a: 2 }\n",
      "2:13 x.0.a: the same key occurs twice in this map, first in line 2 -> keep one of the two",
    ],
    ["a tab", "a:\n\tb: 1\n", "2:1 : a tab indents this line -> YAML is indented with spaces"],
    [
      "an octal number",
      "a: 010\n",
      '1:4 a: a leading zero makes this an octal or binary number in some YAML readers -> write "010", or drop the zero',
    ],
    [
      "a YAML 1.2 octal number",
      "a: 0o17\n",
      '1:4 a: a leading zero makes this an octal or binary number in some YAML readers -> write "0o17", or drop the zero',
    ],
    [
      "an exponent",
      "a: 1e18\n",
      "1:4 a: numbers with an exponent are not used here -> write all digits, with the unit, in quotes",
    ],
    [
      "infinity",
      "a: .inf\n",
      "1:4 a: numbers with an exponent are not used here -> write all digits, with the unit, in quotes",
    ],
    [
      "an anchor",
      "a: &x 1\n",
      "1:4 a: anchors and aliases (& and *) are not used here -> write the value out where it is needed",
    ],
    ["a tag", "a: !!int 1\n", "1:4 a: tags (a leading !) are not used here -> write the plain value"],
    [
      "a tag with an unknown handle",
      'a: !x!y "100 USDC"\n',
      "1:4 a: tags (a leading !) are not used here -> write the plain value",
    ],
    ["the tag of texts", "a: !!str 1\n", "1:4 a: tags (a leading !) are not used here -> write the plain value"],
    [
      "the tag of maps",
      "a: !!map # b\n  b: 1\n",
      "1:4 a: tags (a leading !) are not used here -> write the plain value",
    ],
    [
      "a tag in full",
      "a: !<tag:yaml.org,2002:str> 1\n",
      "1:4 a: tags (a leading !) are not used here -> write the plain value",
    ],
    ["a tag of a key", "!!str a: 1\n", "1:1 a: tags (a leading !) are not used here -> write the plain value"],
    [
      "a tag of a key with an unknown handle",
      "b: { !x!y a: 1 }\n",
      "1:6 b.a: tags (a leading !) are not used here -> write the plain value",
    ],
    [
      "a tag without a value",
      "a: !x!y\nb: 1\n",
      "1:4 a: tags (a leading !) are not used here -> write the plain value",
    ],
    [
      "a space that is no plain one",
      'a: 1\nb: "100\u00a0USDC"\n',
      "2:8 b: a space that is not the plain one (U+00A0) stands here -> write a plain space",
    ],
    [
      "a thin space without quotes",
      "a: 100\u2009USDC\n",
      "1:7 a: a space that is not the plain one (U+2009) stands here -> write a plain space",
    ],
    [
      "such a space in a list of lists, written as an escape",
      'a: [["x\\u3000y"]]\n',
      "1:6 a.0.0: a space that is not the plain one (U+3000) stands here -> write a plain space",
    ],
    [
      "a second document",
      "a: 1\n---\nb: 2\n",
      "2:1 : a file holds one document -> move what follows '---' to a file of its own",
    ],
    ["nothing", "# only a comment\n", "1:1 : the file is empty"],
  ])("%s", (_name, text, expected) => {
    expect(problems(text)).toEqual([expected]);
  });

  it("an anchor with its alias and a merge key", () => {
    const found = problems("base: &b { x: 1 }\nother: { <<: *b, y: 2 }\nlist: [*b]\n");
    expect(found).toHaveLength(3);
    expect(found[0]).toContain("1:7 base: anchors and aliases");
    expect(found[1]).toContain("2:10 other.<<: anchors and merge keys");
    expect(found[2]).toContain("3:8 list.0: anchors and aliases");
  });

  it("an alias that points nowhere", () => {
    expect(problems("a: *nowhere\n")[0]).toContain("anchors and aliases");
  });

  it("nesting that would exhaust the stack", () => {
    const nested = [17, 3_000].flatMap((depth) => [
      `a: ${"[".repeat(depth)}1${"]".repeat(depth)}\n`,
      `a: ${"{ b: ".repeat(depth)}1${"}".repeat(depth)}\n`,
      `${"- ".repeat(depth)}1\n`,
    ]);
    nested.push(`a: ${"[".repeat(50_000)}${"]".repeat(50_000)}\n`);
    for (const text of nested) {
      expect(problems(text)).toEqual([expect.stringMatching(/: nothing here is nested deeper than 16 levels/)]);
    }
  });

  it("a mark that ends a document before the first one", () => {
    const found = problems("...\nsell: 100 USDC\n");
    expect(found).not.toEqual([]);
  });

  it("a billion laughs, without expanding them", () => {
    const lines = ["a0: &a0 [x]"];
    for (let index = 1; index < 12; index += 1) lines.push(`a${index}: &a${index} [${`*a${index - 1}, `.repeat(9)}]`);
    const usedMs = watchProcessorTime();
    expect(problems(`${lines.join("\n")}\n`).length).toBeGreaterThan(0);
    expect(usedMs()).toBeLessThan(2_000);
  });
});

it("reports a syntax error with its place and keeps a key in that line to itself", () => {
  const secret = "ab".repeat(32);
  const [problem] = readYaml("file.yaml", `a: 1\nprivateKey: "0x${secret}\n`).problems;
  expect(problem).toMatchObject({ line: expect.any(Number) });
  expect(JSON.stringify(problem)).not.toContain(secret);
});
