import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const SCHEMA = readFileSync(join(ROOT, "strategies/strategy.schema.json"), "utf8");
/** What a shell's pipe has room for. */
const ROOM = 65_536;

/** `swapd schema strategy` into a pipe of the shell, with the exit code of swapd at the end of what is read. */
async function piped(reader: string): Promise<string> {
  const swapd = [process.execPath, join(ROOT, "bin/swapd.js"), "schema", "strategy"];
  const script = `{ "$@" ; echo "exit $?" >&2 ; } | { ${reader} ; }`;
  const { stdout, stderr } = await promisify(execFile)("sh", ["-c", script, "sh", ...swapd]);
  return stdout + stderr;
}

test("a reader that is slow gets all of it, in order", async () => {
  expect(SCHEMA.length).toBeGreaterThan(ROOM);
  expect(await piped("sleep 3 ; cat")).toBe(`${SCHEMA}exit 0\n`);
});

test("one that reads a part and leaves, like head, keeps the command from nothing", async () => {
  expect(await piped("head -c 10 ; sleep 1")).toBe(`${SCHEMA.slice(0, 10)}exit 0\n`);
});
