import { join } from "node:path";
import { expect, it } from "vitest";
import { backtestHome, csvOf, flat, played } from "./support/home.ts";
import { MAIN, WBTC } from "./support/main-file.ts";

/** Its runs are open as long as the price is high, and its slots wait meanwhile. */
const patient = (more: string): string => `kind: dca
wallet: main
sell: "100 USDC"
buy: WETH
only_if: { price: "<= 1500 USDC" }
${more}`;

it("a slot that waits for an open run does not keep the clock from going on", async () => {
  const strategy = patient(
    "schedule: { every: 1h, jitter: 20m }\nretry_for: 1h\ncatch_up: { policy: all, window: 6h }\n",
  );
  const told = await played(backtestHome({ strategy, prices: csvOf(flat(2_000, 97)) }));
  expect(told.strategies[0]?.ends).toEqual({ price_gate: 23, still_open: 1 });
});

it("a slot that waits for an open run begins in the instant in which that one ends", async () => {
  const strategy = patient(
    "schedule: { every: 1h, jitter: 50m }\nretry_for: 1h\ncatch_up: { policy: all, window: 6h }\n",
  );
  // By its jitter the slot of 01:00 starts at 01:47:44, and that of 02:00 at 02:31:43; the price falls at 02:45.
  const prices = csvOf([...flat(2_000, 11), ...flat(1_400, 1)]);
  const told = await played(backtestHome({ strategy, prices }));
  const [first, second, ...others] = told.fills.map(({ at }) => at);
  expect(first?.slice(0, 14)).toBe("2025-01-01T02:");
  expect([second, others]).toEqual([first, []]);
});

const MIX = `kind: rebalance
wallet: main
quote: USDC
targets: { WETH: 40%, WBTC: 40%, USDC: rest }
schedule: { every: 15m }
bands: { relative: 2% }
trades: { min: "50 USDC", via: USDC, leg_timeout: 2h, on_incomplete: retry }
catch_up: { policy: accumulate, window: 40m }
`;

it("slots that wait for an open run grow too old one by one, with the daemon's word for it", async () => {
  const home = backtestHome({ strategy: MIX, prices: csvOf(flat(2_000, 16)) });
  home.write("swapd.yaml", MAIN.replace("policy:", `${WBTC}policy:`));
  home.write("wbtc.csv", csvOf(flat(100_000, 16)));
  home.write("pool.csv", csvOf(flat(110_000, 16)));
  const at = (pair: string, file: string): string => `${pair}=${join(home.folder, file)}`;
  const asked = ["--prices", at("WETH/USDC", "weth.csv"), "--prices", at("WBTC/USDC", "wbtc.csv")];
  const begin = ["--balance", "5 WETH", "--pool-prices", at("WBTC/USDC", "pool.csv")];
  const told = await played(home, ...asked, ...begin);
  expect(told.fills).toHaveLength(1);
  expect(told.strategies[0]?.ends).toMatchObject({ partial: 1, overlap: 5 });
  expect(told.strategies[0]?.ends).not.toHaveProperty("missed");
});
