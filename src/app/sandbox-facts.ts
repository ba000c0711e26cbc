import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { toAddress } from "../domain/money/address.ts";
import { acquireLock } from "../storage/lock.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";

/** Where a sandbox keeps everything, below the folder it was started in. */
export const SANDBOX_DIRECTORY = join(".swapd", "sandbox");
/** Locked inside {@link SANDBOX_DIRECTORY} as long as a sandbox runs there. */
export const SANDBOX_LOCK_FILE = "lock.db";
const FACTS_FILE = "sandbox.json";

const address = z.string().transform((text) => toAddress(text));

const factsSchema = z.object({
  rpcUrl: z.string(),
  chainId: z.number(),
  wrappedNative: address,
  settlement: address,
  /** null when it ran without a service */
  serviceUrl: z.string().nullable(),
  /** absent in what an older version wrote */
  mode: z.enum(["dry-run", "paper", "live"]).default("live"),
  /** where the daemon's rows are, in that mode */
  database: z.string(),
  configuration: z.string(),
  /** what the configuration refers to, keys included: nothing on a sandbox is worth anything */
  environment: z.record(z.string(), z.string()),
});

/** What later commands need to know of the last sandbox. Paths are absolute. */
export type SandboxFacts = z.output<typeof factsSchema>;

/** Writes the facts next to the sandbox's chain state. */
export function writeSandboxFacts(directory: string, facts: SandboxFacts): void {
  writeFileSync(join(directory, FACTS_FILE), `${JSON.stringify(facts, null, 2)}\n`);
}

/** Facts of the sandbox that was last started in this folder, undefined when there was none. */
export function readSandboxFacts(root = process.cwd()): (SandboxFacts & { directory: string }) | undefined {
  const directory = resolve(root, SANDBOX_DIRECTORY);
  const file = join(directory, FACTS_FILE);
  if (!existsSync(file)) return undefined;
  return { ...factsSchema.parse(JSON.parse(readFileSync(file, "utf8"))), directory };
}

/** Whether this folder's sandbox runs. A chain at its old port alone may be that of another folder. */
export function isSandboxRunning(directory: string): boolean {
  const lock = acquireLock(join(directory, SANDBOX_LOCK_FILE));
  if (lock.kind === "acquired") lock.release();
  return lock.kind === "held";
}

/** Makes the folder of a sandbox. @throws CommandFailure where it cannot be written */
export function makeSandboxDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const text = `the sandbox cannot make ${directory} for its chain and database (${why}): run it in a folder that you may write to`;
    throw new CommandFailure(EXIT.configuration, text);
  }
}
