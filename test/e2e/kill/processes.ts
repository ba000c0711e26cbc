import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, closeSync, openSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** How a process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process of this test. */
export interface Child {
  readonly ended: Promise<Ending>;
  kill(signal: NodeJS.Signals): void;
}

export interface Surroundings {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  /** gets both outputs, appended */
  readonly logFile: string;
}

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** A process whose output goes to a file. */
export interface SpeakingChild extends Child {
  /** resolves at its first output: its code is loaded, and it begins to work */
  readonly spoke: Promise<void>;
}

/** Runs `swapd` with these arguments. */
export function startSwapd(command: readonly string[], around: Surroundings): SpeakingChild {
  const process = startNode(["src/main.ts", ...command], around, ["ignore", "pipe", "pipe"]);
  const spoke = new Promise<void>((resolve) => {
    for (const stream of [process.stdout, process.stderr]) {
      stream?.on("data", (chunk) => {
        appendFileSync(around.logFile, chunk);
        resolve();
      });
    }
  });
  return { ...watch(process), spoke };
}

/** Runs a script of this repository and waits for its one JSON line; the rest of its output goes nowhere. */
export async function startAnnounced(
  command: readonly string[],
  around: Surroundings,
  withinMs: number,
): Promise<Child & { readonly announced: Readonly<Record<string, unknown>> }> {
  const log = openSync(around.logFile, "a");
  // A script that ends with its parent knows it by its standard input, so that one stays open.
  const process = startNode(command, around, ["pipe", "pipe", log]);
  closeSync(log);
  const child = watch(process);
  const output = process.stdout;
  if (output === null) throw new Error("the process has no output");
  const line = new Promise<string>((resolve) => createInterface(output).once("line", resolve));
  const first = await Promise.race([line, child.ended, after(withinMs)]);
  if (typeof first === "string") return { ...child, announced: JSON.parse(first) as Record<string, unknown> };
  child.kill("SIGKILL");
  throw new Error(`${command[0]} said nothing within ${withinMs} ms: ${JSON.stringify(first)}; see ${around.logFile}`);
}

/** Runs `swapd` to its end. */
export async function runSwapd(
  command: readonly string[],
  around: Surroundings,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const process = startNode(["src/main.ts", ...command], around, ["ignore", "pipe", "pipe"]);
  let output = "";
  for (const stream of [process.stdout, process.stderr]) {
    stream?.on("data", (chunk) => {
      output += String(chunk);
    });
  }
  const closed = new Promise<void>((resolve) => process.once("close", () => resolve()));
  const { code } = await watch(process).ended;
  await closed;
  return { code, output };
}

export function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The same as a limit on what a child does: the child keeps this process up, and the limit alone does not. */
export function atLatestAfter(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

const SHIFTED_CLOCK = new URL("shifted-clock.ts", import.meta.url).href;

type Stdio = ["ignore" | "pipe", number | "pipe", number | "pipe"];

function startNode([script = "", ...rest]: readonly string[], around: Surroundings, stdio: Stdio): ChildProcess {
  const preload = around.env.KILL_CLOCK === undefined ? [] : ["--import", SHIFTED_CLOCK];
  return spawn(process.execPath, [...preload, `${ROOT}${script}`, ...rest], {
    cwd: around.directory,
    env: { PATH: process.env.PATH ?? "", HOME: around.directory, ...around.env },
    stdio,
  });
}

const alive = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});

/** Whatever happens to this process, none of its children outlives it. */
function watch(process: ChildProcess): Child {
  alive.add(process);
  process.once("exit", () => alive.delete(process));
  const ended = new Promise<Ending>((resolve, reject) => {
    process.once("error", reject);
    process.once("exit", (code, signal) => resolve({ code, signal }));
  });
  return { ended, kill: (signal) => void process.kill(signal) };
}
