import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { backtestHome, csvOf, flat, type Ohlc, played, QUARTER_MS } from "./support/home.ts";
import { START_MS } from "./support/main-file.ts";

const DCA = `kind: dca
wallet: main
sell: "100 USDC"
buy: WETH
schedule: { every: 1h }
`;
const MIX = `kind: rebalance
wallet: main
quote: USDC
targets: { WETH: 50%, USDC: rest }
schedule: { every: 15m }
bands: { relative: 10% }
trades: { min: "50 USDC" }
`;
/** A market that goes its way by a formula: no test hangs on a seed. */
const waves = (count: number, from = 0): readonly Ohlc[] =>
  Array.from({ length: count }, (_, index) => {
    const at = (step: number): number =>
      Math.round((2_000 + 400 * Math.sin(step / 37) + 90 * Math.sin(step / 5)) * 100) / 100;
    const [open, close] = [at(from + index), at(from + index + 1)];
    return [open, Math.max(open, close) + 3, Math.min(open, close) - 3, close];
  });

describe("a backtest of a purchase by the hour", () => {
  it("fills every slot at the reference less fee and impact, and pays gas", async () => {
    const told = await played(backtestHome({ strategy: DCA, prices: csvOf(flat(2_000, 97)) }), "--pool-fee", "0.3%");
    expect(told.strategies[0]?.ends).toEqual({ filled: 24 });
    expect(told.slots[0]).toMatchObject({ slot: "2025-01-01T01:00:00Z", state: "filled", reason: null });
    const [fill] = told.fills;
    // 99.7 USDC go in; of 5,000,000 USD of depth they move 0.001994 %
    const bought = (99.7 / 2_000) * (5_000_000 / 5_000_099.7);
    expect(fill?.sold).toBe("100000000");
    expect(Number(fill?.bought) / 1e18 / bought).toBeCloseTo(1, 9);
    expect(told.costs.feesUsd).toBe("7.2");
    // 24 swaps and approvals at 1 gwei: 250,000 gas of a coin that is worth 2,000 USD
    expect(told.costs.gasUsd).toBe("12");
    expect(Number(told.finalUsd)).toBeCloseTo(10_000 - 7.2 - 12 - 0.048, 2);
  });

  it("carries to the next fill of its pair how far the one before moved the price, less what decayed", async () => {
    const strategy = DCA.replace("100 USDC", "2000 USDC").replace("1h", "1m");
    const home = backtestHome({ strategy, prices: csvOf(flat(2_000, 97)) });
    const [one, next] = (await played(home, "--pool-fee", "0%", "--depth", "1000000 USD")).fills;
    // 2,000 dollars move a pool with 1,000,000 on each side by 2 x 2,000 / 1,004,000; of ten minutes one is over
    const left = 1 - (4_000 / 1_004_000) * 0.9;
    expect(Number(next?.bought) / Number(one?.bought)).toBeCloseTo(left, 5);
  });

  it("begins with what there was before a purchase at once, whose cost is in the result", async () => {
    const strategy = `${DCA.replace("100 USDC", "5000 USDC").replace("1h", "1d")}start: now\n`;
    const home = backtestHome({ strategy, prices: csvOf(flat(2_000, 9)) });
    const told = await played(home, "--pool-fee", "1%", "--depth", "1000000000000 USD");
    expect(told.fills.map(({ at }) => at)).toEqual(["2025-01-01T00:00:00Z"]);
    expect([told.startingUsd, told.marketChange]).toEqual(["10000", 0]);
    // 1 % of 5,000 dollars, and gas of 0.50
    expect(Number(told.profitUsd)).toBeCloseTo(-50.5, 2);
  });

  it("shows the same money as a lump sum and in equal parts", async () => {
    const prices = csvOf([...flat(1_000, 48), ...flat(2_000, 49)]);
    const told = await played(backtestHome({ strategy: DCA, prices }), "--pool-fee", "0%");
    const { own, lumpSum, equalSplit } = told.strategies[0]?.accumulation ?? {};
    expect(told.strategies[0]?.ends).toEqual({ filled: 24 });
    // 24 slots of 100 USDC: at 01:00 to 11:00 a WETH costs 1,000, from 12:00 on 2,000
    expect(lumpSum?.bought).toBe((24n * 10n ** 17n).toString());
    expect(Number(equalSplit?.bought) / 1e18).toBeCloseTo(1.1 + 0.65, 9);
    expect(Number(own?.bought) / 1e18).toBeCloseTo(1.75, 3);
  });

  it("ends with the budget, and says so by the reason that the daemon gives", async () => {
    const strategy = `${DCA}budget: { total: "300 USDC" }\n`;
    const told = await played(backtestHome({ strategy, prices: csvOf(flat(2_000, 97)) }));
    expect(told.fills).toHaveLength(3);
    expect(told.strategies[0]?.ends).toEqual({ filled: 3, paused: 21 });
    expect(told.warnings.join("\n")).toContain("one is paused from here on");
  });

  it("is held by the policy's ceilings as the daemon is", async () => {
    const policy = { max_trade: '"400 USD"', max_per_day: '"450 USD"' };
    const told = await played(backtestHome({ strategy: DCA, prices: csvOf(flat(2_000, 200)), policy }));
    // four an hour apart, and again once more than a day lies behind the first of them
    expect(told.fills.map(({ at }) => at.slice(0, 13))).toEqual([
      ...["01", "02", "03", "04"].map((hour) => `2025-01-01T${hour}`),
      ...["02", "03", "04", "05"].map((hour) => `2025-01-02T${hour}`),
    ]);
    expect(told.strategies[0]?.ends.DAILY_CAP_EXCEEDED).toBeGreaterThan(30);
  });

  it("stops with the wallet's money, and trades nothing in a gap of the prices", async () => {
    const poor = await played(backtestHome({ strategy: DCA, prices: csvOf(flat(2_000, 97)) }), "--balance", "250 USDC");
    expect(poor.fills).toHaveLength(2);
    const lines = csvOf(flat(2_000, 97)).split("\n");
    const gappy = backtestHome({ strategy: DCA, prices: [...lines.slice(0, 21), ...lines.slice(41)].join("\n") });
    const told = await played(gappy);
    expect(told.fills.map(({ at }) => Number(at.slice(11, 13))).filter((hour) => hour >= 5 && hour < 10)).toEqual([]);
    expect(told.strategies[0]?.ends.REFERENCE_MISSING ?? told.strategies[0]?.ends.quote_unavailable).toBe(5);
    expect(told.warnings[0]).toContain("20 candles of 15m are missing (after line 21");
  });
});

