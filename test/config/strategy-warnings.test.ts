import { expect, test } from "vitest";
import { brief, DCA, loaded, THRESHOLD } from "./project.ts";

test("strategies that trade against each other are accepted with a warning that names both places", () => {
  const { strategies, warnings } = loaded({ "strategies/profit.yaml": THRESHOLD, "strategies/weekly.yaml": DCA });
  expect(strategies).toHaveLength(2);
  expect(warnings.map((warning) => `${warning.file.split("/").at(-1)} ${brief(warning)}`)).toEqual([
    "profit.yaml 3:26 sell.of: profit sells WETH, which weekly buys; weekly sells USDC, which profit buys: both trade from wallet main, the other one at weekly.yaml:4:6 -> if that is not meant, let one of them trade something else, or from another wallet",
  ]);
  expect(loaded().warnings).toEqual([]);
});

test("of very many pairs the first are listed, and that there are more", () => {
  const files = Object.fromEntries(
    Array.from({ length: 11 }, (_, index) => [
      [`strategies/a-${index}.yaml`, DCA],
      [`strategies/b-${index}.yaml`, THRESHOLD],
    ]).flat(),
  );
  const { warnings } = loaded(files);
  expect(warnings).toHaveLength(101);
  expect(warnings.at(-1)?.message).toBe("more pairs trade against each other; the first 100 are listed");
});
