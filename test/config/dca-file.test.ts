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
