import { describe, expect, it, test } from "vitest";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { loaded, strategyProblems, THRESHOLD } from "./project.ts";

function spec(text: string): StrategySpec {
  const strategy = loaded({ "strategies/weekly.yaml": text }).strategies[0];
  if (strategy === undefined) throw new Error("no strategy was loaded");
  return strategy.spec;
}

/** Dollars for one whole WETH, as prices are kept. */
const dollars = (price: number): bigint => BigInt(price) * 10n ** 18n;

const BUYING = `kind: threshold
wallet: main
sell: "100 USDC"
buy: WETH
when: { limit: "2400 USDC" }
until: 2027-12-31
schedule: { every: 30s }
`;

const PROTECT = `kind: threshold
wallet: main
buy: USDC
oco:
  - id: stop
    when: { crosses_below: "2400 USDC", for: 5m, samples: 3 }
    sell: { amount: 100%, of: WETH }
    floor: [3%, 8%]
  - id: trailing
    when: { trail: 8%, activate_at: "4000 USDC" }
    sell: { amount: 100%, of: WETH }
    floor: 3%
ladder:
  - { id: first, when: { crosses_above: "4500 USDC" }, sell: { amount: 40%, of: WETH }, floor: "4450 USDC" }
  - { id: second, when: { crosses_above: "5000 USDC" }, sell: { amount: 60%, of: WETH } }
on_missed: ignore
if_already_true: fire
max_gap: 5m
attempts: 5
schedule: { every: 30s }
`;

describe("a threshold strategy", () => {
  it("with one leg is read with the token that it watches, and the defaults", () => {
    expect(spec(THRESHOLD)).toMatchObject({
      kind: "threshold",
      sell: { symbol: "WETH" },
      buy: { symbol: "USDC" },
      watch: { symbol: "WETH" },
      quote: { symbol: "USDC" },
      legs: [
        {
          ...{ id: "main", role: "only", trigger: { kind: "cross", side: "above", price: dollars(4_500) } },
          ...{ confirm: { forSeconds: 0, samples: 1 }, amount: { share: 250_000n }, floor: undefined },
          ...{ ifAlreadyTrue: "wait", onMissed: "fire-if-still-true" },
          rearm: { price: dollars(4_200), cooldownSeconds: 259_200, times: undefined },
        },
      ],
      ...{ allocation: undefined, maxGapSeconds: 90, attempts: 3, untilMs: undefined },
    });
  });

  it("that buys is an entry: its limit is the floor too, and a missed crossing is ignored", () => {
    const price = dollars(2_400);
    expect(spec(BUYING)).toMatchObject({
      ...{ sell: { symbol: "USDC" }, watch: { symbol: "WETH" }, quote: { symbol: "USDC" } },
      untilMs: Date.UTC(2028, 0, 1) - 1,
      legs: [{ trigger: { kind: "limit", side: "below", price }, floor: { price }, onMissed: "ignore" }],
    });
    expect(spec(BUYING.replace("limit", "crosses_above"))).toMatchObject({
      legs: [{ trigger: { kind: "cross", side: "above" }, onMissed: "ignore" }],
    });
  });

  it("with groups has legs of one shape, in the order of the file", () => {
    expect(spec(PROTECT)).toMatchObject({
      legs: [
        {
          ...{ id: "stop", role: "only", trigger: { kind: "cross", side: "below", price: dollars(2_400) } },
          ...{ confirm: { forSeconds: 300, samples: 3 }, floor: { steps: [30_000n, 80_000n] } },
          ...{ onMissed: "ignore", ifAlreadyTrue: "fire" },
        },
        {
          trigger: { kind: "trail", share: 80_000n, activateAt: dollars(4_000) },
          floor: { steps: [30_000n] },
          ...{ onMissed: "ignore", ifAlreadyTrue: "wait" },
        },
        { id: "first", role: "level", amount: { share: 400_000n }, floor: { price: dollars(4_450) } },
        { id: "second", role: "level", amount: { share: 600_000n }, floor: undefined },
      ],
      ...{ allocation: "free", maxGapSeconds: 300, attempts: 5 },
    });
    const allocation = PROTECT.replace("max_gap", 'allocation: "2 WETH"\nmax_gap');
    expect(spec(allocation)).toMatchObject({ allocation: { raw: 2n * 10n ** 18n } });
  });

  it("takes a level with a cooldown alone, and prices in the token that it sells", () => {
    const level = THRESHOLD.replace("crosses_above", "above").replace('below: "4200 USDC", ', "");
    expect(spec(level)).toMatchObject({
      legs: [{ trigger: { kind: "level" }, rearm: { price: undefined, cooldownSeconds: 259_200 } }],
    });
    const inSold = THRESHOLD.replace('"4500 USDC"', '"0.0002 WETH"').replace(/rearm.*\n/, "");
    expect(spec(inSold)).toMatchObject({ watch: { symbol: "USDC" }, quote: { symbol: "WETH" } });
  });
});

