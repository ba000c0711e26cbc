import { join } from "node:path";
import { expect, it } from "vitest";
import { backtestHome, csvOf, flat, played } from "./support/home.ts";
import { MAIN, WBTC } from "./support/main-file.ts";

const dca = (buy: string): string =>
  `kind: dca\nwallet: main\nsell: "100 USDC"\nbuy: ${buy}\nschedule: { every: 1h }\n`;

function homeWithWbtc(buy: string) {
  const home = backtestHome({ strategy: dca(buy), prices: csvOf(flat(2_000, 97)) });
  home.write("swapd.yaml", MAIN.replace("policy:", `${WBTC}policy:`));
  return home;
}

it("what is held without a price is left out of the balances and named, and all else is valued", async () => {
  const told = await played(homeWithWbtc("WETH"), "--balance", "10000 USDC", "--balance", "0.5 WBTC");
  expect(told.fills).toHaveLength(24);
  expect(Number(told.startingUsd)).toBe(10_000);
  expect(Number(told.finalUsd)).toBeCloseTo(10_000 - 24 * (0.5 + 0.05), 1);
  expect(told.warnings.join("\n")).toContain("in no balance, without a price: WBTC; add --prices WBTC/USD=FILE");
  const priced = await played(homeWithWbtc("WETH"), "--balance", "10000 USDC");
  expect(priced.warnings.join("\n")).not.toContain("in no balance");
});

it("gas without a price is named as what keeps every swap from trading", async () => {
  const home = homeWithWbtc("WBTC");
  const prices = ["--prices", `WBTC/USDC=${join(home.folder, "weth.csv")}`];
  const told = await played(home, ...prices);
  expect(told.fills).toEqual([]);
  expect(told.warnings.join("\n")).toContain("no file prices ETH, so that gas has no price and every swap is denied");
  const both = await played(home, ...prices, "--prices", "ETH=2000");
  expect([both.fills.length, both.warnings.join("\n").includes("no file prices ETH")]).toEqual([24, false]);
});

it("an alert that stays true is counted once, as it is sent once", async () => {
  const lines = csvOf(flat(2_000, 97)).split("\n");
  const home = backtestHome({
    strategy: `${dca("WETH")}only_if: { price: "<= 1000 USDC" }\n`,
    prices: [...lines.slice(0, 30), ...lines.slice(60)].join("\n"),
  });
  const { warnings } = await played(home);
  expect(warnings.join("\n")).toContain("alerts that would have been raised: NO_PRICE 1x");
});
