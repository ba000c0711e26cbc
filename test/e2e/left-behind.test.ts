import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const MAIN = fileURLToPath(new URL("left-behind/main.ts", import.meta.url));

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // There is no such process any more, which is what the test waits for.
    return false;
  }
}

it.each([
  ["fails, in its hook as well", "failure"],
  ["loses its worker to a kill", "kill"],
])("a test file that %s leaves no swapd process behind", async (_what, by) => {
  const directory = temporaryDirectory();
  const pidFile = join(directory, "pid");
  const child = spawn(process.execPath, [MAIN], {
    env: { ...process.env, TMPDIR: directory, LEFT_BEHIND_PID_FILE: pidFile, LEFT_BEHIND_BY: by },
    stdio: "ignore",
  });
  const [code] = await once(child, "exit");
  expect(code).not.toBe(0);
  const pid = Number(readFileSync(pidFile, "utf8"));
  expect(pid).toBeGreaterThan(0);
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 60_000, interval: 100 });
});
