import { Command, CommanderError, Option } from "commander";
import { addBacktestCommand } from "./cli-backtest.ts";
import { addBookCommands } from "./cli-books.ts";
import { addDatabaseCommands } from "./cli-database.ts";
import { addFirstCommands } from "./cli-first.ts";
import { addHistoryCommands } from "./cli-history.ts";
import { addLoginCommands } from "./cli-login.ts";
import {
  CHANGED_CONFIG,
  CONFIG,
  FOR,
  firstPort,
  integer,
  JSON_FLAG,
  SANDBOX_FLAG,
  seconds,
  slotCount,
} from "./cli-options.ts";
import { addServiceCommands } from "./cli-service.ts";
import { addSettlementCommands } from "./cli-settlement.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import { oneLine } from "./one-line.ts";
import { processTerminal, type Terminal } from "./terminal.ts";
import { version } from "./version.ts";

// Commands are loaded when they are asked for: most of them need neither the chain's nor the service's libraries.

/** Parses the arguments, runs one command, and gives the process's exit code. */
export async function runCli(argv: readonly string[], terminal: Terminal = processTerminal): Promise<number> {
  try {
    await buildProgram(terminal).parseAsync([...argv]);
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (error instanceof CommandFailure) {
      if (error.message !== "") terminal.err(error.message);
      return error.exitCode;
    }
    const { message, exitCode } = (await import("./start-trouble.ts")).troubleOfCommand(error);
    terminal.err(message);
    return exitCode;
  }
}

function buildProgram(terminal: Terminal): Command {
  const program = new Command("swapd")
    .description("Unattended token swaps on EVM chains, from your own wallet, within your own limits.")
    .version(version())
    .exitOverride()
    .showHelpAfterError();
  addFirstCommands(program, terminal);
  addRunningCommands(program, terminal);
  addHistoryCommands(program, terminal);
  addBookCommands(program, terminal);
  addLookingCommands(program, terminal);
  addBacktestCommand(program, terminal);
  addOperatorCommands(program, terminal);
  addLoginCommands(program, terminal);
  addTransactionCommands(program, terminal);
  addNotifyCommands(program, terminal);
  addDatabaseCommands(program, terminal);
  addServiceCommands(program, terminal);
  addWalletCommands(program, terminal);
  addSettlementCommands(program, terminal);
  return program;
}

function addRunningCommands(program: Command, terminal: Terminal): void {
  program
    .command("start")
    .description("run the daemon")
    .option(...CONFIG)
    .option(...FOR)
    .option("--wait", "where a file must be changed, stay up and wait for that instead of ending with 78")
    .action(async (options) => (await import("./commands/start.ts")).start(options, terminal));
  program
    .command("sandbox")
    .description("a whole world on this machine: chain, market, service and daemon")
    .option(...FOR)
    .option("--json", "print one line of JSON when ready and stay up")
    .option("--no-daemon", "leave the strategies out")
    .option("--chain-only", "leave the service out too")
    .option("--no-market", "prices stand still")
    .option("--seed <n>", "repeats trades and feeds by block number (default: 1)", integer)
    .option("--block-time <seconds>", "time between blocks", seconds, 1)
    .option("--port <n>", "first port, the others follow; 0 takes free ones", firstPort, 8545)
    .option("--fork-url <url|env:NAME>", "run on a fork of a real chain")
    .option(
      "--config <file>",
      "what the daemon runs; with --fork-url also one of a real network",
      "config/sandbox.yaml",
    )
    .option("--fund <amounts...>", 'what the copies of its wallets get on the fork besides, for example "5000 USDC"')
    .action(async (options) => (await import("./commands/sandbox.ts")).sandbox(options, terminal));
}

function addLookingCommands(program: Command, terminal: Terminal): void {
  program
    .command("plan")
    .description("what the next slots would do, and what they need; signs nothing")
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .option("--slots <count>", "slots of each strategy, 1 to 1000", slotCount, 3)
    .action(async (options) => (await import("./commands/plan.ts")).plan(options, terminal));
  program
    .command("status")
    .description("does a daemon run, what does it wait for; strategies, modes, budgets, balances, alerts")
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .option("--service", "ask the service for its own counts too")
    .action(async (options) => (await import("./commands/status.ts")).status(options, terminal));
  program
    .command("doctor")
    .description("look at everything: clock, endpoints, database, keys, rights, lanes, disk, channels; what mends it")
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .action(async (options) => (await import("./commands/doctor.ts")).doctor(options, terminal));
  program
    .command("audit")
    .description("check the database against the chain, by an independent reader")
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .option("--since <block|date|duration>", "only what came since, and what is open: 21000000, 2026-01-31, 7d")
    .action(async (options) => (await import("./commands/audit.ts")).auditCommand(options, terminal));
  program
    .command("check")
    .description("check a configuration and what it names on the chain: all problems at once")
    .argument("[file]", "configuration file")
    .option("--offline", "check the files only")
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .action(async (file, options) => (await import("./commands/check.ts")).check(file, options, terminal));
  program
    .command("schema")
    .description("write the JSON Schemas for editors")
    .argument("[name]", "swapd, policy or strategy")
    .action(async (name) => (await import("./commands/schema.ts")).schema(name, terminal));
}

