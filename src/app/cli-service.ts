import type { Command } from "commander";
import { CONFIG, FOR, integer, JSON_FLAG } from "./cli-options.ts";
import type { GivenFlag } from "./network-flags.ts";
import type { Terminal } from "./terminal.ts";

/** The commands of our own aggregation service. */
export function addServiceCommands(program: Command, terminal: Terminal): void {
  const given: GivenFlag[] = [];
  const collect = (flag: GivenFlag["flag"]) => (value: string) => void given.push({ flag, value });
  program
    .command("serve")
    .description(
      "run the aggregation service alone: by configurations, or by flags; several networks by repeating them",
    )
    .option("--config <file>", `${CONFIG[1]}; again for each further network`, (file, before: string[] = []) => [
      ...before,
      file,
    ])
    .option("--network <name>", "a built-in network, or any name with --preset; needs --rpc", collect("network"))
    .option("--rpc <endpoint>", "its node: an http URL, env:NAME, or file:PATH", collect("rpc"))
    .option("--preset <file>", "the facts of a network that is not built in", collect("preset"))
    .option(
      "--settlement <address>",
      "its settlement contract; without one swaps go through the public router where there is one",
      collect("settlement"),
    )
    .option("--listen <host:port>", "where the interface is served (127.0.0.1:9465)")
    .option("--database <file>", "the service's own database (service-<first network>.db)")
    .option("--metrics <host:port>", "where metrics are served; without it nowhere")
    .option(...FOR)
    .action(async (options) => (await import("./commands/serve.ts")).serve({ ...options, given }, terminal));
  addKeyCommands(program, terminal);
}

function addKeyCommands(program: Command, terminal: Terminal): void {
  const keys = program.command("keys").description("API keys of our own service; hashed in its database");
  const add = (name: string, description: string): Command =>
    keys
      .command(name)
      .description(description)
      .option(...CONFIG)
      .option("--database <file>", "the service's database, instead of the configuration's")
      .option(...JSON_FLAG);
  add("add", "make a key; print it once")
    .argument("<name>", "whose key it is")
    .option("--requests-per-second <n>", "a limit of its own", integer)
    .action(async (name, options) => (await import("./commands/keys.ts")).addKey(name, options, terminal));
  add("list", "names, limits and whether they are in force").action(async (options) =>
    (await import("./commands/keys.ts")).listKeys(options, terminal),
  );
  add("revoke", "end a key; it counts from the next request on")
    .argument("<key>", "its name or id")
    .action(async (which, options) => (await import("./commands/keys.ts")).revokeKey(which, options, terminal));
}
