import { expect, test } from "vitest";
import { brief, DCA, loaded, MAIN, POLICY, problemsOf, REBALANCE, THRESHOLD } from "./project.ts";

test("strategies that trade against each other are accepted with a warning a coin that names both places", () => {
  const { strategies, warnings } = loaded({ "strategies/profit.yaml": THRESHOLD, "strategies/weekly.yaml": DCA });
  expect(strategies).toHaveLength(2);
  const advice = "if that is not meant, let them trade something else, or from another wallet";
  expect(warnings.map((warning) => `${warning.file.split("/").at(-1)} ${brief(warning)}`)).toEqual([
    `profit.yaml 3:26 sell.of: WETH of wallet main is sold by profit and bought by weekly (weekly.yaml:4:6) -> ${advice}`,
    `weekly.yaml 3:7 sell: USDC of wallet main is sold by weekly and bought by profit (profit.yaml:4:6) -> ${advice}`,
  ]);
  expect(loaded().warnings).toEqual([]);
});

test("very many of them are one line a coin, with the first of them by name", () => {
  const files = Object.fromEntries(
    Array.from({ length: 11 }, (_, index) => [
      [`strategies/a-${index}.yaml`, DCA],
      [`strategies/b-${index}.yaml`, THRESHOLD],
    ]).flat(),
  );
  const { warnings } = loaded(files);
  expect(warnings).toHaveLength(2);
  expect(warnings[0]?.message).toContain("is sold by a-0, a-1, a-10, a-2, a-3, a-4 and 6 more and bought by b-0");
});

test("hundreds of wallets with the same conflict are a few lines a coin, and the last has the number of the others", () => {
  const names = Array.from({ length: 9 }, (_, index) => `w${index}`);
  const watched = names.map((name, index) => `  ${name}: { address: "0x${String(index + 1).repeat(40)}" }\n`).join("");
  const files = names.flatMap((name) => [
    [`strategies/${name}-buys.yaml`, DCA.replace("wallet: main", `wallet: ${name}`)],
    [`strategies/${name}-sells.yaml`, THRESHOLD.replace("wallet: main", `wallet: ${name}`)],
  ]);
  const { warnings } = loaded({
    ...Object.fromEntries(files),
    "main.yaml": MAIN.replace("tokens:\n", `${watched}tokens:\n`).replace("mode: live", "mode: paper"),
    "policy.yaml": POLICY.replace("[main]", `[main, ${names.join(", ")}]`),
  });
  expect(warnings.map(({ file }) => file.split("/").at(-1))).toEqual([
    ...names.slice(0, 6).map((name) => `${name}-buys.yaml`),
    ...names.slice(0, 6).map((name) => `${name}-sells.yaml`),
  ]);
  const counted = warnings.filter(({ message }) => message.endsWith("; the same in further wallets: 3"));
  expect(counted.map(({ file }) => file.split("/").at(-1))).toEqual(["w5-buys.yaml", "w5-sells.yaml"]);
});

test("REB-28 two mixes of one wallet that hold the same token are refused with both places", () => {
  const problems = problemsOf({ "strategies/one.yaml": REBALANCE, "strategies/two.yaml": REBALANCE });
  expect(problems.map((problem) => `${problem.file.split("/").at(-1)} ${brief(problem)}`)).toEqual([
    expect.stringMatching(
      /^two\.yaml \d+:\d+ targets: two and one \(one\.yaml:\d+:\d+\) both keep .+ of wallet main at weights, so each would undo what the other trades -> keep one of them, put the tokens of both into one mix, or give one of them another wallet$/,
    ),
  ]);
});

test("REB-33 a mix that counts what another one keeps at weights is refused with both places", () => {
  const other = "0x1111111111111111111111111111111111111111";
  const main = MAIN.replace("tokens:\n", `  second: { address: "${other}" }\ntokens:\n`).replace(
    "mode: live",
    "mode: paper",
  );
  const policy = POLICY.replace("[main]", "[main, second]");
  const files = { "main.yaml": main, "policy.yaml": policy, "strategies/weekly.yaml": REBALANCE };
  const second = REBALANCE.replace("wallet: main", "wallet: second");
  expect(loaded({ ...files, "strategies/other.yaml": second }).strategies).toHaveLength(2);
  const counting = `${second}external: [{ address: main, tokens: [USDC] }]\n`;
  const problems = problemsOf({ ...files, "strategies/other.yaml": counting });
  expect(problems.map((problem) => `${problem.file.split("/").at(-1)} ${brief(problem)}`)).toEqual([
    "other.yaml 8:11 external: counts USDC of wallet main, which weekly (weekly.yaml:4:10) keeps at weights: both would trade the same drift -> keep one of them, or count another address",
  ]);
});
