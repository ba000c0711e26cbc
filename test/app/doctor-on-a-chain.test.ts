import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Interface } from "ethers";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { openAlerts } from "../../src/app/alerts.ts";
import { readDatabaseHealth } from "../../src/app/database-health.ts";
import type { Diagnosis } from "../../src/app/doctor/diagnosis.ts";
import { examine } from "../../src/app/doctor/examine.ts";
import { judgeDisk } from "../../src/app/doctor/look-at-disk.ts";
import { thisMachine } from "../../src/app/machine.ts";
import { readAllowances } from "../../src/app/read-allowances.ts";
import { createRuntime } from "../../src/app/runtime.ts";
import { configurationOf, findTarget } from "../../src/app/target.ts";
import type { Configuration } from "../../src/config/configuration.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { raiseChange, writeAndNotify } from "../../src/engine/alerts.ts";
import { deployData, loadContract } from "../../src/sandbox/artifacts.ts";
import { isThereCommand } from "../docs/support/commands.ts";
import { makeFolder } from "../e2e/support/swapd.ts";
import { startReceiver } from "../support/alert-receiver.ts";
import { type BareAnvil, OTHER_ACCOUNT, startBareAnvil } from "../support/bare-anvil.ts";
import { addStrategy, openDaemonDatabase } from "../support/daemon-database.ts";
import { readDryExample } from "../support/example-file.ts";
import { attemptRow, intentRow } from "../support/lane-database.ts";
import { silentLogger } from "../support/silent-logger.ts";

const BASE = 8453;
const MINUTE_MS = 60_000;
const APPROVE = new Interface(["function approve(address spender, uint256 amount)"]);

let file: string;
let database: string;
let anvil: BareAnvil;
beforeEach(async () => {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  anvil = await startBareAnvil({ chainId: BASE });
  await anvil.mine(3);
  vi.stubEnv("RPC_1", anvil.url);
  onTestFinished(() => void vi.unstubAllEnvs());
  file = join(folder.path, "config/mine.yaml");
  database = join(folder.path, "swapd.db");
  const channel = "alerts: { webhook: { url: { env: HOOK_URL }, secret: { env: HOOK_SECRET } } }\n";
  const own = readDryExample(folder.path).replace("main: {", `main: { address: "${OTHER_ACCOUNT}",`);
  writeFileSync(file, own.replace("/data/swapd.db", database) + channel);
  vi.stubEnv("HOOK_URL", "http://127.0.0.1:1/hook");
  vi.stubEnv("HOOK_SECRET", "a secret of sixteen letters");
});

const configuration = (): Configuration => configurationOf(findTarget({ config: file })).configuration;

/** What is found of one part; each command that mends something is one that there is. */
async function found(part: Diagnosis["part"], laterMs = 0): Promise<readonly Diagnosis[]> {
  const real = thisMachine();
  const machine = { ...real, clock: { ...real.clock, nowMs: () => real.clock.nowMs() + laterMs } };
  const all = (await examine(findTarget({ config: file }), machine)).filter((one) => one.part === part);
  for (const { mend } of all) if (mend !== undefined) expect(await isThereCommand(mend), mend).toBe(true);
  return all;
}

test("a nonce that the chain does not reach is an error, and one that waits for its fees a warning", async () => {
  const { lanes, store } = openDaemonDatabase(database);
  addStrategy(store);
  const nowMs = Date.now();
  const own = { account: OTHER_ACCOUNT, chainId: BASE, state: "broadcast", nonce: 2 } as const;
  lanes.insertIntent(intentRow({ ...own, createdAtMs: nowMs - MINUTE_MS }));
  lanes.insertAttempt(attemptRow({ nonce: 2, state: "broadcast" }));
  const lane = async (laterMs = 0) => (await found("lanes", laterMs)).find(({ what }) => what === "transaction tx_1");
  expect(await lane()).toMatchObject({
    state: "error",
    found: expect.stringMatching(/nonce 2, broadcast, signed 1 times, \S+ old; the chain waits for nonce 0 first$/),
    mend: "swapd tx list",
  });
  // The chain counts two of the account's: its nonce is the next one, and after a while it waits for its fees.
  await anvil.rpc.call("anvil_setNonce", [OTHER_ACCOUNT, "0x2"]);
  await anvil.mine();
  expect(await lane()).toMatchObject({ state: "ok" });
  expect(await lane(19 * MINUTE_MS)).toMatchObject({
    state: "warning",
    found: expect.stringMatching(/ 20m\S* old$/),
    mend: "swapd tx cancel tx_1",
  });
}, 60_000);

