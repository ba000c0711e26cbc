import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const BREAKS = fileURLToPath(new URL("end-on-uncaught-process.ts", import.meta.url));

test.each([
  ["timer", "SQLITE_FULL", 75, "broke at node.example"],
  ["promise", "SQLITE_BUSY", 75, "broke at node.example"],
  ["timer", "", 70, "TypeError: broke at node.example"],
  ["promise", "", 70, "TypeError: broke at node.example"],
])("what a %s breaks of, with the code %j, ends the process with %d and without secrets", (how, code, exit, said) => {
  const args = [BREAKS, how, ...(code === "" ? [] : [code])];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect([status, stderr]).toEqual([exit, `the daemon stops, the next start recovers: ${said}\n`]);
});

test("what a timer of a service alone breaks of ends it with 75 where it may pass, and without secrets", () => {
  const folder = mkdtempSync(join(tmpdir(), "swapd-uncaught-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const serves = fileURLToPath(new URL("serve-uncaught-process.ts", import.meta.url));
  const args = [serves, join(folder, "service.db"), "SQLITE_FULL"];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect([status, stderr]).toEqual([75, expect.stringMatching(/^the service stops, .*: broke at /m)]);
  expect(stderr).not.toContain("the-secret-part-of-it");
});
