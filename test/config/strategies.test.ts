import { describe, expect, it } from "vitest";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import {
  brief,
  DCA,
  loaded,
  MAIN,
  POLICY,
  problemsOf,
  REBALANCE,
  strategyProblems,
  THRESHOLD,
  WALLET,
} from "./project.ts";

function spec(text: string): StrategySpec {
  const strategy = loaded({ "strategies/weekly.yaml": text }).strategies[0];
  if (strategy === undefined) throw new Error("no strategy was loaded");
  return strategy.spec;
}

describe("a dca strategy", () => {
  it("takes everything that it leaves out from the policy and the table of defaults", () => {
    expect(spec(DCA)).toEqual({
      id: "weekly",
      kind: "dca",
      wallet: { name: "main", address: WALLET },
      schedule: { kind: "every", seconds: 21_600 },
      limits: { slippage: 10_000n, priceImpact: 10_000n, maxFee: 30_000n, maxFeePerGas: 5_000_000_000n },
      gasless: "never",
      recipient: WALLET,
      affiliate: undefined,
      enableRfq: false,
      retryForSeconds: 3_600,
      sell: { token: expect.objectContaining({ symbol: "USDC" }), raw: 100_000_000n },
      buy: expect.objectContaining({ symbol: "WETH" }),
      budget: undefined,
    });
  });

  it("takes every key there is", () => {
    const text = `kind: dca
wallet: main
sell: "1_000.5 USDC"
buy: ETH
schedule: { at: "Mon,Thu 09:30", timezone: Europe/Berlin }
budget: { total: "5200 USDC" }
limits: { slippage: 50bps, price_impact: 0.5%, max_fee: 1.25%, max_gas_price: 0.05gwei }
execution: { gasless: prefer, rfq: true }
recipient: main
affiliate: { address: "0x000000000000000000000000000000000000dEaD", fee: 0.1% }
retry_for: 30m
`;
    expect(spec(text)).toMatchObject({
      sell: { raw: 1_000_500_000n },
      buy: { symbol: "ETH", decimals: 18 },
      schedule: { kind: "at", days: [1, 4], hour: 9, minute: 30, timezone: "Europe/Berlin" },
      budget: { total: 5_200_000_000n },
      limits: { slippage: 5_000n, priceImpact: 5_000n, maxFee: 12_500n, maxFeePerGas: 50_000_000n },
      gasless: "prefer",
      enableRfq: true,
      affiliate: { address: "0x000000000000000000000000000000000000dead", fee: 1_000n },
      retryForSeconds: 1_800,
    });
  });

  it.each([
    [
      "a float for an amount",
      DCA.replace('"100 USDC"', "100.5"),
      '3:7 sell: needs text with its unit, for example "100 USDC"',
    ],
    [
      "an integer for an amount",
      DCA.replace('"100 USDC"', "100"),
      '3:7 sell: needs text with its unit, for example "100 USDC"',
    ],
    [
      "no space before the unit",
      DCA.replace('"100 USDC"', "100USDC"),
      '3:7 sell: "100USDC" needs a space before its unit -> write "100 USDC"',
    ],
    [
      "a negative amount",
      DCA.replace('"100 USDC"', '"-100 USDC"'),
      '3:7 sell: "-100 USDC" is no amount with its unit -> write for example "100 USDC"',
    ],
    [
      "an amount with thousands separators",
      DCA.replace('"100 USDC"', '"1,000 USDC"'),
      '3:7 sell: "1,000 USDC" is no amount with its unit -> write for example "100 USDC"',
    ],
    [
      "an exponent in an amount",
      DCA.replace('"100 USDC"', '"1e3 USDC"'),
      '3:7 sell: "1e3 USDC" is no amount with its unit -> write for example "100 USDC"',
    ],
    [
      "more decimals than the token has",
      DCA.replace("100 USDC", "0.0000001 USDC"),
      '3:7 sell: "0.0000001 USDC" is no amount that can be traded: USDC has 6 decimals',
    ],
    ["nothing", DCA.replace("100 USDC", "0 USDC"), '3:7 sell: "0 USDC" is no amount that can be traded: it is zero'],
    [
      "an unknown token",
      DCA.replace("buy: WETH", "buy: WEHT"),
      '4:6 buy: the token "WEHT" is not known -> did you mean "WETH"?',
    ],
    [
      "a token without a price",
      DCA.replace("buy: WETH", "buy: PEPE"),
      "4:6 buy: PEPE has no reference price, so it cannot be traded -> give tokens.PEPE a feed: preset, or { address, heartbeat }",
    ],
    [
      "a token for itself",
      DCA.replace("buy: WETH", "buy: USDC"),
      "4:6 buy: USDC would be bought with itself -> name another token",
    ],
    [
      "a coin for its wrapped form",
      DCA.replace("100 USDC", "1 ETH"),
      "4:6 buy: ETH and WETH are one coin and its wrapped form: that is no trade",
    ],
    [
      "a budget in another token",
      `${DCA}budget: { total: "1 WETH" }\n`,
      '6:18 budget.total: must be in USDC, not in WETH -> write "1 USDC"',
    ],
    [
      "a budget below one order",
      `${DCA}budget: { total: "99 USDC" }\n`,
      "6:18 budget.total: is less than a single order -> raise it, or lower sell",
    ],
    [
      "an unknown wallet",
      DCA.replace("wallet: main", "wallet: man"),
      '2:9 wallet: the wallet "man" is not known -> did you mean "main"?',
    ],
    [
      "an unknown key",
      `${DCA}slippage: 1%\n`,
      '6:1 slippage: unknown key "slippage" -> known keys here: kind, wallet, schedule, limits, execution, recipient, affiliate, retry_for, sell, buy, budget',
    ],
    ["a mistyped key", DCA.replace("buy:", "byu:"), '4:1 byu: unknown key "byu" -> did you mean "buy"?'],
    [
      "a mistyped key in a map",
      `${DCA}limits: { slipage: 1% }\n`,
      '6:11 limits.slipage: unknown key "slipage" -> did you mean "slippage"?',
    ],
    [
      "yes for a boolean",
      `${DCA}execution: { rfq: yes }\n`,
      '6:19 execution.rfq: "yes" is a text in YAML 1.2: write true',
    ],
    [
      "off for a boolean",
      `${DCA}execution: { rfq: off }\n`,
      '6:19 execution.rfq: "off" is a text in YAML 1.2: write false',
    ],
    [
      "true for a choice",
      `${DCA}execution: { gasless: true }\n`,
      "6:23 execution.gasless: is none of the values known here -> write prefer or only or never",
    ],
    [
      "a share without unit",
      `${DCA}limits: { slippage: 1 }\n`,
      '6:21 limits.slippage: needs text with its unit, for example "5%"',
    ],
    [
      "a retry longer than the interval",
      `${DCA}retry_for: 7h\n`,
      "6:12 retry_for: is longer than the shortest time between two slots, 21600s -> the next slot comes before: use a shorter time",
    ],
    [
      "a mistyped address",
      `${DCA}recipient: "0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913"\n`,
      '6:12 recipient: the checksum of address "0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913" is wrong: a digit may be mistyped -> copy it again from its source; with this checksum it would be "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"',
    ],
    [
      "gasless only from the native coin",
      `${DCA.replace("100 USDC", "1 ETH").replace("buy: WETH", "buy: USDC")}execution: { gasless: only }\n`,
      "6:23 execution.gasless: gasless swaps cannot sell ETH: a relayer has no way to take the native coin -> use never or prefer, or sell the wrapped token",
    ],
  ])("%s is refused", (_name, text, expected) => {
    expect(strategyProblems(text)).toEqual([expected]);
  });
});