test("a public router that is not on the chain is an error, and a further one a warning", async () => {
  const [embedded, router, ...further] = await found("service");
  expect(embedded).toMatchObject({ what: "embedded", state: "ok" });
  expect(router).toMatchObject({ what: "public router", state: "error", mend: "swapd check" });
  expect(router?.found).toMatch(/ has no \S+: is this Uniswap's .*: nothing is quoted: correct/);
  expect(further.map(({ state }) => state)).toEqual(["warning", "warning"]);
});

test("an allowance without a bound, and one that no open swap uses, are warnings with what revokes them", async () => {
  const [runtime] = await Promise.all([tokenCode(anvil)]);
  const { tokens, service } = configuration();
  const spender = service.contracts?.spender ?? "";
  for (const { token } of tokens.values()) await anvil.rpc.call("anvil_setCode", [token.address, runtime]);
  const allow = async (symbol: string, amount: bigint): Promise<void> => {
    const data = APPROVE.encodeFunctionData("approve", [spender, amount]);
    const to = tokens.get(symbol)?.token.address;
    await anvil.rpc.call("eth_sendTransaction", [{ from: OTHER_ACCOUNT, to, data }]);
    await anvil.mine();
  };
  expect(await found("allowances")).toMatchObject([{ state: "ok" }]);
  await allow("USDC", 2n ** 256n - 1n);
  await allow("WETH", 1_500_000_000_000_000_000n);
  const all = await found("allowances");
  expect(all.find(({ what }) => what === "main USDC")).toMatchObject({
    state: "warning",
    found: expect.stringMatching(/may take unlimited USDC, all that ever comes$/),
    mend: "swapd allowances revoke USDC --wallet main",
  });
  expect(all.find(({ what }) => what === "main WETH")).toMatchObject({
    state: "warning",
    found: expect.stringMatching(/may take 1\.5 WETH.*, and no open swap uses it$/),
    mend: "swapd allowances revoke WETH --wallet main",
  });
  // A token that refuses whatever it is asked for, and nothing else.
  const usdc = tokens.get("USDC")?.token.address;
  await anvil.rpc.call("anvil_setCode", [usdc, "0x5f5ffd"]);
  const rest = await found("allowances");
  expect(rest.find(({ what }) => what === "main USDC")).toMatchObject({
    state: "not tried",
    found: expect.stringMatching(/^what 0x\w+ may take is not known: 0x\w+ refuses allowance: the call reverts$/),
    mend: "swapd allowances list",
  });
  expect(rest.find(({ what }) => what === "main WETH")).toMatchObject({ state: "warning" });
  const alone = readAllowances(configurationOf(findTarget({ config: file })), { token: toAddress(`${usdc}`) });
  await expect(alone).rejects.toThrow(/refuses allowance: the call reverts; try again once the token answers$/);
}, 60_000);

/** A real token's code, to be put where the network's book has its tokens. */
async function tokenCode({ rpc, mine }: BareAnvil): Promise<unknown> {
  const data = deployData(loadContract("WrappedNative"));
  const hash = await rpc.call("eth_sendTransaction", [{ from: OTHER_ACCOUNT, data }]);
  await mine();
  const { contractAddress } = (await rpc.call("eth_getTransactionReceipt", [hash])) as { contractAddress: string };
  return await rpc.call("eth_getCode", [contractAddress, "latest"]);
}

test("a channel whose receiver refuses is behind, with what it answered, until it takes what waits", async () => {
  const answers = { status: 503 };
  const receiver = await startReceiver((response) => void response.writeHead(answers.status).end());
  vi.stubEnv("HOOK_URL", receiver.url);
  const { db } = openDaemonDatabase(database);
  const { secrets, redactor } = createRuntime({ level: "silent", env: process.env });
  const opened = { machine: thisMachine(), db, logger: silentLogger(), secrets, redactor };
  const { deps, start, stop } = await openAlerts(configuration(), opened);
  const channels = async () => (await found("channels")).find(({ what }) => what === "webhook (webhook)");
  expect(await channels()).toMatchObject({ state: "ok", found: expect.stringContaining("nothing waits") });
  const alert = { severity: "critical", code: "NODE_UNREACHABLE", subject: "node", text: "no node answers" } as const;
  await writeAndNotify(deps, [raiseChange(deps, alert)]);
  start();
  onTestFinished(stop);
  await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(0), { timeout: 30_000 });
  const LONG = { timeout: 30_000, interval: 100 };
  await vi.waitFor(
    async () =>
      expect(await channels()).toMatchObject({
        state: "warning",
        found: expect.stringMatching(/^1 to send, the oldest of .*; last answer: HTTP 503$/),
        mend: "swapd notify test",
      }),
    LONG,
  );
  answers.status = 200;
  await vi.waitFor(async () => expect(await channels()).toMatchObject({ state: "ok" }), LONG);
}, 90_000);

test.each([
  [50_000_000, 0, "error", "50.0 MB free"],
  [900_000_000, 0, "warning", "900 MB free"],
  [20_000_000_000, 0, "ok", "20.0 GB free"],
])("a disk with %i bytes free is told so, whatever the database needs (%i)", async (freeBytes, _, state, said) => {
  const { db } = openDaemonDatabase(database);
  db.pragma("wal_checkpoint(TRUNCATE)");
  const health = await readDatabaseHealth(database, configuration());
  const [disk] = judgeDisk({ folder: "/data", freeBytes }, health, Date.now());
  expect(disk).toMatchObject({ what: "/data", state, found: expect.stringContaining(said) });
});

test.each([
  [60, 2_950_000_000, "warning", /100 MB used a day, enough for 29 days$/],
  [600, 1_500_000_000, "warning", /does not fit$/],
  [600, 9_000_000_000, "ok", /a day, enough for \d+ days/],
])("a database of %i days beside %i bytes is judged by its pace and by its copies", (days, freeBytes, state, said) => {
  const nowMs = Date.now();
  const size = { bytes: 6_000_000_000, freeBytes: 0 } as never;
  const keeping = { madeAtMs: nowMs - days * 24 * 60 * MINUTE_MS } as never;
  const [disk] = judgeDisk({ folder: "/data", freeBytes }, { size, keeping }, nowMs);
  expect(disk).toMatchObject({ state, found: expect.stringMatching(said) });
});
