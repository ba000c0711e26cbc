import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readPrices } from "../../../src/app/backtest/price-files.ts";
import { readCandles } from "../../../src/app/backtest/read-candles.ts";
import { loadConfiguration } from "../../../src/app/load-configuration.ts";
import { backtestHome, csvOf, flat, type Ohlc, played, QUARTER_MS } from "./support/home.ts";
import { START_MS } from "./support/main-file.ts";

const DCA = `kind: dca\nwallet: main\nsell: "100 USDC"\nbuy: WETH\nschedule: { every: 1h }\n`;
const WAIT = `kind: threshold
wallet: main
sell: "1 WETH"
buy: USDC
when: { crosses_above: "2005 USDC" }
schedule: { every: 15m }
`;
const FREE = ["--pool-fee", "0%", "--depth", "1000000000000000 USD"] as const;

/** A reference that stands still, and a pool with prices of its own. */
function homeOf(strategy: string, pool: string, reference = csvOf(flat(2_000, 97))) {
  const home = backtestHome({ strategy, prices: reference });
  home.write("pool.csv", pool);
  const asked = ["--pool-prices", `WETH/USDC=${join(home.folder, "pool.csv")}`, ...FREE];
  return { home, play: (...more: readonly string[]) => played(home, ...asked, ...more), asked };
}

describe("a pool whose price is not the reference", () => {
  it("fills at its own price, and is held against the reference", async () => {
    const told = await homeOf(DCA, csvOf(flat(2_002, 97))).play();
    expect(told.fills).toHaveLength(24);
    expect(Number(told.fills[0]?.bought) / 1e18).toBeCloseTo(100 / 2_002, 9);
    expect(told.costs.againstReferenceBps).toBeCloseTo(-10, 1);
  });

  it("fires no trigger of its own", async () => {
    const told = await homeOf(WAIT, csvOf([...flat(2_000, 4), ...flat(2_010, 93)])).play("--balance", "1 WETH");
    expect(told.fills).toEqual([]);
  });

  it("is denied by the tolerance against the reference, as live", async () => {
    const told = await homeOf(DCA, csvOf(flat(2_040, 97))).play("--until", "2025-01-02");
    expect(told.fills).toEqual([]);
    expect(told.strategies[0]?.ends).toEqual({ OUTPUT_BELOW_MINIMUM: 23 });
  });

  it("says nothing of an instant by what comes later", async () => {
    const before: readonly Ohlc[] = flat(2_001, 49);
    const one = await homeOf(DCA, csvOf([...before, ...flat(2_002, 48)])).play();
    const other = await homeOf(DCA, csvOf([...before, ...flat(1_990, 48)])).play();
    // The candle of 12:00 is the last that both have.
    const past = ({ slots }: typeof one) => slots.filter(({ slot }) => Date.parse(slot) <= START_MS + 48 * QUARTER_MS);
    expect(past(one)).toHaveLength(12);
    expect(past(one)).toEqual(past(other));
    expect(one.slots).not.toEqual(other.slots);
  });

  it("fills nothing in a gap of its file, though the reference goes on", async () => {
    const lines = csvOf(flat(2_002, 97)).split("\n");
    const told = await homeOf(DCA, [...lines.slice(0, 21), ...lines.slice(41)].join("\n")).play();
    expect(told.fills).toHaveLength(19);
    expect(told.warnings[0]).toContain("20 candles of 15m are missing (after line 21");
  });

  it("is named among what was assumed", async () => {
    const { home, asked } = homeOf(DCA, csvOf(flat(2_002, 97)));
    const { out } = await home.run(...asked);
    expect(out).toContain("assumed: fills at the pool's own price of WETH less 0% pool fee");
  });

  it("cannot be given twice", async () => {
    const { home, asked } = homeOf(DCA, csvOf(flat(2_002, 97)));
    const { code, err } = await home.run(...asked, "--pool-prices", "WETH=2000");
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("WETH is priced twice") });
  });
});

it("out of its swaps prices fills alone where a file is the reference, and is the reference where none is", () => {
  const text = csvOf(flat(2_002, 9));
  const { home } = homeOf(DCA, text);
  const loaded = loadConfiguration(join(home.folder, "swapd.yaml"), {});
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const { configuration } = loaded;
  const [base, quote] = ["WETH", "USDC"].map((symbol) => configuration.tokens.get(symbol)?.token);
  if (base === undefined || quote === undefined) throw new Error("a token is missing");
  const ready = [{ base, quote, read: readCandles("pool", text) }];
  const openOf = (series: ReturnType<typeof readPrices>["series"]) =>
    Number(series.get(base.address)?.candles[0]?.open) / 1e18;
  const both = readPrices([`WETH/USDC=${join(home.folder, "weth.csv")}`], configuration, { needed: [], ready });
  expect([openOf(both.series), openOf(both.pools)]).toEqual([2_000, 2_002]);
  const alone = readPrices([], configuration, { needed: [], ready });
  expect([openOf(alone.series), alone.pools.size]).toEqual([2_002, 0]);
});
