import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import { readYaml } from "../config/read-yaml.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";

const OF_A_NETWORK = z.object({ network: z.object({ name: z.string() }) });

/**
 * Refuses, before anything of the last sandbox goes, a configuration that a sandbox cannot run: one that is missing, and
 * one of another network, whose daemon would ask that network's own endpoints and sign with its own key.
 */
export function refuseUnfitFile(file: string): void {
  if (!existsSync(file)) {
    throw new CommandFailure(EXIT.configuration, `${file} is missing: run the sandbox in a folder that has it`);
  }
  const name = networkNamed(file);
  if (name === "sandbox") return;
  throw new CommandFailure(
    EXIT.usage,
    `${file} is a configuration of ${name}: its daemon would ask the endpoints of ${name} and sign with its real key, so a sandbox runs configurations of the network sandbox alone; rehearse it on a fork of ${name} with --fork-url, or try strategies out with a copy of config/sandbox.yaml`,
  );
}

/** Whether a configuration of a real network is to be tried out on a fork of it. */
export function isRehearsal({ forkUrl, config }: { readonly forkUrl?: string; readonly config: string }): boolean {
  return forkUrl !== undefined && existsSync(config) && networkNamed(config) !== "sandbox";
}

/** What of an option is asked for. */
interface AskedFor {
  readonly forkUrl?: string;
  readonly config: string;
  readonly fund?: readonly string[];
  readonly json?: boolean;
  readonly daemon: boolean;
  readonly chainOnly?: boolean;
  readonly market: boolean;
  readonly seed?: number;
}

/**
 * Refuses options that would be of no effect: who asks for money on the fork, or for a chain alone, must not get something else.
 * @throws CommandFailure 2
 */
export function refuseUnused(asked: AskedFor): void {
  if (!isRehearsal(asked)) {
    if (asked.fund === undefined) return;
    throw new CommandFailure(
      EXIT.usage,
      `--fund gives money to the copies of wallets in a rehearsal, and this is none: ${whyNone(asked)}`,
    );
  }
  const { json, daemon, chainOnly, market, seed } = asked;
  const unused = [
    ...(json === true ? ["--json"] : []),
    ...(daemon ? [] : ["--no-daemon"]),
    ...(chainOnly === true ? ["--chain-only"] : []),
    ...(market ? [] : ["--no-market"]),
    ...(seed === undefined ? [] : ["--seed"]),
  ];
  if (unused.length === 0) return;
  throw new CommandFailure(
    EXIT.usage,
    `${unused.join(", ")} ${unused.length === 1 ? "is" : "are"} of no use in a rehearsal: it runs the daemon of ${asked.config} on a fork of its network, whose market is the real one and stands still; leave ${unused.length === 1 ? "it" : "them"} out, or run the sandbox with a configuration of the network sandbox`,
  );
}

function whyNone({ forkUrl, config }: AskedFor): string {
  if (forkUrl === undefined) return "add --fork-url with an endpoint of the configuration's network, or leave it out";
  return existsSync(config)
    ? `${config} is a configuration of the sandbox, whose wallet has money; name your own with --config, or leave it out`
    : `${config} is missing; name your own configuration with --config`;
}

function networkNamed(file: string): string {
  const read = OF_A_NETWORK.safeParse(readYaml(file, readFileSync(file, "utf8")).source?.data);
  return read.success ? read.data.network.name : "sandbox";
}

/** The URL to fork from: as it is given, or from the environment as `env:NAME`, where no list of processes shows its key. */
export function forkUrlOf(given: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
  const name = /^env:(.+)$/.exec(given ?? "")?.[1];
  if (name === undefined) return given;
  const url = env[name];
  if (url !== undefined && url !== "") return url;
  throw new CommandFailure(EXIT.configuration, `--fork-url: the environment variable ${name} is not set, or empty`);
}
