import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compile, problemsOf } from "./support/compile-example.ts";
import { run, workedExample } from "./support/worked-example.ts";

const { blocks, build } = workedExample("docs/WRITING-A-POOL-KIND.md", ["contracts/compile.ts"]);
const code = blocks.map(({ path }) => path).filter((path) => path.endsWith(".ts"));

/** A compiler alongside other tests on two cores. */
const LONG = { timeout: 90_000 };
const BIOME = "node_modules/@biomejs/biome/bin/biome";

test("the example has the project's types and format, and a changed interface is noticed here first", LONG, () => {
  const folder = build();
  const biome = run(folder, BIOME, "ci", "--colors=off", "--vcs-enabled=false", ...code);
  expect(biome, biome.output).toMatchObject({ status: 0 });
  const program = compile(folder, code);
  expect(problemsOf(program)).toEqual([]);

  const file = join(folder, "src/service/pools/pool.ts");
  writeFileSync(file, readFileSync(file, "utf8").replace("  encodeReads(", "  encodeCalls("));
  expect(problemsOf(compile(folder, code, program))).toContainEqual(
    expect.stringMatching(/^kind.ts: .*'encodeReads' does not/),
  );
});
