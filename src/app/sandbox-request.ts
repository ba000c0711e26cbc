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