describe("a threshold leg with", () => {
  it.each([
    [
      "both directions",
      THRESHOLD.replace('"4500 USDC" }', '"4500 USDC", crosses_below: "1 USDC" }'),
      "5:7 when: needs exactly one of crosses_above, crosses_below, above, below, limit and trail -> keep one of crosses_above, crosses_below",
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
      "6:17 rearm.below: must lie below the level of when, or it would fire at every wobble -> use a price below 4500 USDC",
    ],
    [
      "a rearm in the wrong direction",
      THRESHOLD.replace("below:", "above:"),
      "6:10 rearm.above: after crosses_above the far side lies below -> write below: with a price below 4500 USDC",
    ],
    [
      "a rearm without price",
      THRESHOLD.replace('below: "4200 USDC", ', ""),
      "6:1 rearm: after crosses_above the far side lies below -> write below: with a price below 4500 USDC",
    ],
    [
      "a rearm without cooldown",
      THRESHOLD.replace(", cooldown: 3d", ""),
      '6:8 rearm.cooldown: the key "cooldown" is missing -> add cooldown: 3d (the least time between two sales)',
    ],
    [
      "a share of more than all",
      THRESHOLD.replace("25%", "125%"),
      '3:17 sell.amount: "125%" is more than 100% -> use at most 100%',
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
    [
      "no trigger",
      THRESHOLD.replace(/when.*\n/, "").replace(/rearm.*\n/, ""),
      '1:1 when: the key "when" is missing -> it is one trigger, and how it is confirmed',
    ],
    [
      "a level that would trade at every check",
      THRESHOLD.replace("crosses_above", "above").replace(/rearm.*\n/, ""),
      "5:9 when.above: would trade at every check while it is true, so it needs a cooldown -> add rearm: { cooldown: 1d }, or use crosses_...",
    ],
    [
      "a stop without floor",
      THRESHOLD.replace("crosses_above", "crosses_below").replace(/rearm.*\n/, ""),
      "5:7 when: a stop needs a floor, or an empty pool takes the allocation at any price -> add floor: 3%",
    ],
    [
      "a trailing stop without floor",
      THRESHOLD.replace('{ crosses_above: "4500 USDC" }', "{ trail: 8% }").replace(/rearm.*\n/, ""),
      "5:7 when: a stop needs a floor, or an empty pool takes the allocation at any price -> add floor: 3%",
    ],
    [
      "a floor above a seller's trigger",
      THRESHOLD.replace("rearm", 'floor: "4501 USDC"\nrearm'),
      "6:8 floor: must not lie on the better side of the trigger -> write a price below it, or a share such as 3%",
    ],
    [
      "a floor below a buyer's trigger",
      BUYING.replace("limit", "crosses_below").replace("until", 'floor: "2399 USDC"\nuntil'),
      "6:8 floor: must not lie on the better side of the trigger -> write a price above it, or a share such as 3%",
    ],
    [
      "floor steps that do not widen",
      THRESHOLD.replace("rearm", "floor: [3%, 3%]\nrearm"),
      "6:8 floor: each step must be wider than the one before it -> write [3%, 5%, 8%]",
    ],
    ["a floor alongside a limit", `${BUYING}floor: 1%\n`, "8:8 floor: the limit is the floor -> leave the key out"],
    [
      "a fixed floor under a moving stop",
      PROTECT.replace("floor: 3%", 'floor: "3000 USDC"'),
      "12:12 oco.1.floor: the floor of a moving stop moves with it -> write a share: 3%",
    ],
    [
      "a rearm after a limit",
      `${BUYING}rearm: { cooldown: 1d }\n`,
      "8:1 rearm: a leg with limit trades once -> leave the key out",
    ],
    [
      "a trail that buys",
      BUYING.replace('{ limit: "2400 USDC" }', '{ trail: 8%, activate_at: "2400 USDC" }'),
      "5:9 when.trail: a trailing stop sells the token whose price it follows, not USDC -> enter with crosses_below or limit",
    ],
    [
      "a trail of nothing",
      PROTECT.replace("trail: 8%", "trail: 0%"),
      "10:20 oco.1.when.trail: a stop that trails by nothing sells at once -> write for example 8%",
    ],
    [
      "an activation without trail",
      THRESHOLD.replace('"4500 USDC" }', '"4500 USDC", activate_at: "4000 USDC" }'),
      "5:37 when.activate_at: belongs to trail -> leave the key out",
    ],
    [
      "keys of a crossing alongside a limit",
      `${BUYING}on_missed: ignore\nif_already_true: fire\n`,
      "9:1 if_already_true: only a crossing waits -> leave the key out",
      "8:1 on_missed: only a crossing can be missed -> leave the key out",
    ],
    [
      "a gap shorter than the schedule",
      `${THRESHOLD}max_gap: 20s\n`,
      "8:10 max_gap: is shorter than the time between two checks, 30s, so every check would follow a gap -> use at least 60s",
    ],
    [
      "looks that are made up for",
      `${THRESHOLD}catch_up: { policy: all, window: 1h }\n`,
      "8:21 catch_up.policy: a trigger checks the current price, so missed checks cannot be made up for -> use latest or skip",
    ],
    [
      "an end that is no day",
      BUYING.replace("2027-12-31", "31.12.2027"),
      '6:8 until: "31.12.2027" is no day and no instant in UTC -> write 2027-12-31',
    ],
    [
      "a allocation",
      `${THRESHOLD}allocation: "1 WETH"\n`,
      "8:1 allocation: belongs to legs in oco or ladder -> say with sell how much a single leg sells",
    ],
  ])("%s is refused", (_name, text, ...expected) => {
    expect(strategyProblems(text)).toEqual(expected);
  });
});

describe("a threshold group with", () => {
  it.each([
    [
      "a leg at the top too",
      `${PROTECT}floor: 3%\n`,
      "21:1 floor: belongs to a leg, and the legs of this file stand in oco or ladder -> move it into a leg",
    ],
    [
      "two legs of one name",
      PROTECT.replace("id: trailing", "id: stop"),
      '9:9 oco.1.id: "stop" names two legs -> give each its own name',
    ],
    [
      "a leg without name",
      PROTECT.replace("id: stop\n    when", "when"),
      "5:5 oco.0.id: the key \"id\" is missing -> it is the leg's name; it lasts for ever, because the leg's memory hangs on it",
    ],
    [
      "a mistyped key in a leg",
      PROTECT.replace("    floor: 3%", "    flor: 3%"),
      '12:5 oco.1.flor: unknown key "flor" -> did you mean "floor"?',
    ],
    [
      "one leg alone",
      PROTECT.replace(/ladder:[\s\S]*?(?=on_missed)/, "").replace(/ {2}- id: trailing[\s\S]*?(?=on_missed)/, ""),
      "5:3 oco: a group has at least two legs -> add the other leg, or write this one at the top",
    ],
    [
      "two sold tokens",
      PROTECT.replace("amount: 60%, of: WETH", "amount: 60%, of: USDC"),
      "15:82 ladder.1.sell.of: all legs of a file sell one allocation, of WETH -> give this leg a file of its own",
    ],
    [
      "prices in two tokens",
      PROTECT.replace('"5000 USDC"', '"5000 WETH"'),
      "15:42 ladder.1.when.crosses_above: must be in USDC, not in WETH -> write how much it is in USDC",
    ],
    [
      "a ladder that sells more than the allocation",
      PROTECT.replace("60%", "61%"),
      "14:3 ladder: the levels sell 101% of the allocation -> their shares sum to 100% at most",
    ],
    [
      "levels out of order",
      PROTECT.replace("5000", "4500"),
      "15:25 ladder.1.when: must lie further than the level before it, in the same direction -> order the levels by price",
    ],
    [
      "a level that is no crossing",
      PROTECT.replace('{ crosses_above: "5000 USDC" }', '{ limit: "5000 USDC" }'),
      "15:25 ladder.1.when: a level of a ladder is a crossing -> use crosses_above or crosses_below",
    ],
    [
      "a level that is armed again",
      PROTECT.replace(
        "amount: 60%, of: WETH }",
        'amount: 60%, of: WETH }, rearm: { below: "4000 USDC", cooldown: 1d }',
      ),
      "15:90 ladder.1.rearm: a level of a ladder fires once -> leave the key out",
    ],
    [
      "a level of a fixed amount",
      PROTECT.replace("{ amount: 60%, of: WETH }", '"1 WETH"'),
      "15:63 ladder.1.sell: a level sells a share of the original allocation -> write for example { amount: 25%, of: WETH }",
    ],
  ])("%s is refused", (_name, text, expected) => {
    expect(strategyProblems(text)).toEqual([expected]);
  });
});

test("THR-19 min_fill is in the sold token, below any bound of the budget, and for shares alone", () => {
  const least = `${THRESHOLD}min_fill: "0.05 WETH"\n`;
  expect(spec(least)).toMatchObject({ minFill: 5n * 10n ** 16n });
  expect("minFill" in spec(THRESHOLD)).toBe(false);
  expect(strategyProblems(least.replace("0.05 WETH", "50 USDC"))).toEqual([
    "8:11 min_fill: must be in WETH, not in USDC -> write how much it is in WETH",
  ]);
  expect(strategyProblems(least.replace("{ amount: 25%, of: WETH }", '"1 WETH"'))).toEqual([
    "8:1 min_fill: a fixed amount is sold whole or not at all -> leave the key out, or sell a share such as { amount: 25%, of: WETH }",
  ]);
  const budget = 'budget: { per_day: "0.04 WETH", timezone: UTC }\n';
  expect(strategyProblems(`${least}${budget}`)).toEqual([expect.stringContaining("min_fill")]);
});
