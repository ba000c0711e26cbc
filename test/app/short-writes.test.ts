import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Four of the blocks of 512 bytes that a file has room for in these tests. */
const BLOCKS = 4;
const TOO_LONG = 3_000;

/** A program on Node, in a shell in which no file grows beyond {@link BLOCKS}: a write takes the part that fits. */
async function bounded(folder: string, args: readonly string[]): Promise<string> {
  const run = ["-c", `ulimit -f ${BLOCKS}; "$@"; echo "exit $?"`, "sh", process.execPath, ...args];
  const { stdout } = await promisify(execFile)("sh", run, { cwd: folder });
  return stdout.trim().split("\n").at(-1) ?? "";
}

/** A call of `src/app/new-file.ts`, with the names of the test's folder. */
const calling = (call: string): readonly string[] => {
  const module = JSON.stringify(join(ROOT, "src/app/new-file.ts"));
  const text = `"x".repeat(${TOO_LONG})`;
  return ["--input-type=module", "-e", `import * as files from ${module}; const text = ${text}; ${call}`];
};

test("a key file that fits in part is no new key: it fails, and nothing of it is left", async () => {
  const folder = temporaryDirectory();
  expect(await bounded(folder, calling('files.writeNewFile("key.json", text, 0o600)'))).not.toBe("exit 0");
  expect(readdirSync(folder)).toEqual([]);
});

test("a file of settings whose new text fits in part keeps the old one, and says why", async () => {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, "swapd.yaml"), "mode: dry-run\n");
  const call = 'process.exit(files.replaceFile("swapd.yaml", { before: "mode: dry-run\\n", after: text }) ? 3 : 0)';
  expect(await bounded(folder, calling(call))).toBe("exit 3");
  expect(readFileSync(join(folder, "swapd.yaml"), "utf8")).toBe("mode: dry-run\n");
  expect(readdirSync(folder)).toEqual(["swapd.yaml"]);
});

test("a marker that fits in part leaves the one that was there", async () => {
  const folder = temporaryDirectory();
  const wallet = `0x${"11".repeat(20)}`;
  const module = JSON.stringify(join(ROOT, "src/adapters/identity/marker-files.ts"));
  const write = (id: string): readonly string[] => {
    const marker = `{ state: { id: ${id}, signatures: 1, signings: 0 } }`;
    const call = `createMarkerFiles("identity", 1).write("${wallet}", ${marker})`;
    return ["--input-type=module", "-e", `import { createMarkerFiles } from ${module}; ${call}`];
  };
  expect(await bounded(folder, write('"first"'))).toBe("exit 0");
  expect(await bounded(folder, write(`"x".repeat(${TOO_LONG})`))).not.toBe("exit 0");
  expect(readdirSync(join(folder, "identity"))).toEqual([`1-${wallet}.json`]);
  expect(readFileSync(join(folder, "identity", `1-${wallet}.json`), "utf8")).toContain('"first"');
});

test("a new configuration that fits in part is not said to be written", async () => {
  const folder = temporaryDirectory();
  const init = [join(ROOT, "bin/swapd.js"), "init", "--dir", "new", "--offline", "--yes"];
  expect(await bounded(folder, init)).not.toBe("exit 0");
  expect(existsSync(join(folder, "new", "swapd.schema.json"))).toBe(false);
});
