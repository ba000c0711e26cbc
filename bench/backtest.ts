import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PriceSet, readPrices } from "../src/app/backtest/price-files.ts";
import { runBacktest } from "../src/app/backtest/run-backtest.ts";
import { loadConfiguration } from "../src/app/load-configuration.ts";
import type { Configuration } from "../src/config/configuration.ts";
import { toPpm } from "../src/domain/money/fraction.ts";
import { MAIN, START_MS } from "../test/app/backtest/support/main-file.ts";

/**
 * A year of a rebalance every 15 minutes over candles of 15 minutes, from the file to the summary: with bands that are
 * left now and then, and with narrow ones that trade several times a day. Ends with 1 when a gate is missed.
 */
const GATE_SECONDS = 5;
const CANDLES = 365 * 24 * 4;
const STEP_MS = 900_000;

const POLICY = `version: 1
max_trade: "100000 USD"
max_per_day: "1000000 USD"
recipients: [main]
gas_reserve: "0.01 ETH"
max_gas_price: 5gwei
max_slippage: 1%
max_price_impact: 1%
max_fee: 3%
reference: { sources: [feed], tolerance: 1.5% }
drawdown: { stop: 90%, over: 7d }
`;
const mix = (bands: string): string => `kind: rebalance
wallet: main
quote: USDC
targets: { WETH: 60%, USDC: rest }
schedule: { every: 15m }
bands: { relative: ${bands} }
trades: { min: "20 USDC" }
`;

/** A walk that every run repeats: small steps by a linear congruence. */
function candles(): string {
  let state = 42;
  const chance = (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648 - 0.5;
  };
  let price = 3_000;
  const lines = ["timestamp,open,high,low,close,volume"];
  for (let index = 0; index < CANDLES; index += 1) {
    const open = price;
    price *= 1 + chance() * 0.02;
    const [low, high] = [Math.min(open, price) * 0.999, Math.max(open, price) * 1.001];
    const prices = [open, high, low, price].map((one) => one.toFixed(2));
    lines.push(`${START_MS + index * STEP_MS},${prices.join(",")},100`);
  }
  return lines.join("\n");
}

async function measure(folder: string, bands: string) {
  writeFileSync(join(folder, "mix.yaml"), mix(bands));
  const began = performance.now();
  const strategies = { file: join(folder, "mix.yaml") };
  const loaded = loadConfiguration(join(folder, "swapd.yaml"), {}, { overrides: { strategies } });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const { configuration } = loaded;
  const prices = readPrices([`WETH/USDC=${join(folder, "weth.csv")}`], configuration, { needed: [] });
  const [readMs, cpu] = [performance.now() - began, process.cpuUsage()];
  const { summary } = await play(configuration, prices);
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - began) / 1_000;
  const [slots = 0] = summary.strategies.map((figures) => figures.slots);
  return {
    ...{ bands, slots, fills: summary.fills, readMs: Math.round(readMs), cpuMs: Math.round((user + system) / 1_000) },
    seconds: Math.round(seconds * 100) / 100,
  };
}

async function play(configuration: Configuration, prices: PriceSet) {
  const { fromMs, untilMs } = prices;
  const paper = [...configuration.wallets.values()];
  return await runBacktest({
    ...{ configuration, prices, fromMs, untilMs, gasPrice: 10n ** 9n, swapGas: 200_000n },
    model: { poolFee: toPpm(500), depthUsd: 5_000_000n * 10n ** 18n },
    balances: new Map(paper.map(({ address, paper: amounts = new Map() }) => [address, amounts])),
  });
}

const folder = mkdtempSync(join(tmpdir(), "swapd-bench-backtest-"));
try {
  writeFileSync(join(folder, "swapd.yaml"), MAIN);
  writeFileSync(join(folder, "policy.yaml"), POLICY);
  writeFileSync(join(folder, "weth.csv"), candles());
  const rows = [await measure(folder, "20%"), await measure(folder, "2%")];
  console.table(rows);
  console.log(JSON.stringify({ bench: "backtest", gates: { seconds: GATE_SECONDS }, rows }));
  process.exitCode = rows.every(({ seconds }) => seconds < GATE_SECONDS) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
