import { describe, expect, it } from "vitest";
import { FILE_KINDS } from "../../src/config/strategy/kinds.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { brief, loaded, MAIN, problemsOf, REBALANCE, strategyProblems } from "./project.ts";

function spec(text: string): StrategySpec {
  const strategy = loaded({ "strategies/weekly.yaml": text }).strategies[0];
  if (strategy === undefined) throw new Error("no strategy was loaded");
  return strategy.spec;
}

describe("a rebalance strategy", () => {
  it("is read with its weights and its rest", () => {
    expect(spec(REBALANCE)).toMatchObject({
      kind: "rebalance",
      quote: { symbol: "USDC" },
      targets: [
        { token: { symbol: "WETH" }, weight: 600_000n },
        { token: { symbol: "USDC" }, weight: 400_000n },
      ],
      bands: { relative: 200_000n, absolute: undefined },
      trades: { min: 50_000_000n },
    });
  });

  it.each([
    [
      "weights that are too little",
      REBALANCE.replace("USDC: rest", "USDC: 30%"),
      "4:10 targets: the weights sum to 90%, not to 100% -> change one of them to rest",
    ],
    [
      "nothing left for the rest",
      REBALANCE.replace("60%", "100%"),
      "4:10 targets: the weights sum to 100%, so nothing is left for the rest",
    ],
    ["two rests", REBALANCE.replace("60%", "rest"), "4:10 targets: only one token can be the rest, not WETH and USDC"],
    ["a single token", REBALANCE.replace("WETH: 60%, ", ""), "4:10 targets: a mix has at least two tokens"],
    [
      "a weight of nothing",
      REBALANCE.replace("60%", "0%"),
      "4:18 targets.WETH: a weight of nothing is no target -> leave the token out",
    ],
    ["a weight without unit", REBALANCE.replace("60%", "60"), "4:18 targets.WETH: needs a share such as 60%, or rest"],
    ["a weight as a float", REBALANCE.replace("60%", "0.6"), "4:18 targets.WETH: needs a share such as 60%, or rest"],
    [
      "a weight in basis points",
      REBALANCE.replace("60%", "6000bps"),
      '4:18 targets.WETH: "6000bps" is in basis points, which mean something else here -> write for example 5%',
    ],
    [
      "an unknown token",
      REBALANCE.replace("WETH:", "WETHH:"),
      '4:19 targets.WETHH: the token "WETHH" is not known -> did you mean "WETH"?',
    ],
    [
      "the same token twice",
      REBALANCE.replace("{ WETH: 60%,", "{ WETH: 60%, WETH: 10%,"),
      "4:23 : the same key stands twice in this map -> keep one of the two",
    ],
    [
      "points for a relative band",
      REBALANCE.replace("relative: 20%", "relative: 20pp"),
      '6:20 bands.relative: "20pp" is in percentage points, which mean something else here -> write for example 5% or 50bps',
    ],
    [
      "a percentage for an absolute band",
      REBALANCE.replace("relative: 20%", "absolute: 5%"),
      '6:20 bands.absolute: "5%" is in per cent, which mean something else here -> write for example 5pp',
    ],
    [
      "no band",
      REBALANCE.replace("{ relative: 20% }", "{}"),
      "6:8 bands: needs relative, absolute or both -> for example { relative: 20% } or { absolute: 5pp }",
    ],
    [
      "a minimum in another token",
      REBALANCE.replace("50 USDC", "1 WETH"),
      '7:16 trades.min: must be in USDC, not in WETH -> write "1 USDC"',
    ],
  ])("%s is refused", (_name, text, expected) => {
    expect(strategyProblems(text)).toEqual([expected]);
  });
});

const KINDS = Object.keys(FILE_KINDS).join(", ");

it("names every broken strategy, and keeps none", () => {
  const found = problemsOf({
    "main.yaml": MAIN,
    "strategies/a.yaml": "wallet: main\n",
    "strategies/b.yaml": "- x\n",
    "strategies/c.yaml": "kind: [dca]\n",
    "strategies/d.yaml": "",
  }).map((problem) => `${problem.file.slice(-6)} ${brief(problem)}`);
  expect(found).toEqual([
    `a.yaml 1:1 kind: the key "kind" is missing -> kinds are ${KINDS}`,
    `b.yaml 1:1 kind: the key "kind" is missing -> kinds are ${KINDS}`,
    `c.yaml 1:7 kind: is no kind of strategy -> kinds are ${KINDS}`,
    "d.yaml 1:1 : the file is empty",
  ]);
});
