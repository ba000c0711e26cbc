import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../e2e/support/swapd.ts";
import { OTHER_ACCOUNT } from "../support/bare-anvil.ts";
import { readDryExample } from "../support/example-file.ts";

const LAUNCHER = join(import.meta.dirname, "../../bin/swapd.js");
/** Mounts of its own for one process; needs root, or a kernel that lets a user have them. */
const mayMount = spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;

if (!mayMount) console.error("not run: a file system of its own needs the right to mount (root)");

test.skipIf(!mayMount).each([
  ["60m", "error", /^6\d\.\d MB free/],
  ["500m", "warning", /^5\d\d MB free/],
])("the doctor tells of a file system of %s beside the database: %s", (size, state, said) => {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  const data = join(folder.path, "data");
  mkdirSync(data);
  const file = join(folder.path, "config/mine.yaml");
  const own = readDryExample(folder.path).replace("main: {", `main: { address: "${OTHER_ACCOUNT}",`);
  writeFileSync(file, own.replace("/data/swapd.db", join(data, "swapd.db")));
  const script = 'mount -t tmpfs -o size="$1" none "$2" && shift 2 && exec "$@"';
  const words = [process.execPath, LAUNCHER, "doctor", "--json", "--config", file];
  const env = { ...process.env, RPC_1: "http://127.0.0.1:1", SWAPD_CONFIG: "", SWAPD_LAUNCHED: "1" };
  const asked = ["--mount", "sh", "-c", script, "sh", size, data, ...words];
  const { stdout, stderr } = spawnSync("unshare", asked, { env, encoding: "utf8", timeout: 60_000 });
  const { findings } = JSON.parse(stdout || stderr) as { findings: { part: string }[] };
  const disk = findings.filter(({ part }) => part === "disk");
  expect(disk).toMatchObject([{ what: data, state, found: expect.stringMatching(said), mend: `df -h ${data}` }]);
});
