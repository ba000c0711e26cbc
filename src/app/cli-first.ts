import type { Command } from "commander";
import { CHANGED_CONFIG } from "./cli-options.ts";
import type { Terminal } from "./terminal.ts";

/** The way in: a first configuration, and the step from looking on to trading. */
export function addFirstCommands(program: Command, terminal: Terminal): void {
  program
    .command("init")
    .description("ask what a configuration needs, each answer judged at once, and write it; again: change it")
    .option("--dir <folder>", "where to write it (the folder of SWAPD_CONFIG, or this one)")
    .option("--network <name>", "a built-in network")
    .option("--rpc <endpoints>", "where the URL of a node is: env:NAME or file:PATH, several with commas between")
    .option("--sell <amount>", 'how much of what is sold at each slot, for example "100 USDC"')
    .option("--buy <token>", "what is bought")
    .option("--at <time>", 'when: "Mon 09:00" by the wall clock, "every 6h", or five fields of cron')
    .option("--timezone <zone>", "an IANA time zone (this machine's)")
    .option("--total <amount>", 'sold in all, for example "5200 USDC", or none')
    .option("--max-per-day <value>", 'the most that is sold in any 24 hours, for example "500 USD"')
    .option("--max-per-month <value>", "the same for any 30 days")
    .option(
      "--wallet <wallet>",
      '"paper 5000 USDC", an address to watch, new, "keystore FILE", "import FILE" or "signer URL"',
    )
    .option("--offline", "ask no chain")
    .option("--yes", "ask nothing: options, what is there already, defaults")
    .action(async (options) => (await import("./commands/init.ts")).init(options, terminal));
  program
    .command("live")
    .description("check everything, show the worst case, ask, and set mode: live in the configuration file")
    .option(...CHANGED_CONFIG)
    .option("--yes", "do not ask")
    .action(async (options) => (await import("./commands/live.ts")).live(options, terminal));
}
