import { describe, expect, it } from "vitest";
import { FILE_KINDS } from "../../src/config/strategy/kinds.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { brief, loaded, MAIN, problemsOf, REBALANCE, strategyProblems, THRESHOLD } from "./project.ts";

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

describe("a threshold strategy", () => {
  it("is read with the token that it watches", () => {
    expect(spec(THRESHOLD)).toMatchObject({
      kind: "threshold",
      sell: { token: { symbol: "WETH" }, amount: { share: 250_000n } },
      buy: { symbol: "USDC" },
      watch: { symbol: "WETH" },
      when: { crosses: "above", price: { quote: { symbol: "USDC" }, raw: 4_500_000_000n } },
      ifAlreadyTrue: "wait",
      rearm: { price: { raw: 4_200_000_000n }, cooldownSeconds: 259_200 },
    });
    const buying = `kind: threshold
wallet: main
sell: "100 USDC"
buy: WETH
when: { crosses_below: "2400 USDC" }
if_already_true: fire
schedule: { every: 30s }
`;
    expect(spec(buying)).toMatchObject({
      sell: { amount: { raw: 100_000_000n } },
      watch: { symbol: "WETH" },
      when: { crosses: "below" },
      ifAlreadyTrue: "fire",
      rearm: undefined,
    });
  });

  it.each([
    [
      "both directions",
      THRESHOLD.replace('"4500 USDC" }', '"4500 USDC", crosses_below: "1 USDC" }'),
      '5:7 when: needs exactly one of crosses_above and crosses_below -> for example { crosses_above: "4500 USDC" }',
    ],
    [
      "a price without unit",
      THRESHOLD.replace('"4500 USDC"', "4500"),
      '5:24 when.crosses_above: needs text with its unit, for example "4500 USDC"',
    ],
    [
      "a price in a third token",
      THRESHOLD.replace('"4500 USDC"', '"4500 ETH"').replace(/rearm.*\n/, ""),
      "5:24 when.crosses_above: the level is in ETH, which is neither sold nor bought -> write it in USDC, the price of WETH",
    ],
    [
      "a rearm price on the near side",
      THRESHOLD.replace("4200", "4600"),
      "6:17 rearm.below: must lie below the level of when, or it would fire at every wobble",
    ],
    [
      "a rearm in the wrong direction",
      THRESHOLD.replace("below:", "above:"),
      '6:10 rearm.above: after crosses_above the far side lies below -> write { below: "...", cooldown: 3d }',
    ],
    [
      "a rearm without cooldown",
      THRESHOLD.replace(", cooldown: 3d", ""),
      '6:8 rearm.cooldown: the key "cooldown" is missing -> it is the least time between two sales',
    ],
    [
      "a share of more than all",
      THRESHOLD.replace("25%", "125%"),
      '3:17 sell.amount: "125%" is more than 100% -> use a smaller share',
    ],
    ["a share of nothing", THRESHOLD.replace("25%", "0%"), "3:17 sell.amount: a share of nothing sells nothing"],
    [
      "an amount that is neither",
      THRESHOLD.replace("{ amount: 25%, of: WETH }", "25"),
      '3:7 sell: needs "0.5 WETH", or { amount: 25%, of: WETH }',
    ],
    [
      "a share as a text",
      THRESHOLD.replace("{ amount: 25%, of: WETH }", "25%"),
      '3:7 sell: "25%" is no amount with its unit -> write for example "0.5 WETH"',
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
