import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCli } from "../../../../src/app/cli.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { MAIN, START_MS } from "./main-file.ts";

/** Ceilings that nothing in these tests reaches, unless a test says otherwise. */
const POLICY = {
  version: "1",
  max_trade: '"100000 USD"',
  max_per_day: '"1000000 USD"',
  recipients: "[main]",
  gas_reserve: '"0.01 ETH"',
  max_gas_price: "5gwei",
  max_slippage: "1%",
  max_price_impact: "1%",
  max_fee: "3%",
  reference: "{ sources: [feed], tolerance: 1.5% }",
  pause_after: "{ failures: 3, within: 1h }",
};

export const QUARTER_MS = 15 * 60_000;

export type Ohlc = readonly [open: number, high: number, low: number, close: number];

/** Candles one after the other, as exchanges write them. */
export function csvOf(candles: readonly Ohlc[], stepMs: number = QUARTER_MS): string {
  const lines = candles.map((prices, index) => `${START_MS + index * stepMs},${prices.join(",")},1.5`);
  return ["timestamp,open,high,low,close,volume", ...lines].join("\n");
}

/** Candles that stand still at some prices, each for so many of them. */
export function flat(price: number, count: number): readonly Ohlc[] {
  return Array.from({ length: count }, () => [price, price, price, price] as const);
}

/** A folder with a configuration, one strategy and prices of WETH. */
export function backtestHome(files: {
  readonly strategy: string;
  readonly prices: string;
  readonly policy?: Readonly<Record<string, string>>;
}) {
  const folder = temporaryDirectory();
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const policy = Object.entries({ ...POLICY, ...files.policy }).map(([key, value]) => `${key}: ${value}`);
  mkdirSync(join(folder, "strategies"));
  write("swapd.yaml", MAIN);
  write("policy.yaml", `${policy.join("\n")}\n`);
  write("one.yaml", files.strategy);
  write("weth.csv", files.prices);
  const run = async (...more: readonly string[]) => {
    const [out, err]: [string[], string[]] = [[], []];
    const terminal = {
      out: (text: string) => out.push(text),
      err: (text: string) => err.push(text),
      isInteractive: false,
    };
    const named = ["--config", join(folder, "swapd.yaml"), "--strategy", join(folder, "one.yaml")];
    const prices = more.includes("--prices") ? [] : ["--prices", `WETH/USDC=${join(folder, "weth.csv")}`];
    const code = await runCli(["node", "swapd", "backtest", ...named, ...prices, ...more], terminal);
    return { code, out: out.join("\n"), err: err.join("\n") };
  };
  return { folder, write, run };
}

/** One slot of `--json --slots`. */
export interface ToldSlot {
  readonly strategy: string;
  readonly slot: string;
  readonly state: string;
  readonly reason: string | null;
  readonly swaps: readonly {
    readonly state: string;
    readonly sell: string;
    readonly buy: string;
    readonly amount: string | null;
    readonly sold: string | null;
    readonly bought: string | null;
  }[];
}

/** What tests look at of the document. */
export interface Told {
  readonly startingUsd: string;
  readonly finalUsd: string;
  readonly profitUsd: string;
  readonly marketChange: number;
  readonly cagr: number | null;
  readonly sharpe: number | null;
  readonly costs: Readonly<Record<"affiliateUsd" | "feesUsd" | "impactUsd" | "gasUsd", string>> & {
    readonly againstReferenceBps: number | null;
  };
  readonly strategies: readonly {
    readonly slots: number;
    readonly ends: Readonly<Record<string, number>>;
    readonly insideBands: number | null;
    readonly accumulation?: Readonly<Record<"own" | "lumpSum" | "equalSplit", { readonly bought: string }>>;
  }[];
  readonly sales: { readonly count: number; readonly wins: number } | null;
  readonly fills: readonly { readonly at: string; readonly sold: string; readonly bought: string }[];
  readonly slots: readonly ToldSlot[];
  readonly warnings: readonly string[];
}

/** Plays and reads the document. @throws Error with what was said where it did not end well */
export async function played(home: ReturnType<typeof backtestHome>, ...more: readonly string[]): Promise<Told> {
  const { code, out, err } = await home.run("--json", "--slots", ...more);
  if (code !== 0) throw new Error(`ended with ${code}: ${out}${err}`);
  return JSON.parse(out);
}
