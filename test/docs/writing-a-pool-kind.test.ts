import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compileSources } from "../../contracts/compile.ts";
import { run, workedExample } from "./support/worked-example.ts";

/** The example's contracts are compiled as the project's own are, and its test runs as one of the project's. */
const BESIDE = ["contracts/artifacts", "contracts/compile.ts", "vitest.config.ts"];
const { page, blocks, build } = workedExample("docs/WRITING-A-POOL-KIND.md", BESIDE);

test("the page shows a folder and its test, and changes nothing but the list by one line and its import", () => {
  expect(blocks.map(({ path }) => path)).toEqual([
    "test/service/pools/fixed-price/FixedPrice.sol",
    "src/service/pools/fixed-price/kind.ts",
    "src/service/pools/kinds.ts",
    "network.json",
    "test/service/pools/fixed-price/fixed-price.test.ts",
  ]);
  const changed = blocks.filter(({ language }) => language === "diff");
  expect(changed.flatMap(({ text }) => text.split("\n").filter((line) => line.startsWith("+")))).toEqual([
    '+import { fixedPrice } from "./fixed-price/kind.ts";',
    "+  fixedPrice,",
  ]);
});

test("the example's contracts compile without a warning", () => {
  const sources = blocks.filter(({ language }) => language === "solidity");
  const contents = Object.fromEntries(sources.map(({ path, text }) => [path, { content: text }]));
  const wanted = new Map(sources.map(({ path }) => ["FixedPricePool", path]));
  expect(compileSources(contents, wanted).map(({ contractName }) => contractName)).toEqual(["FixedPricePool"]);
});

test("the example's pools are quoted to the wei and settled on a chain by the committed contracts, and no others", () => {
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
});
