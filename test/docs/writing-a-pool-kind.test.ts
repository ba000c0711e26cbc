import { expect, test } from "vitest";
import { workedExample } from "./support/worked-example.ts";

const { blocks } = workedExample("docs/WRITING-A-POOL-KIND.md");

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
