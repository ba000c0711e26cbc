import { join } from "node:path";
import { expect, it } from "vitest";
import { backtestHome, csvOf, flat, played } from "./support/home.ts";
import { MAIN } from "./support/main-file.ts";

const DCA = `kind: dca\nwallet: main\nsell: "100 USDC"\nbuy: WETH\nschedule: { every: 1h }\n`;
const AFFILIATE = `0x${"a".repeat(40)}`;
const homeOf = (strategy: string, policy = {}) => backtestHome({ strategy, policy, prices: csvOf(flat(2_000, 97)) });

it("the affiliate's share is a cost of its own, and no impact", async () => {
  const given = `${DCA}affiliate: { address: "${AFFILIATE}", fee: 1% }\n`;
  const home = homeOf(given, { max_slippage: "2%" });
  home.write("swapd.yaml", MAIN.replace("url: embedded", `url: embedded, settlement: "0x${"b".repeat(40)}"`));
  const { costs, fills } = await played(home);
  expect(fills).toHaveLength(24);
  expect([Number(costs.affiliateUsd), Number(costs.feesUsd)]).toEqual([24, 24 * 99 * 0.0005]);
  expect(Number(costs.impactUsd)).toBeLessThan(0.2);
  expect((await home.run()).out).toMatch(/affiliate's share +24/);
  expect((await homeOf(DCA).run()).out).not.toContain("affiliate");
});

it("where no token is marked as money, sales for it are left out, and not none", async () => {
  const home = homeOf(DCA);
  home.write("swapd.yaml", MAIN.replace(", peg: USD", ""));
  const prices = ["--prices", `WETH/USDC=${join(home.folder, "weth.csv")}`, "--prices", "USDC=1"];
  expect((await home.run(...prices)).out).toMatch(
    /sales for money +left out: no token is marked as money, by `peg: USD`/,
  );
  expect((await homeOf(DCA).run()).out).toMatch(/sales for money +none: nothing was bought and sold again/);
});

it("a wallet that nobody trades and nobody pays is in no figure, and one that is paid is", async () => {
  const wallets =
    "wallets: { main: { paper: { USDC: 10000 } }, idle: { paper: { USDC: 5000 } }, cold: { paper: { USDC: 700 } } }";
  const told = async (strategy: string) => {
    const home = homeOf(strategy, { recipients: "[main, cold]" });
    home.write("swapd.yaml", MAIN.replace(/^wallets:.*$/m, wallets));
    return Number((await played(home)).startingUsd);
  };
  expect([await told(DCA), await told(`${DCA}recipient: cold\n`)]).toEqual([10_000, 10_700]);
});
