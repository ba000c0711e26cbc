import { execFile } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { whyNoRights } from "../../src/app/no-rights.ts";
import { openServiceDatabase } from "../../src/service/store/service-store.ts";
import { WALLET } from "../config/project.ts";
import { makeFolder } from "../e2e/support/swapd.ts";
import { openDaemonDatabase } from "../support/daemon-database.ts";
import { readDryExample } from "../support/example-file.ts";

/** A user whose daemon it is; no account of this machine has the number. */
const DAEMON = 12_345;
const AS_NOBODY = fileURLToPath(new URL("no-rights-process.ts", import.meta.url));
const isRoot = process.getuid?.() === 0;

let config: string;
let state: string;
beforeEach(() => {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  chmodSync(folder.path, 0o755);
  config = join(folder.path, "config/mine.yaml");
  state = join(folder.path, "state");
  mkdirSync(state);
  const own = readDryExample(folder.path).replace("main: {", `main: { address: "${WALLET}",`);
  writeFileSync(
    config,
    own.replace("/data/swapd.db", join(state, "swapd.db")).replace("/data/service.db", join(state, "service.db")),
  );
  openDaemonDatabase(join(state, "swapd.db")).db.close();
  openServiceDatabase(join(state, "service.db")).close();
});

async function asNobody(...commands: string[]): Promise<readonly { code: number; text: string }[]> {
  const words = commands.map((command) => [
    ...command.split(" "),
    ...(command.startsWith("init") ? [] : ["--config", config]),
  ]);
  const env = { ...process.env, RPC_1: "http://127.0.0.1:1", RPC_2: "http://127.0.0.1:1" };
  const { stdout } = await promisify(execFile)(process.execPath, [AS_NOBODY, JSON.stringify(words)], { env });
  return JSON.parse(stdout) as { code: number; text: string }[];
}

const COMMANDS = [
  ...["halt", "status", "history", "db check", "audit", "backup", "login list", "resume --relayer"],
  ...["tx list", "why weekly-eth", "doctor"],
];

test.runIf(isRoot).each([
  ["that it may not look into", 0o700],
  ["whose files it may not read", 0o711],
])("of a database in a folder %s, each command of another user says whose it is", async (_what, rights) => {
  for (const name of readdirSync(state)) chownSync(join(state, name), DAEMON, DAEMON);
  chownSync(state, DAEMON, DAEMON);
  chmodSync(state, rights);
  const answers = await asNobody(...COMMANDS);
  for (const [index, { code, text }] of answers.entries()) {
    const command = COMMANDS[index] ?? "";
    expect([command, code, text]).toEqual([command, 78, expect.stringContaining(`may not use ${state}`)]);
    expect(text).toContain(`which is of #${DAEMON}: run it as that user, by \`sudo -u '#${DAEMON}' ...\``);
  }
});

test.runIf(isRoot)("a halt of a user who may read the database, and not write it, says whose it is", async () => {
  for (const name of readdirSync(state)) {
    chownSync(join(state, name), DAEMON, DAEMON);
    chmodSync(join(state, name), 0o644);
  }
  chownSync(state, DAEMON, DAEMON);
  chmodSync(state, 0o755);
  const [halt] = await asNobody("halt");
  expect([halt?.code, halt?.text]).toEqual([78, expect.stringContaining(`may not use ${state}`)]);
  expect(halt?.text).toContain(`by \`sudo -u '#${DAEMON}' ...\``);
});

test.runIf(isRoot)(
  "a configuration of another user is said to be that, and to make one is not what helps",
  async () => {
    chownSync(config, DAEMON, DAEMON);
    chmodSync(config, 0o600);
    const folder = join(config, "..");
    const commands = ["status", "check", "live"];
    for (const { code, text } of await asNobody(...commands)) {
      expect([code, text]).toEqual([78, expect.stringContaining(`may not use ${config}, which is of #${DAEMON}`)]);
      expect(text).not.toContain("init");
    }
    chownSync(folder, DAEMON, DAEMON);
    chmodSync(folder, 0o700);
    for (const { code, text } of await asNobody(...commands, `init --dir ${folder} --yes --network base`))
      expect([code, text]).toEqual([78, expect.stringContaining(`may not use ${folder}, which is of #${DAEMON}`)]);
  },
);

test.runIf(isRoot)("a check of a user who may not write the database says whose its folder is", async () => {
  chownSync(state, DAEMON, DAEMON);
  chmodSync(state, 0o755);
  const [check] = await asNobody("check --offline");
  expect(check?.code).toBe(1);
  for (const what of ["database", "serve.database"])
    expect(check?.text).toMatch(new RegExp(`PROBLEM +${what} .*may not use ${state}, which is of #${DAEMON}`));
});

test("what a user may use, or what is not there, is no matter of rights", () => {
  expect(whyNoRights(config, "write")).toBeUndefined();
  expect(whyNoRights(join(state, "none/swapd.db"), "write")).toBeUndefined();
  expect(statSync(state).isDirectory()).toBe(true);
});
