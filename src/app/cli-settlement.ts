import type { Command } from "commander";
import { CHANGED_CONFIG, CONFIG, FOR, SANDBOX_FLAG } from "./cli-options.ts";
import type { Terminal } from "./terminal.ts";

/** `swapd settlement`: the contracts that our own service settles through. */
export function addSettlementCommands(program: Command, terminal: Terminal): void {
  const settlement = program.command("settlement").description("the contracts that swaps settle through");
  settlement
    .command("deploy")
    .description("show what putting them on the chain would cost; with --yes do it")
    .option(...CHANGED_CONFIG)
    .option(...SANDBOX_FLAG)
    .option("--keystore <file>", "the operator's encrypted keystore: a key that nothing else uses")
    .option("--password-file <file>", "the file with its password")
    .option("--yes", "sign and send")
    .option(...FOR)
    .action(async (options) => (await import("./commands/settlement.ts")).deploySettlement(options, terminal));
  settlement
    .command("verify")
    .description("check deployed contracts against what this release compiles")
    .argument("[address]", "the settlement contract; else the configured one")
    .option(...CONFIG)
    .action(async (address, options) =>
      (await import("./commands/settlement.ts")).verifySettlement(address, options, terminal),
    );
}
