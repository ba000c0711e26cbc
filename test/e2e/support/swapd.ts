import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const LAUNCHER = join(ROOT, "bin/swapd.js");

/** A folder with the sandbox's configuration and strategies, as a clone has them. */
export function makeFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "swapd-e2e-"));
  for (const part of ["config", "strategies"]) cpSync(join(ROOT, part), join(path, part), { recursive: true });
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

const alive = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});

/** Starts `swapd` with arguments in a folder. Whatever becomes of the test, the process does not outlive it. */
export function start(cwd: string, args: readonly string[], env: Record<string, string> = {}): Started {
  const child = spawn(process.execPath, [LAUNCHER, ...args], {
    cwd,
    env: { ...process.env, SWAPD_CONFIG: "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
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

const LOOK_EVERY_MS = 100;

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
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** Runs `swapd` to its end. */
export async function run(cwd: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return await start(cwd, args, env).ended;
}
