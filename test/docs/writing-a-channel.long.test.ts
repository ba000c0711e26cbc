import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compile, problemsOf } from "./support/compile-example.ts";
import { run, workedExample } from "./support/worked-example.ts";

const { blocks, build } = workedExample("docs/WRITING-A-CHANNEL.md", [".dependency-cruiser.cjs", "vitest.config.ts"]);
const code = blocks.map(({ path }) => path);
const BIOME = "node_modules/@biomejs/biome/bin/biome";
const CRUISER = "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs";

/** A compiler alongside other tests on two cores. */
const LONG = { timeout: 120_000 };

test("the example has the project's types, format and boundaries, and its test passes", LONG, () => {
  const folder = build();
  const biome = run(folder, BIOME, "ci", "--colors=off", "--vcs-enabled=false", ...code);
  expect(biome, biome.output).toMatchObject({ status: 0 });
  const program = compile(folder, code);
  expect(problemsOf(program)).toEqual([]);
  const cruised = run(folder, CRUISER, "--config", ".dependency-cruiser.cjs", "src/adapters/notify");
  expect(cruised, cruised.output).toMatchObject({ status: 0 });
  const own = ["test/adapters/notify/channels/pager.test.ts", "test/adapters/notify/channels.test.ts"];
  const vitest = run(folder, "node_modules/vitest/vitest.mjs", "run", ...own);
  expect(vitest, vitest.output).toMatchObject({ status: 0 });
  expect(vitest.output).toMatch(/Test Files.*2 passed/);

  expect(run(folder, "src/main.ts", "schema", "swapd").output).toContain('"const": "pager"');

  // A changed interface is noticed here first.
  const file = join(folder, "src/adapters/notify/post.ts");
  writeFileSync(file, readFileSync(file, "utf8").replace("readonly refusals?", "readonly refused?"));
  expect(problemsOf(compile(folder, code, program)).join("\n")).toMatch(/pager.ts: .*'refusals' does not/);
});
