import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const BREAKS = fileURLToPath(new URL("end-on-uncaught-process.ts", import.meta.url));
/** The same code is loaded by each process: it is compiled once. */
const ENVIRONMENT = {
  ...process.env,
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../../node_modules/.cache/swapd", import.meta.url)),
};
const BESIDE = fileURLToPath(new URL("background-mistake-process.ts", import.meta.url));

test.each([
  ["timer", "SQLITE_FULL", 75, "broke at node.example"],
  ["promise", "SQLITE_BUSY", 75, "broke at node.example"],
  ["timer", "", 70, "TypeError: broke at node.example"],
  ["promise", "", 70, "TypeError: broke at node.example"],
])("what a %s breaks of, with the code %j, ends the process with %d and without secrets", (how, code, exit, said) => {
  const args = [BREAKS, how, ...(code === "" ? [] : [code])];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", env: ENVIRONMENT });
  expect([status, stderr]).toEqual([exit, `the daemon stops, the next start recovers: ${said}\n`]);
});

describe.each([
  ["who hands out the calls of a key", "pace"],
  ["who learns from the answers of a service", "notice"],
  ["who sends alerts", "alerts"],
])("%s", (_, where) => {
  const run = (code: string[]) => {
    const args = [BESIDE, where, join(temporaryDirectory(), "limiter.db"), ...code];
    return spawnSync(process.execPath, args, { encoding: "utf8", env: ENVIRONMENT, timeout: 20_000 });
  };

  test("ends the process with 70 by a mistake of ours, also by one that SQLite names", () => {
    for (const code of [[], ["SQLITE_CONSTRAINT_TRIGGER"], ["ERR_INVALID_ARG_TYPE"]]) {
      const { status, stderr } = run(code);
      expect([status, stderr], code[0]).toEqual([70, expect.stringContaining("TypeError: it is not a function")]);
    }
  });

  test("waits where a disk or another process is in the way", () => {
    const { status, stderr } = run(["SQLITE_FULL"]);
    expect([status, stderr]).toEqual([0, ""]);
  });
});

test("what a timer of a service alone breaks of ends it with 75 where it may pass, and without secrets", () => {
  const folder = mkdtempSync(join(tmpdir(), "swapd-uncaught-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const serves = fileURLToPath(new URL("serve-uncaught-process.ts", import.meta.url));
  const args = [serves, join(folder, "service.db"), "SQLITE_FULL"];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", env: ENVIRONMENT });
  expect([status, stderr]).toEqual([75, expect.stringMatching(/^the service stops, .*: broke at /m)]);
  expect(stderr).not.toContain("the-secret-part-of-it");
});
