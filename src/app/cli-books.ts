import { type Command, Option } from "commander";
import { sinceMs, untilMs } from "./books/time-range.ts";
import { CONFIG, REHEARSAL } from "./cli-options.ts";
import type { Terminal } from "./terminal.ts";

const FORMAT_NAMES = ["csv", "jsonl", "koinly", "cointracking", "hledger", "beancount"];

/** The commands for accounts: what was traded, in formats of others. */
export function addBookCommands(program: Command, terminal: Terminal): void {
  program
    .command("export")
    .description("every final fill, fee and gas, for an accountant or a program; nothing of it is tax advice")
    .addOption(new Option("--format <name>", "how it is written").choices(FORMAT_NAMES).makeOptionMandatory())
    .option(...CONFIG)
    .option(...REHEARSAL)
    .option("--since <day|instant>", "from then on: 2026-01-31 (in UTC) or 2026-01-31T09:00:00+01:00", sinceMs)
    .option("--until <day|instant>", "up to then; a day counts whole", untilMs)
    .option("--wallet <name>", "of one wallet")
    .option("--names <file>", "CSV with address,name: what assets are called, by their contracts")
    .option(...OPENING)
    .action(async (options) => (await import("./commands/export.ts")).exportBooks(options, terminal));
}

const OPENING = [
  "--opening <file>",
  "CSV with wallet,asset,amount,acquired,cost_usd: lots from before, or from elsewhere",
] as const;
