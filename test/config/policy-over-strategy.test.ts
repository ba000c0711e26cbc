import { describe, expect, it } from "vitest";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { brief, DCA, loaded, POLICY, problemsOf, REBALANCE, strategyProblems } from "./project.ts";

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

  it("also where another key of it is broken: all is reported at once", () => {
    const changes = {
      "policy.yaml": POLICY.replace("max_fee: 3%", "max_fee: 3"),
      "strategies/weekly.yaml": `${DCA}limits: { slippage: 2% }\n`,
    };
    expect(problemsOf(changes).map(({ path }) => path)).toEqual(["max_fee", "limits.slippage"]);
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

  const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
  const policyWith = (line: string): string => POLICY.replace("gas_reserve", `${line}\ngas_reserve`);

  it("over what it sells and buys, each token with the place that names it", () => {
    const weekly = { "policy.yaml": policyWith("tokens: [WETH]"), "strategies/weekly.yaml": DCA };
    expect(problemsOf(weekly).map(brief)).toEqual([
      "3:7 sell: USDC is none of the tokens that the policy allows (policy.yaml:5:9) -> let the owner add it there, or trade another token",
    ]);
    const mix = { "policy.yaml": policyWith(`tokens: ["${USDC}"]`), "strategies/weekly.yaml": REBALANCE };
    expect(problemsOf(mix).map(brief)).toEqual([
      "4:18 targets.WETH: WETH is none of the tokens that the policy allows (policy.yaml:5:9) -> let the owner add it there, or trade another token",
    ]);
  });

  it("but not over tokens that it lists by name or by address", () => {
    const policy = loaded({ "policy.yaml": policyWith(`tokens: ["${USDC}", WETH]`) }).policy;
    expect(policy.tokens).toEqual([USDC.toLowerCase(), "0x4200000000000000000000000000000000000006"]);
  });

  it("over nothing of the main file where it lists no tokens, the native coin among them", () => {
    const { policy, tokens } = loaded();
    expect(policy.tokens).toEqual([...tokens.values()].map(({ token }) => token.address));
    expect(policy.tokens).toContain("0x0000000000000000000000000000000000000000");
  });
});

describe("the policy stands above the main file", () => {
  const settlement = `0x${"1".repeat(40)}`;
  const stranger = `0x${"5".repeat(40)}`;

  it("over the settlement contract, with both places", () => {
    const policy = POLICY.replace("gas_reserve", `spenders: ["${stranger}"]\ngas_reserve`);
    expect(problemsOf({ "policy.yaml": policy }).map(brief)).toEqual([
      `4:55 service.settlement: the settlement contract ${settlement} is none of the spenders that the policy allows (policy.yaml:5:11) -> verify the contract, and let the owner add it there`,
    ]);
  });

  it("but not over one that it lists, and without a list over the pinned one only", () => {
    const policy = POLICY.replace("gas_reserve", `spenders: ["${stranger}", "${settlement}"]\ngas_reserve`);
    expect(loaded({ "policy.yaml": policy }).policy.spenders).toEqual([stranger, settlement]);
    expect(loaded().policy.spenders).toEqual([settlement]);
  });
});
