import { join } from "node:path";
import { expect, it } from "vitest";
import { backtestHome, csvOf, flat, played } from "./support/home.ts";
import { MAIN, WBTC } from "./support/main-file.ts";

const MIX = `kind: rebalance
wallet: main
quote: USDC
targets: { WETH: 40%, WBTC: 40%, USDC: rest }
schedule: { every: 1d, anchor: 2025-01-01T06:00Z }
retry_for: 5h
bands: { relative: 2% }
trades: { min: "50 USDC" }
`;
const SALE = `kind: dca
wallet: main
sell: "1 WETH"
buy: USDC
schedule: { every: 1d, anchor: 2025-01-01T09:00Z }
`;

/** WETH is bought at 06:00; the pool of WBTC is too far from the reference until the slot is given up at 11:00. */
function mixed() {
  const home = backtestHome({ strategy: MIX, prices: csvOf([...flat(2_000, 32), ...flat(3_000, 33)]) });
  home.write("swapd.yaml", MAIN.replace("policy:", `${WBTC}policy:`));
  home.write("strategies/mix.yaml", MIX);
  home.write("strategies/sale.yaml", SALE);
  home.write("wbtc.csv", csvOf(flat(100_000, 65)));
  home.write("pool.csv", csvOf(flat(110_000, 65)));
  const at = (pair: string, file: string): string => `${pair}=${join(home.folder, file)}`;
  const prices = ["--prices", at("WETH/USDC", "weth.csv"), "--prices", at("WBTC/USDC", "wbtc.csv")];
  const asked = [...prices, "--pool-prices", at("WBTC/USDC", "pool.csv")];
  return { folder: join(home.folder, "strategies"), play: (...more: string[]) => played(home, ...asked, ...more) };
}

it("a fill is of the instant at which it was made, however late its slot ends, and is sold after it was bought", async () => {
  const { folder, play } = mixed();
  const told = await play("--strategy", folder);
  expect(told.strategies.map(({ ends }) => ends)).toEqual([{ partial: 1 }, { filled: 1 }]);
  expect(told.fills.map(({ at }) => at)).toEqual(["2025-01-01T06:00:00Z", "2025-01-01T09:00:00Z"]);
  expect(told.sales).toMatchObject({ count: 1, wins: 1 });
});

it("a slot that is not over when the backtest ends is counted as still open, and its fills are", async () => {
  const told = await mixed().play("--until", "2025-01-01T10:00:00Z");
  expect(told.strategies.map(({ ends }) => ends)).toEqual([{ still_open: 1 }]);
  expect(told.fills.map(({ at }) => at)).toEqual(["2025-01-01T06:00:00Z"]);
  expect(told.slots).toMatchObject([{ slot: "2025-01-01T06:00:00Z", reason: null, swaps: [{ sell: "USDC" }, {}] }]);
  expect(told.warnings.join("\n")).not.toContain("nothing was traded");
});