describe("a backtest of a mix", () => {
  it("trades outside of its bands alone, and counts the time inside", async () => {
    const told = await played(backtestHome({ strategy: MIX, prices: csvOf(waves(400)) }), "--balance", "5000 USDC");
    expect(told.fills.length).toBeGreaterThan(5);
    const { ends, insideBands } = told.strategies[0] ?? {};
    expect(insideBands).toBeCloseTo((ends?.within_bands ?? 0) / 399, 6);
    expect(told.cagr).toBeNull();
    expect(told.sharpe).toBeNull();
  });

  it("is stopped by the policy's drawdown, and stays so", async () => {
    const prices = csvOf([...flat(2_000, 20), ...flat(1_000, 200)]);
    const policy = { drawdown: "{ stop: 20%, over: 7d }" };
    const told = await played(backtestHome({ strategy: MIX, prices, policy }));
    expect(told.fills).toHaveLength(1);
    expect(told.strategies[0]?.ends["exits-only"]).toBe(200);
    expect(told.warnings.join("\n")).toContain("everything is exits-only from here on");
  });

  it("is not stopped by a fall of the coin that it is lent for gas, of which it has none", async () => {
    const prices = csvOf([...flat(2_000, 20), ...flat(1_000, 77)]);
    const policy = { drawdown: "{ stop: 20%, over: 7d }" };
    const told = await played(backtestHome({ strategy: DCA, prices, policy }));
    // Of 10,000 USD 500 are in the coin that halves: a fall of 2.5 %.
    expect(told.fills).toHaveLength(24);
    expect(told.warnings.join("\n")).not.toContain("exits-only");
  });

  it("weighs no coins that it is lent for gas, where the coin counts with its wrapped token", async () => {
    const mix = MIX.replace("WETH: 50%", "WETH: { weight: 50%, with: [ETH] }");
    const home = backtestHome({ strategy: mix, prices: csvOf(flat(2_000, 40)) });
    const told = await played(home, "--balance", "2000 USDC", "--balance", "1 WETH");
    expect(told.strategies[0]?.ends).toEqual({ within_bands: 39 });
    const own = await played(home, "--balance", "2000 USDC", "--balance", "1 WETH", "--balance", "1 ETH");
    expect(own.fills).toHaveLength(1);
  });

  it("decides nothing by what comes later: another future leaves the past as it was", async () => {
    const before = waves(300);
    const one = await played(backtestHome({ strategy: MIX, prices: csvOf([...before, ...waves(100, 300)]) }));
    const other = await played(backtestHome({ strategy: MIX, prices: csvOf([...before, ...flat(1, 100)]) }));
    const changesAt = new Date(START_MS + 299 * QUARTER_MS).toISOString();
    const past = ({ slots }: typeof one) => slots.filter(({ slot }) => slot < changesAt);
    expect(past(one)).toHaveLength(298);
    expect(past(one)).toEqual(past(other));
    expect(one.slots).not.toEqual(other.slots);
  });

  it("comes to the same twice, and in a folder of its own", async () => {
    const home = backtestHome({ strategy: MIX, prices: csvOf(waves(200)) });
    const [once, again] = [await home.run("--json", "--slots"), await home.run("--json", "--slots")];
    expect(once.code).toBe(0);
    expect(once.out).toBe(again.out);
  });
});

