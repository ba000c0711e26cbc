import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { backtestHome, csvOf, flat, played } from "./support/home.ts";
import { MAIN, WBTC } from "./support/main-file.ts";

const DCA = `kind: dca\nwallet: main\nsell: "100 USDC"\nbuy: WETH\nschedule: { every: 1h }\n`;
const home = () => backtestHome({ strategy: DCA, prices: csvOf(flat(2_000, 97)) });

describe("what is asked wrongly is answered with how to ask", () => {
  it.each<readonly [string, readonly string[], number, string]>([
    ["a file that does not exist", ["--prices", "WETH/USDC=nowhere.csv"], 1, "nowhere.csv does not exist"],
    [
      "a file whose name says nothing",
      ["--prices", "prices.csv"],
      2,
      "it is not known which token this file prices: write --prices TOKEN/QUOTE=prices.csv",
    ],
    ["a token that is not configured", ["--prices", "PEPE=3"], 2, "PEPE is no token of the configuration; there are"],
    ["a price of zero", ["--prices", "WETH=0"], 2, "WETH=0: a price is above zero"],
    ["a pool's price of zero", ["--pool-prices", "WETH=0.0"], 2, "WETH=0.0: a price is above zero"],
    ["a quote that is not configured", ["--prices", "WETH/USDT=x.csv"], 2, "write WETH/USD="],
    ["no candles at all", ["--prices", "WETH=3000"], 2, "no candles: name a file"],
    [
      "a time beyond the files",
      ["--from", "2024-12-01"],
      2,
      "--from and --until go beyond the files: the prices go from 2025-01-01T00:00:00Z to 2025-01-02T00:15:00Z",
    ],
    ["a time that is none", ["--from", "January"], 2, "--from January: write a day, 2025-01-31"],
    ["a day that there is not", ["--from", "2025-02-30"], 2, "--from 2025-02-30: write a day, 2025-01-31"],
    ["an end before the beginning", ["--from", "2025-01-02", "--until", "2025-01-01"], 2, "nothing lies between"],
    [
      "a balance that is none",
      ["--balance", "5000"],
      2,
      "write an amount and a token of the configuration (ETH, USDC, WETH)",
    ],
    ["a fee that is none", ["--pool-fee", "0.3"], 2, "--pool-fee 0.3: write a share"],
    ["a depth without its unit", ["--depth", "5000000"], 2, "--depth 5000000: write dollars"],
    ["a gas price without its unit", ["--gas-price", "3"], 2, "--gas-price 3: write 0.05gwei"],
  ])("%s", async (_, more, code, message) => {
    const answer = await home().run(...more);
    expect({ code: answer.code, said: answer.err.includes(message) ? message : answer.err }).toEqual({
      code,
      said: message,
    });
  });

  it("a strategy that is wrong is shown with its place, and the strategies of the configuration are left alone", async () => {
    const broken = backtestHome({ strategy: DCA.replace("100 USDC", "lots"), prices: csvOf(flat(2_000, 9)) });
    broken.write("strategies/other.yaml", "kind: nonsense\n");
    const answer = await broken.run();
    expect(answer.code).toBe(1);
    expect(answer.err).toContain("one.yaml:3");
    expect(answer.err).not.toContain("other.yaml");
  });
});

describe("balances", () => {
  const seller = DCA.replace("100 USDC", "0.01 ETH").replace("buy: WETH", "buy: USDC");
  const selling = () => backtestHome({ strategy: seller, prices: csvOf(flat(2_000, 97)) });

  it("that are given are what a strategy sells the network's coin from, whatever the wallet lists on paper", async () => {
    const answer = await selling().run("--balance", "10 ETH");
    expect([answer.code, answer.err]).toEqual([0, ""]);
  });

  it.each([
    ["none is given, and the wallet lists none", [], "sells ETH, and this wallet lists none"],
    ["those that are given have none", ["--balance", "10 USDC"], "--balance gives none of it"],
  ])("of the network's coin are asked for where %s", async (_, more, said) => {
    const answer = await selling().run(...more);
    expect({ code: answer.code > 0, said: answer.err }).toEqual({ code: true, said: expect.stringContaining(said) });
  });
});

