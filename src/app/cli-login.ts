import { type Command, Option } from "commander";
import { CHANGED_CONFIG, IN_FORCE_FOR, JSON_FLAG, SANDBOX_FLAG } from "./cli-options.ts";
import type { Terminal } from "./terminal.ts";

const scope = (usual: "read" | "operate"): Option =>
  new Option("--scope <scope>", "read: look on; operate: act, too").choices(["read", "operate"]).default(usual);

/** Who may use the page and the API. */
export function addLoginCommands(program: Command, terminal: Terminal): void {
  const login = program
    .command("login")
    .description("print a one-time code to log a browser in; with a command below: tokens of the API")
    .addOption(scope("operate"))
    .option(...JSON_FLAG)
    .option(...CHANGED_CONFIG)
    .option(...SANDBOX_FLAG)
    .action(async (options) => (await import("./commands/login.ts")).printCode(options, terminal));
  login
    .command("add <name>")
    .description("make a token for a program; it is shown once")
    .option(...IN_FORCE_FOR)
    .action(async (name, _options, command) =>
      (await import("./commands/login.ts")).addToken(name, { ...command.optsWithGlobals() }, terminal),
    );
  login
    .command("list")
    .description("tokens and logins that are in force")
    .action(async (_options, command) =>
      (await import("./commands/login.ts")).listAccess(command.optsWithGlobals(), terminal),
    );
  login
    .command("revoke <name>")
    .description("end a token or a login")
    .action(async (name, _options, command) =>
      (await import("./commands/login.ts")).revokeAccess(name, command.optsWithGlobals(), terminal),
    );
}
