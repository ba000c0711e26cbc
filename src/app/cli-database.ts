import type { Command } from "commander";
import { CHANGED_CONFIG, CONFIG, JSON_FLAG, SANDBOX_FLAG } from "./cli-options.ts";
import type { Terminal } from "./terminal.ts";

/** The commands of the database itself: copies of it, and what it does not know. */
export function addDatabaseCommands(program: Command, terminal: Terminal): void {
  program
    .command("backup")
    .description("copy the database while the daemon runs, checked and for its owner alone")
    .option("--to <file>", "where to; default: next to the database, with the time in its name")
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .action(async (options) => (await import("./commands/backup.ts")).backup(options, terminal));
  program
    .command("restore <file>")
    .description("put a copy in the database's place, keep what it replaces; no daemon may run")
    .option(...CHANGED_CONFIG)
    .option(...JSON_FLAG)
    .action(async (file, options) => (await import("./commands/restore.ts")).restore(file, options, terminal));
  const database = program
    .command("db")
    .description("what the database does not know of its own past and of the chain");
  database
    .command("check")
    .description("is it whole, which one is it, how far does it know the chain, what differs")
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .action(async (options) => (await import("./commands/db-check.ts")).checkDatabase(options, terminal));
  database
    .command("accept")
    .description("accept what differs, as `db check` shows it; the daemon goes on then, now or at its next start")
    .option(...CHANGED_CONFIG)
    .option(...SANDBOX_FLAG)
    .option(...JSON_FLAG)
    .action(async (options) => (await import("./commands/db-accept.ts")).acceptDatabase(options, terminal));
}
