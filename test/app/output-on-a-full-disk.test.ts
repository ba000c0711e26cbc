import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const ROOT = join(import.meta.dirname, "../..");
const SCHEMA = readFileSync(join(ROOT, "strategies/strategy.schema.json"), "utf8");
const FULL = "cut off";

/** `swapd schema strategy` into a file, by a script of the shell that may bound what fits into it. */
async function written(file: string, bound = ""): Promise<{ readonly code: string; readonly said: string }> {
  const swapd = [process.execPath, join(ROOT, "bin/swapd.js"), "schema", "strategy"];
  const script = `${bound} "$@" > "${file}" ; echo "exit $?"`;
  const { stdout, stderr } = await promisify(execFile)("sh", ["-c", script, "sh", ...swapd]);
  return { code: stdout.trim(), said: stderr };
}

test("what a disk has room for is written whole", async () => {
  const file = join(temporaryDirectory(), "schema.json");
  expect(await written(file)).toEqual({ code: "exit 0", said: "" });
  expect(readFileSync(file, "utf8")).toBe(SCHEMA);
});

test("what a disk has no room for at all ends with 1 and its reason, not with 0", async () => {
  const { code, said } = await written("/dev/full");
  expect(code).toBe("exit 1");
  expect(said).toContain(FULL);
  expect(said).toContain("ENOSPC");
});

test("what fits into a file in part is no success either", async () => {
  const file = join(temporaryDirectory(), "schema.json");
  // In blocks of 512 bytes: half of it.
  const blocks = Math.floor(SCHEMA.length / 2 / 512);
  const { code, said } = await written(file, `ulimit -f ${blocks};`);
  expect(readFileSync(file, "utf8").length).toBeLessThan(SCHEMA.length);
  expect(code).toBe("exit 1");
  expect(said).toContain(FULL);
});
