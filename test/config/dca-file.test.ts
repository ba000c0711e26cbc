import { describe, expect, it } from "vitest";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { DCA, loaded, strategyProblems, WALLET } from "./project.ts";

function spec(text: string): StrategySpec {
  const strategy = loaded({ "strategies/weekly.yaml": text }).strategies[0];
  if (strategy === undefined) throw new Error("no strategy was loaded");
  return strategy.spec;
}

describe("a dca strategy", () => {
  it("takes everything that it leaves out from the policy and the table of defaults", () => {
    expect(spec(DCA)).toMatchObject({
      id: "weekly",
      kind: "dca",
      wallet: { name: "main", address: WALLET },
      schedule: { kind: "every", seconds: 21_600 },
      ...{ minSell: undefined, startMs: undefined, onlyIf: undefined, dips: undefined, carry: undefined },
      onInsufficient: "skip",
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
      maxTradeUsd: 500n * 10n ** 18n,
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
      '3:7 sell: needs text with its unit, for example "100.5 USDC", or { amount: 2%, of: USDC }',
    ],
    [
      "an integer for an amount",
      DCA.replace('"100 USDC"', "100"),
      '3:7 sell: needs text with its unit, for example "100 USDC", or { amount: 2%, of: USDC }',
    ],
    [
      "no space before the unit",
      DCA.replace('"100 USDC"', "100USDC"),
      '3:7 sell: "100USDC" needs a space before its unit -> write "100 USDC"',
    ],
    [
      "a negative amount",
      DCA.replace('"100 USDC"', '"-100 USDC"'),
      '3:7 sell: "-100 USDC" is no amount with its unit -> write "100 USDC"',
    ],
    [
      "an amount with thousands separators",
      DCA.replace('"100 USDC"', '"1,000 USDC"'),
      '3:7 sell: "1,000 USDC" is no amount with its unit -> write "1000 USDC"',
    ],
    [
      "an exponent in an amount",
      DCA.replace('"100 USDC"', '"1e3 USDC"'),
      '3:7 sell: "1e3 USDC" is no amount with its unit -> write for example "100 USDC"',
    ],
    [
      "more decimals than the token has",
      DCA.replace("100 USDC", "0.0000001 USDC"),
      '3:7 sell: "0.0000001 USDC" is no amount that can be traded: USDC has 6 decimals -> write at most 6 decimals',
    ],
    [
      "nothing",
      DCA.replace("100 USDC", "0 USDC"),
      '3:7 sell: "0 USDC" is no amount that can be traded: it is zero -> write more than nothing',
    ],
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
      "6:18 budget.total: must be in USDC, not in WETH -> write how much it is in USDC",
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
      '6:21 limits.slippage: needs text with its unit, for example "1%"',
    ],
    [
      "a retry longer than the interval",
      `${DCA}retry_for: 7h\n`,
      "6:12 retry_for: is longer than the shortest time between two slots, 6h -> the next slot comes before: use at most 6h",
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

  it("an unknown key is answered with those that are known", () => {
    const [problem = "", ...others] = strategyProblems(`${DCA}enabled: true\n`);
    expect(others).toEqual([]);
    expect(problem).toMatch(/^6:1 enabled: unknown key "enabled" -> known keys here: kind, wallet, schedule, /);
    expect(problem).toContain("sell, value, buy, max_sell, min_sell, start, only_if, dips, carry, on_insufficient");
  });
});

/** The sample with all of sell and buy replaced. */
function trade(lines: string): string {
  return `kind: dca\nwallet: main\n${lines}\nschedule: { every: 6h }\n`;
}

describe("how much a dca strategy trades", () => {
  it("reads each form of the amount", () => {
    expect(spec(trade('buy: "0.01 WETH"\nmax_sell: "50 USDC"'))).toMatchObject({
      sell: { token: { symbol: "USDC" }, bought: 10n ** 16n, most: 50_000_000n },
      buy: { symbol: "WETH" },
    });
    expect(spec(trade("sell: { amount: 2%, of: USDC }\nbuy: WETH"))).toMatchObject({
      sell: { token: { symbol: "USDC" }, share: 20_000n },
    });
    expect(spec(trade('sell: WETH\nvalue: "100 USD"\nbuy: USDC'))).toMatchObject({
      sell: { token: { symbol: "WETH" }, usd: 100n * 10n ** 18n },
    });
    expect(spec(trade('sell: "100 USDC"\nbuy: { WETH: 60%, ETH: rest }'))).toMatchObject({
      buy: [
        { token: { symbol: "WETH" }, weight: 600_000n },
        { token: { symbol: "ETH" }, weight: 400_000n },
      ],
    });
  });

  it.each([
    [
      "nothing to sell",
      "buy: WETH",
      '1:1 sell: the key "sell" is missing -> it is how much is sold at each slot, for example "100 USDC"',
    ],
    [
      "a token without an amount",
      "sell: USDC\nbuy: WETH",
      '3:7 sell: says no amount -> write "100 USDC", or add value: "100 USD"',
    ],
    [
      "an amount twice",
      'sell: "100 USDC"\nvalue: "100 USD"\nbuy: WETH',
      "4:1 value: sell says how much already -> leave it out, or write the name of the token alone in sell",
    ],
    ["worth nothing", 'sell: WETH\nvalue: "0 USD"\nbuy: USDC', "4:8 value: nothing is worth nothing"],
    [
      "a share of nothing",
      "sell: { amount: 0%, of: USDC }\nbuy: WETH",
      "3:17 sell.amount: a share of nothing sells nothing",
    ],
    [
      "an amount to buy at any cost",
      'buy: "0.01 WETH"',
      '3:6 buy: an amount to buy needs max_sell: what it may cost, and in which token -> add for example max_sell: "50 USDC"',
    ],
    [
      "an amount to buy and one to sell",
      'sell: "100 USDC"\nbuy: "0.01 WETH"\nmax_sell: "50 USDC"',
      "3:1 sell: buy says how much already -> leave one of the two out",
    ],
    [
      "a limit without an amount to buy",
      'sell: "100 USDC"\nbuy: WETH\nmax_sell: "50 USDC"',
      '5:1 max_sell: limits what an amount to buy may cost, and buy is no amount -> write buy: "0.01 WETH", or leave it out',
    ],
    [
      "shares that are not a whole",
      'sell: "100 USDC"\nbuy: { WETH: 60%, ETH: 30% }',
      "4:6 buy: the shares sum to 90%, not to 100% -> change one of them to rest",
    ],
    [
      "a single share",
      'sell: "100 USDC"\nbuy: { WETH: 100% }',
      "4:6 buy: several bought tokens are at least two -> write the name of the token alone",
    ],
    [
      "nothing left for the rest",
      'sell: "100 USDC"\nbuy: { WETH: 100%, ETH: rest }',
      "4:6 buy: the shares sum to 100%, so nothing is left for the rest",
    ],
    [
      "two rests",
      'sell: "100 USDC"\nbuy: { WETH: rest, ETH: rest }',
      "4:6 buy: only one token can be the rest, not WETH and ETH",
    ],
    [
      "a share of zero",
      'sell: "100 USDC"\nbuy: { WETH: 0%, ETH: rest }',
      "4:14 buy.WETH: a share of nothing buys nothing -> leave the token out",
    ],
    [
      "a share without unit",
      'sell: "100 USDC"\nbuy: { WETH: 60, ETH: rest }',
      "4:14 buy.WETH: needs a share such as 60%, or rest",
    ],
    [
      "a mistyped share",
      'sell: "100 USDC"\nbuy: { WETH: 60bps, ETH: rest }',
      '4:14 buy.WETH: "60bps" is in basis points, which mean something else here -> write 0.6%',
    ],
    [
      "the sold token among the bought",
      'sell: "100 USDC"\nbuy: { WETH: 60%, USDC: rest }',
      "4:25 buy.USDC: USDC would be bought with itself -> name another token",
    ],
    [
      "more than the policy allows",
      'sell: WETH\nvalue: "501 USD"\nbuy: USDC',
      "4:8 value: 501 USD is more than the policy's max_trade of 500 USD (policy.yaml:2:12) -> use at most 500 USD; only the owner may raise the policy",
    ],
    [
      "a smallest order above every order",
      'sell: "100 USDC"\nbuy: WETH\nmin_sell: "101 USDC"',
      "5:11 min_sell: is more than what a slot sells, so nothing would ever be sold -> lower it, or raise sell",
    ],
  ])("%s is refused", (_name, lines, expected) => {
    expect(strategyProblems(trade(lines))).toEqual([expected]);
  });
});

describe("when a dca strategy buys", () => {
  it("reads start, ends, gate, dips and what happens to what was not sold", () => {
    const text = `${DCA}start: 2027-01-01
budget: { until: 2027-12-31, max_runs: 52 }
only_if: { price: "<= 6000 USDC" }
dips:
  reference: { high: 30d }
  tiers:
    - { drop: 10%, multiply: 1.5 }
    - { drop: 25%, multiply: 2x }
  max_multiplier: 2
carry: { max_multiple: 4x }
on_insufficient: partial
min_sell: "10 USDC"
`;
    expect(spec(text)).toMatchObject({
      startMs: Date.UTC(2027, 0, 1),
      budget: { total: undefined, untilMs: Date.UTC(2028, 0, 1) - 1, maxRuns: 52 },
      onlyIf: { of: { symbol: "WETH" }, comparison: "<=", price: { quote: { symbol: "USDC" }, raw: 6_000_000_000n } },
      dips: {
        of: { symbol: "WETH" },
        reference: { kind: "high", seconds: 30 * 86_400 },
        tiers: [
          { drop: 100_000n, multiplier: 1_500_000n },
          { drop: 250_000n, multiplier: 2_000_000n },
        ],
        maxMultiplier: 2_000_000n,
      },
      carry: { maxMultiple: 4_000_000n },
      onInsufficient: "partial",
      minSell: 10_000_000n,
    });
  });

  it("takes a price in the bought token for that of the sold one, and an instant to the minute", () => {
    const text = `${trade('sell: "0.1 WETH"\nbuy: USDC')}only_if: { price: ">= 3000 USDC" }\nstart: 2026-11-03T08:00+01:00\n`;
    expect(spec(text)).toMatchObject({
      startMs: Date.UTC(2026, 10, 3, 7),
      onlyIf: { of: { symbol: "WETH" }, comparison: ">=", price: { quote: { symbol: "USDC" } } },
    });
  });

  const tiers = "tiers: [{ drop: 10%, multiply: 2x }]";
  it.each([
    [
      "a day that does not exist",
      "start: 2027-02-30",
      '6:8 start: "2027-02-30" is no day and no instant -> write 2027-02-28',
    ],
    [
      "an instant without offset",
      "start: 2027-02-20T08:00",
      '6:8 start: "2027-02-20T08:00" is no day and no instant -> write 2027-02-20T08:00Z',
    ],
    [
      "an empty budget",
      "budget: {}",
      '6:9 budget: needs per_day, per_week, per_month, total, until or max_runs -> for example { total: "5200 USDC" }',
    ],
    [
      "an end before the start",
      "budget: { until: 2026-12-31 }\nstart: 2027-01-01",
      "6:18 budget.until: lies before start, so nothing would ever be bought",
    ],
    [
      "a price without comparison",
      'only_if: { price: "6000 USDC" }',
      '6:19 only_if.price: "6000 USDC" is no comparison with an amount -> write for example "<= 6000 USDC"',
    ],
    [
      "a price in its own token",
      'only_if: { price: "<= 2 WETH", of: WETH }',
      "6:19 only_if.price: the price of WETH in WETH is always 1 -> write it in another token",
    ],
    [
      "two references",
      `dips: { reference: { high: 30d, sma: 30d }, ${tiers} }`,
      "6:20 dips.reference: needs exactly one of high and sma -> for example { high: 30d }",
    ],
    [
      "a look-back of minutes",
      `dips: { reference: { sma: 30m }, ${tiers} }`,
      "6:27 dips.reference.sma: is not between 1h and 366d -> for example 30d",
    ],
    [
      "a tier twice",
      "dips: { reference: { sma: 30d }, tiers: [{ drop: 10%, multiply: 2x }, { drop: 10%, multiply: 3x }] }",
      "6:79 dips.tiers.1.drop: there is a tier of 10% already -> keep one of the two",
    ],
    [
      "a tier without a drop",
      "dips: { reference: { sma: 30d }, tiers: [{ drop: 0%, multiply: 2x }] }",
      "6:50 dips.tiers.0.drop: no drop at all is reached always -> write for example 10%",
    ],
    [
      "a multiplier that buys less",
      "dips: { reference: { sma: 30d }, tiers: [{ drop: 10%, multiply: 0.5x }] }",
      '6:65 dips.tiers.0.multiply: "0.5x" is not from 1x to 100x -> write for example 1.5x',
    ],
    [
      "a multiplier in words",
      "carry: { max_multiple: twice }",
      '6:24 carry.max_multiple: "twice" is no multiple of at most four decimals -> write for example 1.5x',
    ],
    ["no tiers", "dips: { reference: { sma: 30d }, tiers: [] }", "6:41 dips.tiers: needs at least one tier"],
    [
      "a mistyped policy",
      "on_insufficient: partail",
      '6:18 on_insufficient: is none of the values known here -> did you mean "partial"?',
    ],
  ])("%s is refused", (_name, lines, expected) => {
    expect(strategyProblems(`${DCA}${lines}\n`)).toEqual([expected]);
  });

  it("must be reported whose price is meant when several tokens are bought", () => {
    const text = `${trade('sell: "100 USDC"\nbuy: { WETH: 60%, ETH: rest }')}only_if: { price: "<= 6000 USDC" }\ndips: { reference: { sma: 30d }, ${tiers} }\n`;
    expect(strategyProblems(text)).toEqual([
      "6:10 only_if: several tokens are bought, so it must say whose price is meant -> add of: WETH",
      "7:7 dips: several tokens are bought, so it must say whose price is meant -> add of: WETH",
    ]);
    const named = text.replace('USDC" }', 'USDC", of: WETH }').replace("{ reference", "{ of: ETH, reference");
    expect(spec(named)).toMatchObject({ onlyIf: { of: { symbol: "WETH" } }, dips: { of: { symbol: "ETH" } } });
  });

  it("counts the largest multiplier when it checks an order against the policy", () => {
    const text = `${trade('sell: WETH\nvalue: "300 USD"\nbuy: USDC')}dips: { reference: { sma: 30d }, ${tiers} }\n`;
    expect(strategyProblems(text)[0]).toContain(
      "300 USD times a multiplier of 2x is more than the policy's max_trade of 500 USD",
    );
    expect(spec(text.replace("{ reference", "{ max_multiplier: 1.5x, reference"))).toMatchObject({ kind: "dca" });
  });
});
