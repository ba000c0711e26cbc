import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { writeSandboxFacts } from "../../src/app/sandbox-facts.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { runHere } from "../e2e/support/run-here.ts";
import { makeFolder, run } from "../e2e/support/swapd.ts";
import { openDaemonDatabase } from "../support/daemon-database.ts";
import { readDryExample } from "../support/example-file.ts";

const ENVIRONMENT = { RPC_1: "http://127.0.0.1:1", RPC_2: "http://127.0.0.1:2" };
const ADDRESS = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

let folder: ReturnType<typeof makeFolder>;
let sandbox: string;
beforeEach(() => {
  folder = makeFolder();
  sandbox = join(folder.path, ".swapd/sandbox");
  mkdirSync(sandbox, { recursive: true });
  const address = toAddress(ADDRESS);
  writeSandboxFacts(sandbox, {
    ...{ rpcUrl: "http://127.0.0.1:1", chainId: 31_337, wrappedNative: address, settlement: address },
    ...{ serviceUrl: null, mode: "live", database: join(sandbox, "swapd.db"), environment: {} },
    configuration: join(folder.path, "config/sandbox.yaml"),
  });
});
afterEach(() => folder.remove());

it("a halt without a configuration never halts the sandbox instead, and says that nothing was changed", async () => {
  expect(await run(folder.path, ["halt", "--reason", "stop my real money"])).toMatchObject({
    code: 2,
    out: "",
    err: expect.stringContaining("nothing was changed: name the configuration"),
  });
});

it.each([
  ["pause"],
  ["resume"],
  ["exits-only"],
  ["run", "eth-from-usdc"],
  ["skip", "eth-from-usdc"],
  ["approve", "run_1"],
  ["allowances", "revoke", "USDC"],
  ["tx", "cancel", "1"],
  ["db", "accept"],
  ["settlement", "deploy", "--yes"],
])("%s without a configuration changes nothing, and names what to give", async (...command) => {
  expect(await runHere(folder.path, command)).toMatchObject({
    code: 2,
    out: "",
    err: expect.stringContaining("nothing was changed"),
  });
});

it.each([
  ["live", "--yes"],
  ["resume", "--relayer"],
  ["keys", "add", "me"],
  ["keys", "revoke", "me"],
  ["restore", "copy.db"],
])("%s without a configuration asks for one, and never takes the sandbox's", async (...command) => {
  const ended = await runHere(folder.path, command);
  expect(ended.code).toBeGreaterThan(0);
  expect(ended.err).toContain(join(folder.path, "swapd.yaml"));
  expect(ended.out).toBe("");
});

it("--sandbox means the sandbox, and the answer names it; with --config alongside it nothing is changed", async () => {
  expect(await runHere(folder.path, ["halt", "--sandbox"])).toMatchObject({
    code: 0,
    out: expect.stringContaining(`on the sandbox in ${sandbox} (database ${join(sandbox, "swapd.db")})`),
  });
  expect((await runHere(folder.path, ["resume", "--sandbox", "--config", "config/sandbox.yaml"])).code).toBe(2);
});

it("the answer names the configuration, its mode and its database, also where something is refused", async () => {
  const database = join(folder.path, "swapd.db");
  const file = join(folder.path, "config/mine.yaml");
  const example = readDryExample(folder.path);
  writeFileSync(file, example.replace("main: {", `main: { address: "${ADDRESS}",`).replace("/data/swapd.db", database));
  const place = `on ${file} (network base, mode dry-run, database ${database})`;
  expect(await runHere(folder.path, ["halt", "--config", file], ENVIRONMENT)).toMatchObject({
    code: 0,
    out: expect.stringContaining(place),
  });
  expect(await runHere(folder.path, ["run", "nothing", "--config", file], ENVIRONMENT)).toMatchObject({
    code: 1,
    err: expect.stringContaining(place),
  });
});

it("what is advised names the configuration that was named, and a command that shows what it says", async () => {
  const database = join(folder.path, "swapd.db");
  const file = join(folder.path, "config/mine.yaml");
  const example = readDryExample(folder.path);
  writeFileSync(file, example.replace("main: {", `main: { address: "${ADDRESS}",`).replace("/data/swapd.db", database));
  const named = async (...command: string[]) =>
    (await runHere(folder.path, [...command, "--config", file], ENVIRONMENT)).err;
  expect(await named("run", "eth-from-usdc")).toContain(`start it with \`swapd start --config ${file}\`, then`);
  expect(await named("login")).toContain(`start the daemon once with \`swapd start --config ${file}\`, then`);
  expect(await named("replay", "xyz")).toContain("has not run yet");
  openDaemonDatabase(database);
  for (const command of ["replay", "show"])
    expect(await named(command, "xyz")).toContain(`\`swapd history --json --config ${file}\` lists them`);
  // Which one is meant without a name needs none.
  const meant = await runHere(folder.path, ["run", "eth-from-usdc"], { ...ENVIRONMENT, SWAPD_CONFIG: file });
  expect(meant.err).toContain("start it with `swapd start`, then");
  const sandboxed = await runHere(folder.path, ["run", "eth-from-usdc", "--sandbox"]);
  expect(sandboxed.err).toContain("start it with `swapd sandbox`, then");
});
