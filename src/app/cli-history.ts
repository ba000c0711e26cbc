import { type Command, Option } from "commander";
import { atLeastOne, CONFIG, JSON_FLAG, REHEARSAL } from "./cli-options.ts";
import type { Terminal } from "./terminal.ts";

/** The commands that read what was done, and why. */
export function addHistoryCommands(program: Command, terminal: Terminal): void {
  program
    .command("history")
    .description("runs with their swaps, newest first")
    .option(...CONFIG)
    .option(...REHEARSAL)
    .option(...JSON_FLAG)
    .option("--strategy <id>", "of one strategy")
    .option("--limit <n>", "at most so many runs", atLeastOne, 1000)
    .action(async (options) => (await import("./commands/history.ts")).history(options, terminal));
  program
    .command("show <id>")
    .description("one run or swap with every transition and check")
    .option(...CONFIG)
    .option(...REHEARSAL)
    .option(...JSON_FLAG)
    .action(async (id, options) => (await import("./commands/show.ts")).show(id, options, terminal));
  program
    .command("replay <run>")
    .description("take a run's steps again from what is stored, and compare")
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .action(async (run, options) => (await import("./commands/replay.ts")).replay(run, options, terminal));
  program
    .command("why <strategy>")
    .description("why the strategy did or did not trade")
    .option(...CONFIG)
    .option(...REHEARSAL)
    .option(...JSON_FLAG)
    .addOption(new Option("--at <instant>", "at the slot before this instant").conflicts("next"))
    .addOption(new Option("--next", "at the next slot, if it were now").conflicts("rehearsal"))
    .action(async (strategy, options) =>
      options.next === true
        ? (await import("./commands/why-next.ts")).whyNext(strategy, options, terminal)
        : (await import("./commands/why.ts")).why(strategy, options, terminal),
    );
}