describe("prices", () => {
  it.each([
    ["a file", (file: string) => [`WETH.e/USDC=${file}`]],
    ["a file in dollars", (file: string) => [`weth.E=${file}`]],
    ["a price that never changes, beside the coin's file", (file: string) => ["WETH.e=2000", `ETH/USD=${file}`]],
  ])("of a token with a point in its name, as those of bridges have, are %s", async (_, prices) => {
    const bridged = backtestHome({ strategy: DCA.replace("WETH", "WETH.e"), prices: csvOf(flat(2_000, 97)) });
    bridged.write("swapd.yaml", MAIN.replace("  WETH:", "  WETH.e:"));
    const asked = prices(join(bridged.folder, "weth.csv")).flatMap((one) => ["--prices", one]);
    const { code, err } = await bridged.run(...asked);
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });

  it("of two files are joined where one is in the token of the other, and the coin has its wrapped token's", async () => {
    const two = home();
    two.write("usdc.csv", csvOf(flat(0.98, 97)));
    const files = [`WETH/USDC=${join(two.folder, "weth.csv")}`, `USDC=${join(two.folder, "usdc.csv")}`];
    const told = await played(two, ...files.flatMap((file) => ["--prices", file]));
    expect(Number(told.startingUsd)).toBe(9_800);
    expect(told.fills).toHaveLength(24);
    expect(told.warnings.join("\n")).not.toContain("counted as 1.00 USD");
  });

  describe("of tokens that are priced in each other", () => {
    const USDT = `  USDT: { address: "0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2", decimals: 6, feed: preset, peg: USD }\n`;
    const WEIGHT: Readonly<Record<string, number>> = { "WBTC/WETH": 20, "WBTC/ETH": 20, "USDC/USDT": 0.5 };
    const asked = (pairs: readonly string[]) => {
      const many = home();
      many.write("swapd.yaml", MAIN.replace("policy:", `${WBTC}${USDT}policy:`));
      return { many, files: pairs.flatMap((pair) => ["--prices", `${pair}=${fileOf(many, pair)}`]) };
    };
    const fileOf = (many: ReturnType<typeof home>, pair: string): string => {
      const name = `${pair.replace("/", "-")}.csv`;
      many.write(name, csvOf(flat(WEIGHT[pair] ?? 2_000, 97)));
      return join(many.folder, name);
    };

    it.each([
      [["WETH/USDC", "WBTC/WETH"], 42_000],
      [["WBTC/WETH", "WETH/USDC"], 42_000],
      [["WBTC/ETH", "WETH/USDC"], 42_000],
      [["ETH/USDC", "WBTC/WETH"], 42_000],
      [["WBTC/WETH", "WETH/USDC", "USDC/USDT"], 21_000],
    ])("the order is nothing: %j", async (pairs, startingUsd) => {
      const { many, files } = asked(pairs);
      const told = await played(many, ...files, "--balance", "1 WBTC", "--balance", "1 WETH");
      expect(Number(told.startingUsd)).toBe(startingUsd);
    });

    it("and in nothing else is answered with which to write in dollars", async () => {
      const { many, files } = asked(["WBTC/WETH", "WETH/WBTC"]);
      const { code, err } = await many.run(...files);
      expect({ code, err }).toEqual({
        code: 2,
        err: expect.stringContaining(
          "WBTC, WETH are priced in each other alone: write one of them in dollars, --prices WBTC/USD=FILE in the place of WBTC/WETH",
        ),
      });
    });
  });

  it.each([
    ["at the end of a candle, by the other one's close", 24, "2025-01-02", 1_000],
    ["within the other one's longer candle, by its price then", 1, "2025-01-01T12:00:00Z", 1_500],
  ])("of two files are joined %s", async (_, hours, until, finalUsd) => {
    const two = home();
    const falls = [
      [1, 1, 0.5, 0.5],
      [0.5, 0.5, 0.5, 0.5],
    ] as const;
    two.write("weth.csv", csvOf(flat(2_000, 48 / hours), hours * 3_600_000));
    two.write("usdc.csv", csvOf(falls, 24 * 3_600_000));
    const files = [`WETH/USDC=${join(two.folder, "weth.csv")}`, `USDC=${join(two.folder, "usdc.csv")}`];
    const asked = [...files.flatMap((file) => ["--prices", file]), "--balance", "1 WETH", "--until", until];
    const told = await played(two, ...asked);
    expect(Number(told.startingUsd)).toBe(2_000);
    expect(Number(told.finalUsd)).toBeCloseTo(finalUsd, 2);
  });

  it("of a part of the files are played where --from and --until say so", async () => {
    const told = await played(home(), "--from", "2025-01-01T10:30:00Z", "--until", "2025-01-01T13:00:00Z");
    expect(told.slots.map(({ slot }) => slot)).toEqual(["2025-01-01T11:00:00Z", "2025-01-01T12:00:00Z"]);
  });
});
