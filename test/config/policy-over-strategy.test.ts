import { describe, expect, it } from "vitest";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { brief, DCA, loaded, POLICY, problemsOf, strategyProblems } from "./project.ts";

function _spec(text: string): StrategySpec {
  const strategy = loaded({ "strategies/weekly.yaml": text }).strategies[0];
  if (strategy === undefined) throw new Error("no strategy was loaded");
  return strategy.spec;
}

describe("the policy stands above every strategy", () => {
  it.each([
    [
      "slippage: 2%",
      "limits.slippage: 2% is more than the policy's max_slippage of 1% (policy.yaml:7:15) -> use at most 1%; only the owner may raise the policy",
    ],
    [
      "price_impact: 101bps",
      "limits.price_impact: 1.01% is more than the policy's max_price_impact of 1% (policy.yaml:8:19)",
    ],
    ["max_fee: 10%", "limits.max_fee: 10% is more than the policy's max_fee of 3% (policy.yaml:9:10)"],
    [
      "max_gas_price: 6gwei",
      "limits.max_gas_price: 6gwei is more than the policy's max_gas_price of 5gwei (policy.yaml:6:16)",
    ],
  ])("%s names both places", (limit, expected) => {
    const [problem, ...others] = strategyProblems(`${DCA}limits: { ${limit} }\n`);
    expect(others).toEqual([]);
    expect(problem).toMatch(/^6:\d+ /);
    expect(problem).toContain(expected);
  });

  it("over a recipient, named or by default", () => {
    const stranger = `0x${"5".repeat(40)}`;
    expect(strategyProblems(`${DCA}recipient: "${stranger}"\n`)).toEqual([
      `6:12 recipient: "${stranger}" is none of the recipients that the policy allows (policy.yaml:4:13) -> let the owner add it there, or name an allowed recipient`,
    ]);
    const policy = POLICY.replace("[main]", `["${stranger}"]`);
    expect(problemsOf({ "policy.yaml": policy }).map(brief)).toEqual([
      "2:9 wallet: the strategy's own wallet is none of the recipients that the policy allows (policy.yaml:4:13) -> let the owner add it there, or name an allowed recipient",
    ]);
    const named = { "policy.yaml": policy, "strategies/weekly.yaml": `${DCA}recipient: "${stranger}"\n` };
    expect(loaded(named).strategies[0]?.spec.recipient).toBe(stranger);
  });
});
