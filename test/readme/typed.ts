import { spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** What a command did. */
export interface Ended {
  readonly code: number | null;
  /** standard output and error, as a terminal shows them */
  readonly text: string;
  /** each line with the milliseconds from the command's start to its arrival */
  readonly lines: readonly { readonly text: string; readonly atMs: number }[];
  readonly seconds: number;
}

export interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

const GRACE_MS = 5_000;

/** Types a command into a shell of its own and waits for its end; one that takes too long is ended with all it started. */
export async function type(command: string, place: Place, limitSeconds: number): Promise<Ended> {
  const startedMs = performance.now();
  const child = spawn("sh", ["-c", command], {
    cwd: place.cwd,
    env: place.env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const lines: { text: string; atMs: number }[] = [];
  let text = "";
  let rest = "";
  const hear = (chunk: string): void => {
    text += chunk;
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) lines.push({ text: part, atMs: performance.now() - startedMs });
  };
  child.stdout.setEncoding("utf8").on("data", hear);
  child.stderr.setEncoding("utf8").on("data", hear);
  const limit = setTimeout(() => {
    hear(`\n(ended here after ${limitSeconds} s)\n`);
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }, limitSeconds * 1_000);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  clearTimeout(limit);
  return { code, text, lines, seconds: (performance.now() - startedMs) / 1_000 };
}

/** Processes whose home is the given one: everything that was typed there, and everything that this has started. */
export function processesOf(home: string): readonly { readonly pid: number; readonly name: string }[] {
  const mark = `HOME=${home}\0`;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        if (!`${readFileSync(`/proc/${name}/environ`, "utf8")}\0`.includes(mark)) return [];
        return [{ pid: Number(name), name: readlinkSync(`/proc/${name}/exe`) }];
      } catch (error) {
        // It has ended meanwhile, or is another user's.
        if (error instanceof Error && "code" in error && ["ENOENT", "ESRCH", "EACCES"].includes(String(error.code)))
          return [];
        throw error;
      }
    });
}

/** What still runs a moment after everything should have ended. */
export async function leftovers(home: string, expected: ReadonlySet<number>): Promise<readonly string[]> {
  const untilMs = performance.now() + GRACE_MS;
  for (;;) {
    const left = processesOf(home).filter(({ pid }) => !expected.has(pid));
    if (left.length === 0 || performance.now() > untilMs) return left.map(({ pid, name }) => `${name} (${pid})`);
    await sleep(200);
  }
}

/** Ends everything that runs with the given home. */
export function endAll(home: string): void {
  for (const { pid } of processesOf(home)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }
}
