import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeFolder, start } from "../e2e/support/swapd.ts";

const SLOW = fileURLToPath(new URL("stop-signals-process.ts", import.meta.url));
/** Longer than what counts as one signal. */
const LATER_MS = 1_200;

async function startSlowProcess(...forMs: string[]) {
  const child = spawn(process.execPath, [SLOW, ...forMs], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => String((await lines.next()).value);
  expect(await nextLine()).toBe("ready");
  return { child, nextLine };
}

describe("a request to stop", () => {
  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "by %s is not hurried by its echo, but by a second one",
    async (signal) => {
      const { child, nextLine } = await startSlowProcess();
      child.kill(signal);
      expect(await nextLine()).toBe(`asked by ${signal}`);
      child.kill(signal);
      await sleep(LATER_MS);
      expect(child.exitCode).toBeNull();
      const ended = once(child, "exit");
      child.kill(signal);
      expect(await ended).toEqual([130, null]);
    },
  );

  it("says that nobody asked but the time that was given", async () => {
    const { nextLine } = await startSlowProcess("1");
    expect(await nextLine()).toBe("asked by the time that --for gave is over");
  });
});

it("waits for a month where a month was given, longer than one timer can", async () => {
  const { child, nextLine } = await startSlowProcess(String(30 * 86_400_000));
  await sleep(100);
  child.kill("SIGTERM");
  expect(await nextLine()).toBe("asked by SIGTERM");
});

describe("a sandbox", () => {
  it("stops cleanly when its terminal is closed", async () => {
    const folder = makeFolder();
    onTestFinished(folder.remove);
    const sandbox = start(folder.path, ["sandbox", "--chain-only", "--json", "--port", "0"]);
    const { rpcUrl } = JSON.parse(await sandbox.firstLine) as { rpcUrl: string };
    sandbox.process.kill("SIGHUP");
    expect(await sandbox.ended).toMatchObject({ code: 0, err: "" });
    await expect(fetch(rpcUrl)).rejects.toThrow();
  });

  it("stops cleanly when nobody reads its output any more", async () => {
    const folder = makeFolder();
    onTestFinished(folder.remove);
    const sandbox = start(folder.path, ["sandbox", "--port", "0"]);
    const rpcUrl = /http:\S+/.exec(await sandbox.firstLine)?.[0] ?? "";
    sandbox.process.stdout?.destroy();
    expect(await sandbox.ended).toMatchObject({ code: 0, err: "" });
    await expect(fetch(rpcUrl)).rejects.toThrow();
  });
});
