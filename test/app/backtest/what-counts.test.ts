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
  expect((await played(home, ...prices)).sales).toBeNull();
  expect((await homeOf(DCA).run()).out).toMatch(/sales for money +none: nothing was bought and sold again/);
});

it("a wallet that nobody trades and nobody pays counts as live, and is named", async () => {
  const wallets =
    "wallets: { main: { paper: { USDC: 10000 } }, idle: { paper: { USDC: 5000 } }, cold: { paper: { USDC: 700 } } }";
  const home = homeOf(`${DCA}recipient: cold\n`, { recipients: "[main, cold]" });
  home.write("swapd.yaml", MAIN.replace(/^wallets:.*$/m, wallets));
  const named = "no strategy trades or pays idle, and what is there is in every figure all the same";
  const { startingUsd, warnings } = await played(home);
  expect([Number(startingUsd), warnings]).toEqual([15_700, expect.arrayContaining([named])]);
  const asked = await played(home, "--balance", "10000 USDC");
  expect([Number(asked.startingUsd), asked.warnings.join("\n").includes("no strategy trades")]).toEqual([
    10_000,
    false,
  ]);
});

it("an external address of which nobody said what it has counts as nothing, and is named", async () => {
  const cold = `0x${"c".repeat(40)}`;
  const mix = `kind: rebalance\nwallet: main\nquote: USDC\ntargets: { WETH: 50%, USDC: rest }\nschedule: { every: 1d }\n`;
  const limits = 'bands: { relative: 10% }\ntrades: { min: "50 USDC" }\n';
  const named = (holder: string) => expect.stringMatching(new RegExp(`what ${holder} held .* counts as nothing`, "i"));
  const asked = homeOf(`${mix}${limits}external: [{ address: "${cold}" }, "2.5 WETH"]\n`);
  const { fills, warnings } = await played(asked);
  // Of 10,000 dollars here and 5,000 stated there 7,500 should be in WETH.
  expect([Number(fills[0]?.sold) / 1e6, warnings]).toEqual([2_500, expect.arrayContaining([named(cold)])]);
  const known = homeOf(`${mix}${limits}external: [{ address: cold }]\n`);
  known.write("swapd.yaml", MAIN.replace("10000 } }", "10000 } }, cold: { paper: { WETH: '2.5' } }"));
  const seen = await played(known);
  expect([Number(seen.fills[0]?.sold) / 1e6, seen.warnings.join("\n")]).toEqual([
    2_500,
    expect.not.stringContaining("counts as nothing"),
  ]);
});

it("a drawdown stop of the policy is of all wallets, those that nobody trades included", async () => {
  const stop = { drawdown: "{ over: 7d, stop: 20% }" };
  const fallen = csvOf([...flat(2_000, 40), ...flat(1_200, 57)]);
  const ends = async (wallets: string) => {
    const home = backtestHome({ strategy: DCA, policy: stop, prices: fallen });
    home.write("swapd.yaml", MAIN.replace(/^wallets:.*$/m, wallets));
    return (await played(home)).strategies[0]?.ends["exits-only"] ?? 0;
  };
  const main = "main: { paper: { USDC: 5000, WETH: 5 } }";
  expect(await ends(`wallets: { ${main} }`)).toBeGreaterThan(0);
  expect(await ends(`wallets: { ${main}, idle: { paper: { USDC: 50000 } } }`)).toBe(0);
});
