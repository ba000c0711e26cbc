import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

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
