import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, expect, test } from "vitest";
import { runHere } from "../../e2e/support/run-here.ts";
import { run } from "../../e2e/support/swapd.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const FLAGS = ["--yes", "--offline", "--sell", "25 DAI", "--buy", "WETH"];
const UNPRIVILEGED = join(import.meta.dirname, "../../e2e/support/unprivileged-process.ts");
const ZONE = join(import.meta.dirname, "../../../src/app/machine-zone.ts");

let folder: string;
beforeEach(() => {
  folder = temporaryDirectory();
});

test("a new wallet is made in a folder that was not there before", async () => {
  const made = await runHere(folder, ["init", "--dir", "new/deeper", "--wallet", "new", ...FLAGS]);
  expect(made, made.err).toMatchObject({ code: 0 });
  for (const file of ["swapd.yaml", "wallet.json", "wallet.pass"]) {
    expect(existsSync(join(folder, "new/deeper", file)), file).toBe(true);
  }
});

test.each([
  ["a file", "file", "file is no folder"],
  ["below a file", "file/deeper", "file is no folder"],
  ["a link that leads nowhere", "link", "link is a link that leads nowhere"],
])("a folder that is %s is refused by its path, before anything is asked", async (_what, name, words) => {
  writeFileSync(join(folder, "file"), "text");
  symlinkSync(join(folder, "none"), join(folder, "link"));
  for (const flags of [FLAGS, ["--offline"]]) {
    const refused = await runHere(folder, ["init", "--dir", join(folder, name), ...flags]);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(join(folder, words)) });
  }
  expect(readdirSync(folder)).toEqual(["file", "link"]);
});

test("a folder that may not be written is refused by its path, before anything is asked and before a wallet is made", async () => {
  const closed = join(folder, "closed");
  mkdirSync(closed);
  chmodSync(folder, 0o755);
  chmodSync(closed, 0o555);
  for (const flags of [[...FLAGS, "--wallet", "new"], ["--offline"]]) {
    for (const dir of [closed, join(closed, "deeper")]) {
      const refused = await unprivileged(["init", "--dir", dir, ...flags]);
      expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(`${closed} cannot be written (EACCES)`) });
    }
  }
  expect(readdirSync(closed)).toEqual([]);
});

test("a folder for scratch files that is not there is named, with what to do", async () => {
  const env = { TMPDIR: join(folder, "none") };
  const refused = await runHere(folder, ["init", ...FLAGS], env);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(`${env.TMPDIR} (ENOENT): make that folder`) });
});

test.each([":/etc/localtime", "UTC+5", "Nowhere/None", ""])(
  "a machine whose TZ is %j is taken for one of UTC",
  async (TZ) => {
    const script = "const { machineZone } = await import(process.argv[1]); console.log(machineZone());";
    const args = ["--input-type=module", "-e", script, ZONE];
    const said = await promisify(execFile)(process.execPath, args, { env: { ...process.env, TZ } });
    expect(said.stdout).toBe("UTC\n");
  },
);

test("a machine whose zone has no name begins with times of UTC, unless another one is asked for", async () => {
  const made = await run(folder, ["init", ...FLAGS, "--at", "Mon 09:00"], { TZ: ":/etc/localtime" });
  expect(made, made.err).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, "strategies/buy-weth.yaml"), "utf8")).toContain("timezone: UTC");
});

/** A command by somebody who is not root, whom permissions stop. */
async function unprivileged(args: readonly string[]): Promise<{ code: unknown; err: string }> {
  const command = promisify(execFile)(process.execPath, [UNPRIVILEGED, ...args], {
    env: { ...process.env, SWAPD_CONFIG: "" },
  });
  return await command.then(
    ({ stderr }) => ({ code: 0, err: stderr }),
    ({ code, stderr }: { code: unknown; stderr: string }) => ({ code, err: stderr }),
  );
}
