import { type Command, Option } from "commander";
import { sinceMs, untilMs } from "./books/time-range.ts";
import { CHANGED_CONFIG, CONFIG, JSON_FLAG, REHEARSAL, SANDBOX_FLAG } from "./cli-options.ts";
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
  addLotCommands(program, terminal);
  program
    .command("report")
    .description("one page with plots: value, weights, execution, in steps or at once, costs; no tax advice")
    .requiredOption("--html <file>", "where to; it needs nothing else, and prints")
    .option(...CONFIG)
    .option(...REHEARSAL)
    .option("--since <day|instant>", "from then on", sinceMs)
    .option("--until <day|instant>", "up to then; a day counts whole", untilMs)
    .option("--wallet <name>", "of one wallet")
    .option("--names <file>", "CSV with address,name: what assets are called, by their contracts")
    .option(...OPENING)
    .action(async (options) => (await import("./commands/report.ts")).report(options, terminal));
}

const METHOD_NAMES = ["fifo", "lifo", "average", "pool", "specific"];
const PICK_NAMES = ["oldest", "newest", "highest-cost", "lowest-cost"];

function addLotCommands(program: Command, terminal: Terminal): void {
  const lots = program.command("lots").description("what is held at what cost, and what sales came to; no tax advice");
  lots
    .command("list", { isDefault: true })
    .description("lots, and results realised and not, by a method that you choose; no tax advice")
    .addOption(new Option("--method <name>", "which lots a sale takes").choices(METHOD_NAMES).default("fifo"))
    .option(...CONFIG)
    .option(...REHEARSAL)
    .option(...JSON_FLAG)
    .option("--since <day|instant>", "what was realised from then on", sinceMs)
    .option("--until <day|instant>", "as it was then; a day counts whole", untilMs)
    .option("--wallet <name>", "of one wallet")
    .option("--names <file>", "CSV with address,name: what assets are called, by their contracts")
    .option(...OPENING)
    .action(async (options) => (await import("./commands/lots.ts")).showLots(options, terminal));
  lots
    .command("order")
    .description("write down which lots the sales of a wallet take from now on, for --method specific")
    .requiredOption("--wallet <name>", "of this wallet")
    .addOption(new Option("--pick <lots>", "which first").choices(PICK_NAMES).makeOptionMandatory())
    .option(...CHANGED_CONFIG)
    .option(...SANDBOX_FLAG)
    .action(async (options) => (await import("./commands/lots-order.ts")).orderLots(options, terminal));
}

const OPENING = [
  "--opening <file>",
  "CSV with wallet,asset,amount,acquired,cost_usd: lots from before, or from elsewhere",
] as const;