const MODES = {
  pause: "start no runs, finish the open ones",
  resume: "go back to active",
  "exits-only": "start only runs that leave a position",
  halt: "sign nothing, go on watching",
} as const;
const MODE_OF = { pause: "paused", resume: "active", "exits-only": "exits-only", halt: "halted" } as const;

function addOperatorCommands(program: Command, terminal: Terminal): void {
  for (const name of Object.keys(MODES) as (keyof typeof MODES)[]) {
    const command = program
      .command(name)
      .description(MODES[name])
      .argument("[strategy]", "one strategy; without it all")
      .addOption(new Option("--reason <text>", "why").default("no reason given"))
      .option(...CHANGED_CONFIG)
      .option(...SANDBOX_FLAG)
      .action(async (strategy, options: { config?: string; sandbox?: boolean; reason: string; relayer?: boolean }) => {
        if (options.relayer === true) {
          if (strategy !== undefined) throw new CommandFailure(EXIT.usage, "--relayer takes no strategy");
          (await import("./commands/release-relayer.ts")).releaseRelayer(options, terminal);
          return;
        }
        await (await import("./commands/request.ts")).request(
          {
            name: "mode",
            arguments: { mode: MODE_OF[name], scope: strategy ?? "global", reason: oneLine(options.reason) },
          },
          options,
          terminal,
        );
      });
    if (name === "resume") command.option("--relayer", "instead: release the halted account of the service's relayer");
  }
  program
    .command("run <strategy>")
    .description("run a strategy now, in place of its next slot")
    .option("--extra", "besides the schedule: the next slot runs too")
    .option(...CHANGED_CONFIG)
    .option(...SANDBOX_FLAG)
    .action(async (strategy, options) => {
      const extra = options.extra === true ? { extra: "true" } : {};
      await (await import("./commands/request.ts")).request(
        { name: "run", arguments: { strategy, ...extra } },
        options,
        terminal,
      );
    });
  program
    .command("approve <run>")
    .description("let a run go on that waits for a person")
    .option(...CHANGED_CONFIG)
    .option(...SANDBOX_FLAG)
    .action(async (run, options) =>
      (await import("./commands/request.ts")).request({ name: "approve", arguments: { run } }, options, terminal),
    );
  program
    .command("skip <strategy|run>")
    .description("let the next slot of a strategy pass; or refuse a run that waits for a person")
    .option(...CHANGED_CONFIG)
    .option(...SANDBOX_FLAG)
    .action(async (strategy, options) =>
      (await import("./commands/request.ts")).request({ name: "skip", arguments: { strategy } }, options, terminal),
    );
}

function addTransactionCommands(program: Command, terminal: Terminal): void {
  const allowances = program.command("allowances").description("what contracts may take of the wallets' tokens");
  allowances
    .command("list")
    .description("every allowance that stands on the chain, and the swap that uses it")
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .action(async (options) => (await import("./commands/allowances.ts")).listAllowances(options, terminal));
  allowances
    .command("revoke <token>")
    .description("take the allowances of a token back")
    .option("--wallet <name>", "of this wallet; needed where there are several")
    .option(...CHANGED_CONFIG)
    .option(...SANDBOX_FLAG)
    .action(async (token, options) =>
      (await import("./commands/allowances.ts")).revokeAllowances(token, options, terminal),
    );
  const transactions = program.command("tx").description("the wallets' own transactions");
  transactions
    .command("list")
    .description("nonces, states, fees and hashes, newest first; halted accounts")
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .option("--limit <n>", "at most so many that are over", integer, 20)
    .action(async (options) => (await import("./commands/tx.ts")).listTransactions(options, terminal));
  transactions
    .command("cancel <id>")
    .description("take the nonce of an open transaction with an empty one to ourselves; the chain decides")
    .option(...CHANGED_CONFIG)
    .option(...SANDBOX_FLAG)
    .action(async (intent, options) =>
      (await import("./commands/request.ts")).request({ name: "cancel", arguments: { intent } }, options, terminal),
    );
}

function addNotifyCommands(program: Command, terminal: Terminal): void {
  program
    .command("notify")
    .description("the channels that alerts are sent to")
    .command("test")
    .description("send a test alert to each of them and show what they answer")
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .action(async (options) => (await import("./commands/notify.ts")).notifyTest(options, terminal));
}

function addWalletCommands(program: Command, terminal: Terminal): void {
  const wallet = program.command("wallet").description("encrypted keystores of the wallets that swapd trades from");
  const PASSWORD_FILE = ["--password-file <file>", "a file with its password"] as const;
  const open = (name: string, description: string): Command =>
    wallet.command(name).description(description).requiredOption("--keystore <file>", "the encrypted keystore");
  const add = (name: string, description: string): Command => open(name, description).requiredOption(...PASSWORD_FILE);
  add("new", "make a key; print its address").action(async (options) =>
    (await import("./commands/wallet.ts")).newWallet(options, terminal),
  );
  add("import", "encrypt the private key, or the key of the mnemonic, that a file holds")
    .requiredOption("--key-file <file>", "a file with a private key, or with the 12 to 24 words of a mnemonic")
    .option("--path <path>", "of a mnemonic: the path of the account (m/44'/60'/0'/0/0)")
    .action(async (options) => (await import("./commands/wallet.ts")).importWallet(options, terminal));
  open("address", "print the address of a keystore, with a password after opening it")
    .option(...PASSWORD_FILE)
    .action(async (options) => (await import("./commands/wallet.ts")).walletAddress(options, terminal));
}
