import { cpSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createStore } from "../../src/adapters/sqlite/daemon/store.ts";
import { readSandboxFacts, SANDBOX_DIRECTORY, type SandboxFacts } from "../../src/app/sandbox-facts.ts";
import { configurationOf } from "../../src/app/target.ts";
import type { Configuration } from "../../src/config/configuration.ts";
import { initialStrategyMemory } from "../../src/domain/strategy/strategy.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { makeFolder, run, start } from "../../test/e2e/support/swapd.ts";
import { STRATEGIES } from "./fill.ts";

/** What an operator types, with how often it is timed and how it may end: `plan` says 1 where a slot would be denied. */
const COMMANDS = {
  status: { args: ["status"], rounds: 5, codes: [0] },
  history: { args: ["history"], rounds: 5, codes: [0] },
  why: { args: ["why", "s1"], rounds: 5, codes: [0] },
  plan: { args: ["plan"], rounds: 3, codes: [0, 1] },
} as const;

type CommandName = keyof typeof COMMANDS;

/** Medians of the whole process, from its start to its end, milliseconds. */
export interface CommandTimes {
  readonly filledMs: number;
  readonly smallMs: number;
  /** what the long history adds */
  readonly addedMs: number;
}

/**
 * Times the commands as an operator starts them, each on the filled database and on a small one in turn. They have the
 * configuration, chain and service of a sandbox without a daemon, whose strategies are called as those of the rows.
 */
export async function timeCommands(files: {
  readonly filled: string;
  readonly small: string;
}): Promise<Readonly<Record<CommandName, CommandTimes>>> {
  const folder = makeFolder();
  const examples = join(folder.path, "strategies/sandbox");
  for (const [index, name] of readdirSync(examples).sort().slice(0, STRATEGIES).entries()) {
    renameSync(join(examples, name), join(examples, `s${index}.yaml`));
  }
  const sandbox = start(folder.path, ["sandbox", "--json", "--no-daemon", "--no-market", "--port", "0"]);
  try {
    const line = await sandbox.firstLine;
    const facts = readSandboxFacts(folder.path);
    if (facts === undefined) throw new Error(`the sandbox did not start: ${line} ${(await sandbox.ended).err}`);
    const target = { kind: "sandbox", facts, database: facts.database } as const;
    const { configuration } = configurationOf(target);
    const sides = { filled: join(folder.path, "filled"), small: join(folder.path, "small") };
    for (const side of ["filled", "small"] as const) {
      addStrategies(files[side], configuration);
      addFacts(sides[side], { ...facts, database: files[side] });
    }
    const times: Partial<Record<CommandName, CommandTimes>> = {};
    for (const name of Object.keys(COMMANDS) as CommandName[]) times[name] = await timeCommand(name, sides);
    return times as Record<CommandName, CommandTimes>;
  } finally {
    sandbox.process.kill("SIGINT");
    await sandbox.ended;
    folder.remove();
  }
}

/** A folder in which commands find the sandbox, and another database. */
function addFacts(folder: string, { directory, ...facts }: SandboxFacts & { readonly directory: string }): void {
  const here = join(folder, SANDBOX_DIRECTORY);
  mkdirSync(here, { recursive: true });
  cpSync(join(directory, "network.json"), join(here, "network.json"));
  writeFileSync(join(here, "sandbox.json"), JSON.stringify(facts));
}

function addStrategies(file: string, { strategies }: Configuration): void {
  const db = openDatabase({ file });
  const store = createStore(db);
  for (const { spec, hash } of strategies) {
    const memory = JSON.stringify(initialStrategyMemory(spec));
    store.saveStrategy({ id: spec.id, kind: spec.kind, specHash: hash, spec, memory, lastSlotMs: Date.now() }, 1);
  }
  db.close();
}

async function timeCommand(
  name: CommandName,
  sides: { readonly filled: string; readonly small: string },
): Promise<CommandTimes> {
  const { args, rounds, codes } = COMMANDS[name];
  const times = { filled: [] as number[], small: [] as number[] };
  // The first of each compiles its modules and fills the machine's cache.
  for (let round = 0; round <= rounds; round += 1) {
    for (const side of ["filled", "small"] as const) {
      const beganMs = performance.now();
      const { code, out, err } = await run(sides[side], args);
      if (round > 0) times[side].push(performance.now() - beganMs);
      if (out === "" || !codes.some((expected) => expected === code)) {
        throw new Error(`\`swapd ${args.join(" ")}\` ended with ${code} on the ${side} database: ${err}`);
      }
    }
  }
  const [filledMs, smallMs] = [median(times.filled), median(times.small)];
  return { filledMs, smallMs, addedMs: filledMs - smallMs };
}

function median(values: readonly number[]): number {
  return Math.round(values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN);
}
