import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUNDLED_LAUNCHER } from "./bundled-launcher.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** The program in a few files where the suite has bundled it, else the one of this checkout. */
const LAUNCHER = process.env[BUNDLED_LAUNCHER] ?? join(ROOT, "bin/swapd.js");

/** A folder with the sandbox's configuration and strategies, as a clone has them. */
export function makeFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "swapd-e2e-"));
  for (const part of ["config", "strategies"]) cpSync(join(ROOT, part), join(path, part), { recursive: true });
  // What the shipped example expects alongside itself; two mixes of one wallet are refused.
  cpSync(join(ROOT, "strategies/examples"), join(path, "config/strategies"), { recursive: true });
  for (const folder of ["config/strategies", "strategies/examples"]) rmSync(join(path, folder, "calm-mix.yaml"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A swapd process that was started and goes on. */
export interface Started {
  readonly process: ChildProcess;
  /** what it has written to its output so far */
  output(): string;
  /** resolves with the first line of its output */
  readonly firstLine: Promise<string>;
  readonly ended: Promise<Ended>;
}

/** Long enough to answer a SIGKILL on a loaded machine. */
const GONE_WITHIN_MS = 30_000;

const alive = new Set<ChildProcess>();

/** Kills what was started and has not been stopped. */
export async function endWhatIsLeft(): Promise<void> {
  const left = [...alive];
  for (const child of left) child.kill("SIGKILL");
  await Promise.all(left.map((child) => once(child, "exit", { signal: AbortSignal.timeout(GONE_WITHIN_MS) })));
}

/**
 * Starts `swapd` with arguments in a folder. Whatever becomes of the test, the process does not outlive its file: vitest
 * ends its workers without their exit handlers, so the process also stops by itself when the channel to its starter
 * closes, as it does for the launcher on an old Node.
 */
export function start(
  cwd: string,
  args: readonly string[],
  env: Record<string, string> = {},
  launcher = LAUNCHER,
): Started {
  const child = spawn(process.execPath, [launcher, ...args], {
    cwd,
    env: { ...process.env, SWAPD_CONFIG: "", SWAPD_LAUNCHED: "1", ...env },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  if (child.stdout === null || child.stderr === null) throw new Error("a piped output has no stream");
  alive.add(child);
  child.once("exit", () => alive.delete(child));
  let out = "";
  let err = "";
  let resolveLine: (line: string) => void = () => undefined;
  const firstLine = new Promise<string>((resolve) => {
    resolveLine = resolve;
  });
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
    const end = out.indexOf("\n");
    if (end >= 0) resolveLine(out.slice(0, end));
  });
  child.stderr.on("data", (chunk: Buffer) => {
    err += chunk.toString();
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code) => {
      resolveLine("");
      resolve({ code, out, err });
    });
  });
  return { process: child, output: () => out, firstLine, ended };
}

const POLL_EVERY_MS = 100;

/**
 * Waits until something that a test needs has happened.
 * @throws what was waited for, and the output of the process so far, when it takes too long or the process ends first
 */
export async function until(
  what: string,
  around: { readonly process: Started; readonly withinMs: number },
  hasHappened: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadlineMs = performance.now() + around.withinMs;
  while (!(await hasHappened())) {
    const { exitCode, signalCode } = around.process.process;
    const hasEnded = exitCode !== null || signalCode !== null;
    if (hasEnded || performance.now() > deadlineMs) {
      const why = hasEnded ? `before the end (${exitCode ?? signalCode})` : `within ${around.withinMs} ms`;
      throw new Error(`not ${why}: ${what}; the output is\n${around.process.output()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS));
  }
}

/** Runs `swapd` to its end: this repository's, or the one of another launcher. */
export async function run(
  cwd: string,
  args: readonly string[],
  env: Record<string, string> = {},
  launcher = LAUNCHER,
): Promise<Ended> {
  return await start(cwd, args, env, launcher).ended;
}
