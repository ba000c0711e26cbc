import { expect, test } from "vitest";
import { editYaml, textAt } from "../../src/config/edit-yaml.ts";

const FILE = `# the main file
version: 1
mode: dry-run                        # dry-run | live
network:
  name: base
  rpc: [{ env: RPC_1 }]   # more are better
tokens:              # only these
  USDC: { address: preset, decimals: 6 }   # dollars
  WETH: { address: preset, decimals: 18 }  # wrapped
policy: policy.yaml
`;

test("a value is another one, and comments, spaces and order stay; the comment behind it keeps its column", () => {
  expect(editYaml(FILE, [{ path: ["mode"], text: "live" }])).toBe(
    FILE.replace("mode: dry-run                        #", "mode: live                           #"),
  );
  expect(editYaml(FILE, [{ path: ["network", "rpc"], text: "[{ env: RPC_1 }, { env: RPC_2 }]" }])).toBe(
    FILE.replace("[{ env: RPC_1 }]   #", "[{ env: RPC_1 }, { env: RPC_2 }] #"),
  );
});

test("a key that is missing comes behind the last one of its map, whatever the form of that", () => {
  const added = editYaml(FILE, [{ path: ["tokens", "DAI"], text: "{ address: preset, decimals: 18 }" }]);
  expect(added).toContain("# wrapped\n  DAI: { address: preset, decimals: 18 }\npolicy");
  expect(editYaml(FILE, [{ path: ["tokens", "USDC", "peg"], text: "USD" }])).toContain(
    "USDC: { address: preset, decimals: 6, peg: USD }   # dollars",
  );
  expect(editYaml("version: 1", [{ path: ["mode"], text: "live" }])).toBe("version: 1\nmode: live");
  expect(editYaml("version: 1 # one\n\n# the end\n", [{ path: ["mode"], text: "live" }])).toBe(
    "version: 1 # one\nmode: live\n\n# the end\n",
  );
});

test.each([
  ["in quotes", '"mode": "dry-run"\n', '"mode": live\n'],
  ["with Windows line ends", "version: 1\r\nmode: dry-run\r\n", "version: 1\r\nmode: live\r\n"],
  ["in one line", "{ version: 1, mode: dry-run }\n", "{ version: 1, mode: live }\n"],
  ["on a line of its own", "mode:\n  dry-run\nversion: 1\n", "mode:\n  live\nversion: 1\n"],
])("a mode %s is set", (_what, before, after) => {
  expect(editYaml(before, [{ path: ["mode"], text: "live" }])).toBe(after);
});

test.each([
  ["a broken file", "mode: [dry-run\n"],
  ["a list where a map should be", "- mode\n- dry-run\n"],
  ["an empty file", ""],
  ["a key that stands there twice", "mode: dry-run\nmode: dry-run\n"],
])("%s is left to a person", (_what, before) => {
  expect(editYaml(before, [{ path: ["mode"], text: "live" }])).toBeUndefined();
});

test("an edit that would say anything else is not made", () => {
  expect(editYaml(FILE, [{ path: ["mode"], text: "live\nversion: 2" }])).toBeUndefined();
  expect(editYaml(FILE, [{ path: ["mode"], text: "live #" }])).toBe(
    FILE.replace("dry-run                        #", "live #                         #"),
  );
});

test("the text of a value is as it stands", () => {
  expect(textAt(FILE, ["tokens", "USDC"])).toBe("{ address: preset, decimals: 6 }");
  expect(textAt(FILE, ["tokens", "DAI"])).toBeUndefined();
});

test("a key goes with its line, and nothing else does", () => {
  const file = "kind: dca\n# above\nbudget: { total: 5 } # why\nlimits:\n  a: 1\n  b: 2\n";
  expect(editYaml(file, [{ path: ["budget"], text: undefined }])).toBe("kind: dca\n# above\nlimits:\n  a: 1\n  b: 2\n");
  expect(editYaml(file, [{ path: ["limits"], text: undefined }])).toBe(
    "kind: dca\n# above\nbudget: { total: 5 } # why\n",
  );
  expect(editYaml(file, [{ path: ["limits", "b"], text: undefined }])).toBe(file.replace("  b: 2\n", ""));
  expect(editYaml("{ a: 1, b: 2 }\n", [{ path: ["b"], text: undefined }])).toBeUndefined();
});
