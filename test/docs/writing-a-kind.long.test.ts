import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compile, problemsOf } from "./support/compile-example.ts";
import { ROOT, run, workedExample } from "./support/worked-example.ts";

const { blocks, build } = workedExample("docs/WRITING-A-KIND.md");

const code = blocks.map(({ path }) => path).filter((path) => path.endsWith(".ts"));
const kindTests = code.filter((path) => path.endsWith(".test.ts"));

/** Files of the project that name the type of all kinds: one that asks which kind it is would have to know the new one. */
const KNOW_KINDS = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
  .map((name) => `src/${name}`)
  .filter((path) => path.endsWith(".ts") && /\bStrategySpec\b/.test(readFileSync(join(ROOT, path), "utf8")));

/** The example, and all files that know of kinds. */
const roots = [...code, ...KNOW_KINDS];

/** A compiler alongside other tests on two cores: it takes six seconds when it is alone. */
const LONG = { timeout: 90_000 };
const BIOME = "node_modules/@biomejs/biome/bin/biome";

test("the example has the project's types and format, and a changed interface is noticed here first", LONG, () => {
  const folder = build();
  const biome = run(folder, BIOME, "ci", "--colors=off", "--vcs-enabled=false", ...code);
  expect(biome, biome.output).toMatchObject({ status: 0 });
  const program = compile(folder, roots);
  expect(problemsOf(program)).toEqual([]);

  const file = join(folder, "src/domain/strategy/kind.ts");
  writeFileSync(file, readFileSync(file, "utf8").replace("  needs(", "  wants("));
  expect(problemsOf(compile(folder, roots, program))).toContainEqual(
    expect.stringMatching(/^take-turns.ts: .*'needs' does not/),
  );
});

test("the example's own tests pass, and hold each of its numbered rules", () => {
  const folder = build();
  const vitest = run(folder, "node_modules/vitest/vitest.mjs", "run", ...kindTests, "test/docs/strategies.test.ts");
  expect(vitest, vitest.output).toMatchObject({ status: 0 });
  expect(vitest.output).toMatch(/Test Files.*3 passed/);
});
