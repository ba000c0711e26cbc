import { type ChildProcess, execFile, fork } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const PROCESS = join(import.meta.dirname, "stalled-log-process.ts");
const WITHIN_MS = 10_000;
/** More than a pipe and the 1 MB of lines that wait. */
const TOO_MANY = 8_000;

interface Logging {
  readonly child: ChildProcess;
  /** resolves once it has logged everything */
  readonly wentOn: Promise<unknown>;
}

/** A process whose log nobody reads as long as nothing listens to its output. */
function logging(lines: number, ...ending: readonly string[]): Logging {
  const child = fork(PROCESS, [String(lines), ...ending], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, wentOn: once(child, "message", { signal: AbortSignal.timeout(WITHIN_MS) }) };
}

/** All lines from now on, as they come. */
function read({ child }: Logging): { line?: number; msg: string; dropped?: number }[] {
  const found: { line?: number; msg: string; dropped?: number }[] = [];
  let rest = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split("\n");
    rest = parts.pop() ?? "";
    found.push(...parts.map((part) => JSON.parse(part)));
  });
  return found;
}

test("a reader of the log that stalls holds nothing up; once it reads again it gets whole lines, and how many it lost", async () => {
  const process = logging(TOO_MANY);
  await process.wentOn;
  const lines = read(process);
  await expect.poll(() => lines.at(-1)?.msg, { timeout: WITHIN_MS }).toMatch(/lost/);
  const kept = lines.filter(({ msg }) => msg === "filling").map(({ line }) => line);
  expect(kept).toEqual(kept.map((_, index) => index));
  expect(kept.length).toBeGreaterThan(1_000);
  expect(lines.at(-1)).toMatchObject({ level: "warn", dropped: TOO_MANY - kept.length });
});

test("a reader that is slow loses no line of a process that ends meanwhile", async () => {
  const lines = 2_000;
  const process = logging(lines, "exit");
  await process.wentOn;
  await new Promise((resolve) => setTimeout(resolve, 300));
  const found = read(process);
  await once(process.child, "close", { signal: AbortSignal.timeout(WITHIN_MS) });
  expect(found.map(({ line }) => line)).toEqual(Array.from({ length: lines }, (_, index) => index));
});

test("a reader that never reads again keeps a process from ending for two seconds and no longer", async () => {
  const process = logging(TOO_MANY, "exit");
  await process.wentOn;
  await once(process.child, "exit", { signal: AbortSignal.timeout(WITHIN_MS) });
});

test("a reader that is gone is not waited for at the end, however much was lost", async () => {
  const { child, wentOn } = logging(TOO_MANY);
  child.stdout?.destroy();
  await wentOn;
  child.send("end");
  const [code] = await once(child, "exit", { signal: AbortSignal.timeout(WITHIN_MS) });
  expect(code).toBe(0);
});

test("a full disk under the log, and not under the database, ends nothing", async () => {
  const full = openSync("/dev/full", "w");
  const child = fork(PROCESS, ["20"], { stdio: ["ignore", full, "inherit", "ipc"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "message", { signal: AbortSignal.timeout(WITHIN_MS) });
  child.send("end");
  const [code] = await once(child, "exit", { signal: AbortSignal.timeout(WITHIN_MS) });
  // Its last lines were waited for.
  expect(code).toBe(3);
});

test("a log that is as large as a file may be ends nothing", async () => {
  const file = join(temporaryDirectory(), "log");
  // Twenty lines of two hundred letters, and a file that takes a fifth of them.
  const script = `ulimit -f 2; exec "$@" >> "${file}"`;
  const args = ["-c", script, "sh", process.execPath, PROCESS, "20", "exit"];
  const { code } = await promisify(execFile)("sh", args).then(
    () => ({ code: 0 }),
    (error: { code: number }) => error,
  );
  expect(code).toBe(0);
});
