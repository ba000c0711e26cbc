import { describe, expect, it } from "vitest";
import type { ValueAveragingSpec } from "../../src/domain/strategy/value-averaging.ts";
import { loaded, POLICY, problemsOf, strategyProblems, VALUE_AVERAGING as VALUE } from "./project.ts";

function spec(text: string): ValueAveragingSpec {
  const [strategy] = loaded({ "strategies/weekly.yaml": text }).strategies;
  if (strategy?.spec.kind !== "value-averaging") throw new Error("no value-averaging strategy was loaded");
  return strategy.spec;
}

describe("a value-averaging strategy's file", () => {
  it("VAL-5 sells nothing and grows by nothing unless it says so", () => {
    expect(spec(VALUE)).toMatchObject({
      pay: { symbol: "USDC" },
      buy: { symbol: "WETH" },
      path: { step: 100_000_000n, growth: 0n },
      maxContribution: 300_000_000n,
      min: 20_000_000n,
      budget: undefined,
      allowSell: false,
      startMs: undefined,
      onInsufficient: "skip",
      maxTradeUsd: 500n * 10n ** 18n,
    });
  });

  it("takes every key there is", () => {
    const text = `${VALUE.replace('100 USDC"', '100 USDC", growth: 0.5%').replace("buy: WETH", "buy: ETH")}budget: { total: "5200 USDC" }
allow_sell: true
start: 2026-11-03T08:00Z
on_insufficient: partial
`;
    expect(spec(text)).toMatchObject({
      buy: { symbol: "ETH" },
      path: { growth: 5_000n },
      budget: { total: 5_200_000_000n },
      allowSell: true,
      startMs: Date.UTC(2026, 10, 3, 8),
      onInsufficient: "partial",
    });
  });

  it.each([
    [
      "a path without a cap",
      VALUE.replace('max_contribution: "300 USDC"\n', ""),
      '1:1 max_contribution: the key "max_contribution" is missing -> add max_contribution: "300 USDC" (the most that one slot pays, or sells: falling prices ask for ever more)',
    ],
    [
      "a cap in another token",
      VALUE.replace('"300 USDC"', '"1 WETH"'),
      "5:19 max_contribution: must be in USDC, not in WETH -> write how much it is in USDC",
    ],
    [
      "a smallest trade above the cap",
      VALUE.replace('"20 USDC"', '"301 USDC"'),
      "6:16 trades.min: is more than max_contribution, so nothing would ever be bought -> lower it, or raise max_contribution",
    ],
    [
      "a budget below the smallest trade",
      `${VALUE}budget: { total: "19 USDC" }\n`,
      "8:18 budget.total: is less than the smallest trade, so nothing would ever be bought -> raise it, or lower trades.min",
    ],
    [
      "a growth that leads nowhere",
      VALUE.replace('"100 USDC"', '"100 USDC", growth: 21%'),
      '4:35 path.growth: "21%" is more than 20% -> use at most 20%',
    ],
    [
      "a token for itself",
      VALUE.replace("buy: WETH", "buy: USDC"),
      "3:6 buy: USDC would be bought with itself -> name another token",
    ],
    [
      "VAL-5 gasless sales of the native coin",
      `${VALUE.replace("buy: WETH", "buy: ETH")}allow_sell: true\nexecution: { gasless: only }\n`,
      "9:23 execution.gasless: gasless swaps cannot sell ETH: a relayer has no way to take the native coin -> use never or prefer, or sell the wrapped token",
    ],
  ])("%s is refused", (_name, text, expected) => {
    expect(strategyProblems(text)).toEqual([expected]);
  });

  it("VAL-5 selling what went to another recipient is refused", () => {
    const dead = '"0x000000000000000000000000000000000000dEaD"';
    const problems = problemsOf({
      "policy.yaml": POLICY.replace("[main]", `[main, ${dead}]`),
      "strategies/weekly.yaml": `${VALUE}allow_sell: true\nrecipient: ${dead}\n`,
    });
    expect(problems).toMatchObject([
      { line: 8, column: 13, message: "what goes to another recipient cannot be sold from this wallet" },
    ]);
  });
});
