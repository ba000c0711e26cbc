import type { Command } from "commander";
import { JSON_FLAG } from "./cli-options.ts";
import type { Terminal } from "./terminal.ts";

function collect(text: string, before: readonly string[]): readonly string[] {
  return [...before, text];
}

/** The command that tries a strategy on prices of the past. */
export function addBacktestCommand(program: Command, terminal: Terminal): void {
  program
    .command("backtest")
    .description("play a strategy over prices of the past, with the daemon's own decisions and limits")
    .requiredOption("--strategy <file>", "a strategy's file, or a folder of them that share their wallets")
    .option(
      "--prices <[pair=]file>",
      "candles as CSV (timestamp,open,high,low,close), for example WETH/USDC=weth-15m.csv; WETH=3000 never changes",
      collect,
      [],
    )
    .option(
      "--from-pool <address>",
      "prices out of a pool's swaps, read from your node from --from on; may go on later",
    )
    .option(
      "--pool-prices <[pair=]file>",
      "what the pool itself asked, written as --prices: fills are made at it, all else looks at --prices",
      collect,
      [],
    )
    .option("--config <file>", "configuration with wallets, tokens and policy (else SWAPD_CONFIG or ./swapd.yaml)")
    .option(
      "--from <instant>",
      "beginning, for example 2025-01-01: slots after it are played (default: where all prices begin)",
    )
    .option("--until <instant>", "end (default: where the first of the prices ends)")
    .option("--balance <amount>", 'what the wallet begins with, for example "5000 USDC"', collect, [])
    .option("--pool-fee <share>", "what pools keep of each swap", "0.05%")
    .option("--depth <amount>", "dollars on each side of the pool that is traded with", "5000000 USD")
    .option(
      "--gas-price <gwei>",
      "of all transactions (default: a quarter of the policy's max_gas_price, at most 1gwei)",
    )
    .option("--gas <n>", "gas of a swap", "200000")
    .option("--slots", "with --json: every slot with its swaps")
    .option(...JSON_FLAG)
    .option("--html <file>", "a report with plots, in one file")
    .action(async (options) => (await import("./commands/backtest.ts")).backtest(options, terminal));
}
