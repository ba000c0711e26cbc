import { join } from "node:path";
import { expect, test } from "vitest";
import { createRuntime } from "../../src/app/runtime.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

test("a log file that cannot be opened fails the start, with its name, and not what runs later", () => {
  const logFile = join(temporaryDirectory(), "missing", "daemon.log");
  expect(() => createRuntime({ level: "warn", env: {}, logFile })).toThrow(logFile);
});