describe("a schedule", () => {
  const schedule = (text: string): string => DCA.replace("{ every: 6h }", text);

  it.each([
    [
      '{ cron: "*/5 9-17 * * mon-fri", timezone: America/New_York }',
      { kind: "cron", expression: "*/5 9-17 * * mon-fri", timezone: "America/New_York" },
    ],
    ['{ cron: "0 9 * * 1" }', { kind: "cron", timezone: "UTC" }],
    ['{ at: "daily 09:00" }', { kind: "at", days: [0, 1, 2, 3, 4, 5, 6], hour: 9 }],
    ['{ at: "9:05" }', { kind: "at", days: [0, 1, 2, 3, 4, 5, 6], hour: 9, minute: 5 }],
    ['{ at: "Fri-Mon 23:59" }', { kind: "at", days: [0, 1, 5, 6] }],
    ["{ at: Wednesday 12:00 }", { kind: "at", days: [3] }],
    ["{ every: 1w }", { kind: "every", seconds: 604_800 }],
  ])("%s is taken", (text, expected) => {
    expect(spec(schedule(text)).schedule).toMatchObject(expected);
  });

  it.each([
    ["{ timezone: UTC }", "5:11 schedule: needs exactly one of cron, at and every; none is there"],
    [
      "{ every: 1h, at: daily 09:00 }",
      "5:11 schedule: needs exactly one of cron, at and every; there are at and every",
    ],
    ['{ cron: "0 25 * * *" }', '5:19 schedule.cron: hour "25": values run from 0 to 23'],
    ['{ at: "Mo 25:00" }', '5:17 schedule.at: "25:00" is no time of day'],
    ['{ at: "Xyz 09:00" }', '5:17 schedule.at: "xyz" is no day'],
    ['{ at: "Mondey 09:00" }', '5:17 schedule.at: "mondey" is no day'],
    ["{ at: 09:30 }", "5:17 schedule.at: YAML 1.1 reads an unquoted time as a base-60 number"],
    [
      '{ at: "09:30", timezone: Europe/Berln }',
      '5:36 schedule.timezone: "Europe/Berln" is no time zone that this machine knows -> did you mean "Europe/Berlin"?',
    ],
    ['{ at: "09:30", timezone: "+02:00" }', '5:36 schedule.timezone: "+02:00" is no time zone'],
    ["{ every: 6h, timezone: Europe/Berlin }", "5:24 schedule.timezone: elapsed time has no time zone"],
    ["{ every: 0s }", '5:20 schedule.every: "0s" is not between'],
    ["{ every: 1500ms }", '5:20 schedule.every: "1500ms" is no whole number of seconds'],
    ["{ every: 21600 }", "5:20 schedule.every: needs text with its unit"],
  ])("%s is refused", (text, expected) => {
    const found = strategyProblems(schedule(text));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
  });

  it.each([
    ["{ every: 10s }", 5],
    ["{ every: 1s }", 1],
    ['{ at: "Mon 09:00" }', 3_600],
    ['{ cron: "*/10 * * * *" }', 300],
  ])("%s allows retries for half its interval, an hour at most", (text, seconds) => {
    expect(spec(schedule(text)).retryForSeconds).toBe(seconds);
  });
});

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

it("names every broken strategy, and keeps none", () => {
  const found = problemsOf({
    "main.yaml": MAIN,
    "strategies/a.yaml": "wallet: main\n",
    "strategies/b.yaml": "- x\n",
    "strategies/c.yaml": "kind: [dca]\n",
    "strategies/d.yaml": "",
  }).map((problem) => `${problem.file.slice(-6)} ${brief(problem)}`);
  expect(found).toEqual([
    'a.yaml 1:1 kind: the key "kind" is missing -> kinds are dca, rebalance, threshold',
    'b.yaml 1:1 kind: the key "kind" is missing -> kinds are dca, rebalance, threshold',
    "c.yaml 1:7 kind: is no kind of strategy -> kinds are dca, rebalance, threshold",
    "d.yaml 1:1 : the file is empty",
  ]);
});
