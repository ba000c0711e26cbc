import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";

const PROCESS = fileURLToPath(new URL("scratch-folder-process.ts", import.meta.url));

async function startProcess(...how: string[]) {
  const child = spawn(process.execPath, [PROCESS, ...how], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => String((await lines.next()).value);
  return { child, nextLine, path: await nextLine() };
}

describe("a scratch folder", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("is gone when its command is ended by %s, with the code that a shell gives", async (signal, code) => {
    const { child, path } = await startProcess();
    expect(existsSync(path)).toBe(true);
    const ended = once(child, "exit");
    child.kill(signal);
    expect(await ended).toEqual([code, null]);
    expect(existsSync(path)).toBe(false);
  });

  it("leaves the end to a process that listens for the signal itself", async () => {
    const { child, nextLine, path } = await startProcess("listens");
    const ended = once(child, "exit");
    child.kill("SIGINT");
    expect(await nextLine()).toBe("cleaned up");
    expect(await ended).toEqual([0, null]);
    expect(existsSync(path)).toBe(false);
  });

  it("keeps no signal from ending the process once it is removed", async () => {
    const { child, path } = await startProcess("removes");
    expect(existsSync(path)).toBe(false);
    const ended = once(child, "exit");
    child.kill("SIGINT");
    expect(await ended).toEqual([null, "SIGINT"]);
  });
});