describe("a stop and a take-profit in one candle", () => {
  const EITHER = `kind: threshold
wallet: main
buy: USDC
allocation: "1 WETH"
oco:
  - { id: stop, when: { crosses_below: "1900 USDC" }, sell: { amount: 100%, of: WETH }, floor: 6% }
  - { id: gain, when: { crosses_above: "2100 USDC" }, sell: { amount: 100%, of: WETH } }
schedule: { every: 1m }
`;
  const wide: Ohlc = [2_000, 2_200, 1_800, 2_000];

  it("takes the worse one, and says that the other one was as possible", async () => {
    const home = backtestHome({ strategy: EITHER, prices: csvOf([...flat(2_000, 4), wide, ...flat(2_000, 8)]) });
    const told = await played(home, "--balance", "1 WETH");
    expect(told.fills).toHaveLength(1);
    const [fill] = told.fills;
    expect(Number(fill?.bought) / 1e6).toBeLessThan(1_900);
    expect(told.warnings.join("\n")).toContain("1 of them hang on what came first in their candle");
  });

  it("says nothing of the kind where only one of them lies in the candle", async () => {
    const fall: Ohlc = [2_000, 2_010, 1_800, 1_850];
    const home = backtestHome({ strategy: EITHER, prices: csvOf([...flat(2_000, 4), fall, ...flat(1_850, 8)]) });
    const told = await played(home, "--balance", "1 WETH");
    expect(told.fills).toHaveLength(1);
    expect(told.warnings.join("\n")).not.toContain("hang on what came first");
  });
});

describe("the report", () => {
  it("that cannot be written takes nothing of what was found with it", async () => {
    const home = backtestHome({ strategy: DCA, prices: csvOf(flat(2_000, 9)) });
    const { code, out, err } = await home.run("--html", join(home.folder, "nowhere/report.html"));
    expect([code, err]).toEqual([1, expect.stringContaining("nowhere/report.html cannot be written (ENOENT)")]);
    expect(out).toContain("final balance");
  });

  it("shows plots and the figures of the terminal", async () => {
    const home = backtestHome({ strategy: DCA, prices: csvOf(waves(120)) });
    const file = join(home.folder, "report.html");
    const { code, out } = await home.run("--html", file);
    expect(code).toBe(0);
    const page = readFileSync(file, "utf8");
    expect(page.match(/<svg /g)).toHaveLength(3);
    expect(page).not.toMatch(/<script|<img|https?:/);
    expect(page).toContain("default-src 'none'");
    for (const figure of ["final balance", "as a lump sum", "left out: needs 30 days"]) {
      expect(out).toContain(figure);
      expect(page).toContain(figure);
    }
  });
});
