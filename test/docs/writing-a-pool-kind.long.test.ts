import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compileSources } from "../../contracts/compile.ts";
import { compile, problemsOf } from "./support/compile-example.ts";
import { run, workedExample } from "./support/worked-example.ts";

/** The example's contracts are compiled as the project's own are, and its test runs as one of the project's. */
const BESIDE = ["contracts/artifacts", "contracts/compile.ts", "vitest.config.ts"];
const { page, blocks, build } = workedExample("docs/WRITING-A-POOL-KIND.md", BESIDE);
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

test("the example's contracts compile without a warning", LONG, () => {
  const sources = blocks.filter(({ language }) => language === "solidity");
  const contents = Object.fromEntries(sources.map(({ path, text }) => [path, { content: text }]));
  const wanted = new Map(sources.map(({ path }) => ["FixedPricePool", path]));
  expect(compileSources(contents, wanted).map(({ contractName }) => contractName)).toEqual(["FixedPricePool"]);
});

test(
  "the example's pools are quoted to the wei and settled on a chain by the committed contracts, and no others",
  LONG,
  () => {
    const folder = build();
    const own = ["test/service/pools/fixed-price/fixed-price.test.ts", "test/service/pools/kinds.test.ts"];
    const vitest = run(folder, "node_modules/vitest/vitest.mjs", "run", ...own);
    expect(vitest, vitest.output).toMatchObject({ status: 0 });
    expect(vitest.output).toMatch(/Test Files.*2 passed/);
    expect(vitest.output).not.toMatch(/skipped|failed/);

    const preset = join(folder, "network.json");
    writeFileSync(preset, readFileSync(preset, "utf8").replace('"kind": 9', '"kind": 200'));
    const serve = ["serve", "--network", "mine", "--rpc", "http://127.0.0.1:9", "--preset", "network.json"];
    const refused = run(folder, "src/main.ts", ...serve);
    expect(refused, refused.output).toMatchObject({ status: 2 });
    expect(page).toContain(`\`\`\`text\n${refused.output.replace(/(--preset )\S*\//, "$1")}\`\`\`\n`);
  },
);
