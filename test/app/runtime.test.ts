import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createRuntime } from "../../src/app/runtime.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

test("a log file that cannot be opened fails the start, with its name, and not what runs later", () => {
  const logFile = join(temporaryDirectory(), "missing", "daemon.log");
  expect(() => createRuntime({ level: "warn", env: {}, logFile })).toThrow(logFile);
});

test("what a command logs stands beside its answer, which another program reads, and not in it", () => {
  const logs = join(import.meta.dirname, "command-log-process.ts");
  const { stdout, stderr } = spawnSync(process.execPath, [logs], { encoding: "utf8" });
  expect(JSON.parse(stdout)).toEqual({ ok: true });
  expect(JSON.parse(stderr)).toMatchObject({ level: "error", msg: "a node broke" });
  expect(stderr).not.toContain("the-secret");
});
