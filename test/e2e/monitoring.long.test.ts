import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { concat, keccak256, toBeHex, zeroPadValue } from "ethers";
import { expect, onTestFinished, test, vi } from "vitest";
import { startLossyService } from "../../bench/recovery/lossy-service.ts";
import { claimPort } from "../../src/sandbox/free-port.ts";
import { type Received, startReceiver } from "../support/alert-receiver.ts";
import { missingPrograms, startMonitoring } from "./support/monitoring.ts";
import { makeFolder, run, type Started, start, until } from "./support/swapd.ts";

// Each rule that can be fired by its own fault is, against the real programs. Six need what a sandbox does not have (a
// scheduler that stands still in a process that answers, a daemon that is slow, a service that refuses calls, a clock that
// is wrong, a day of bad fills): `promtool test rules` has their figures.

const missing = missingPrograms(["prometheus", "prometheus-alertmanager", "promtool"]);
const LONG = { timeout: 60_000, interval: 250 };
/** What wallets have and allow is read once a minute. */
const SAMPLED = { timeout: 90_000, interval: 250 };

/** Where a token of the sandbox keeps what an owner allows: the second word of its storage is the table. */
const slotOf = (owner: string): string => keccak256(concat([zeroPadValue(owner, 32), toBeHex(1, 32)]));

interface World {
  readonly rpcUrl: string;
  readonly serviceUrl: string;
  readonly settlement: string;
  readonly tokens: Readonly<Record<string, { readonly address: string }>>;
  readonly wallet: { readonly address: string; readonly privateKey: string };
}

const DCA = (lines: string): string =>
  `kind: dca\nwallet: main\n${lines}\nretry_for: 4s\nexecution: { gasless: never }\n`;

const STRATEGIES = {
  steady: DCA('sell: "0.2 WETH"\nbuy: USDC\nschedule: { every: 4s }'),
  asks: DCA('sell: "500 DAI"\nbuy: WETH\nschedule: { every: 1h, anchor: "2026-01-01T00:00:00Z" }').replace(
    "gasless: never",
    'gasless: never, approve_above: "1 USD"',
  ),
  lost: DCA('sell: "500 USDC"\nbuy: WETH\nschedule: { every: 10s }').replace("gasless: never", "gasless: only"),
};

/** A daemon of its own on the sandbox's chain and service, whose submissions are all lost on their way. */
async function place() {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  const sandbox = start(folder.path, ["sandbox", "--no-daemon", "--json", "--port", "0"]);
  onTestFinished(() => void sandbox.process.kill("SIGKILL"));
  const world = JSON.parse(await sandbox.firstLine) as World;
  const lossy = await startLossyService(world.serviceUrl, 0);
  onTestFinished(() => lossy.stop());
  const port = await claimPort(0);
  const config = (name: string): string => join(folder.path, "config", name);
  rmSync(join(folder.path, "strategies"), { recursive: true });
  mkdirSync(join(folder.path, "strategies"));
  for (const [name, text] of Object.entries(STRATEGIES))
    writeFileSync(join(folder.path, "strategies", `${name}.yaml`), text);
  const own = readFileSync(config("sandbox.yaml"), "utf8");
  const text = own
    .replace("url: embedded", `url: "${lossy.url}"`)
    .replace("strategies: ../strategies/sandbox", "strategies: ../strategies")
    .replace("../.swapd/sandbox/swapd.db", "../watched.db")
    .replace("127.0.0.1:9464", `127.0.0.1:${port}`)
    .replace(
      /^serve:[\s\S]*?(?=^timing:)/m,
      "alerts: { webhook: { url: { env: DEAD_URL }, secret: { env: DEAD_SECRET }, minimum: info } }\n",
    );
  writeFileSync(config("watched.yaml"), text);
  const policy = readFileSync(config("sandbox.policy.yaml"), "utf8");
  writeFileSync(
    config("sandbox.policy.yaml"),
    policy.replace('"10000000 USD"', '"8000 USD"').replace('"50000 USD"', '"1000 USD"'),
  );
  const env = {
    ...{ SWAPD_SANDBOX_RPC: world.rpcUrl, SWAPD_SANDBOX_WALLET_KEY: world.wallet.privateKey },
    ...{ DEAD_URL: "http://127.0.0.1:9/hook", DEAD_SECRET: "a secret that nobody receives" },
  };
  const begin = (): Started => {
    const daemon = start(folder.path, ["start", "--config", config("watched.yaml")], env);
    onTestFinished(() => void daemon.process.kill("SIGKILL"));
    return daemon;
  };
  const swapd = (...args: string[]) => run(folder.path, [...args, "--config", config("watched.yaml")], env);
  return { folder: folder.path, world, port, begin, swapd };
}

function namesIn(received: readonly Received[], status: string): ReadonlySet<string> {
  const alerts = received.flatMap(
    ({ body }) => (JSON.parse(body) as { alerts: { status: string; labels: { alertname: string } }[] }).alerts,
  );
  return new Set(alerts.filter((alert) => alert.status === status).map(({ labels }) => labels.alertname));
}

async function call(rpcUrl: string, method: string, ...params: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  const answer = (await (await fetch(rpcUrl, { method: "POST", headers, body })).json()) as { result?: unknown };
  return answer.result;
}

/** The process of the node behind a URL. @throws Error where it is not found: process 0 would be the test's own group */
function nodeOf(rpcUrl: string): number {
  const { port } = new URL(rpcUrl);
  const pids = spawnSync("pgrep", ["-x", "anvil"], { encoding: "utf8" }).stdout.trim().split("\n").map(Number);
  const found = pids.find((pid) => pid > 0 && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`--port\0${port}`));
  if (found === undefined) throw new Error(`no anvil has the port ${port}`);
  return found;
}

/** The queries of the shipped dashboard, over every daemon. */
function dashboardQueries(): readonly string[] {
  const file = join(import.meta.dirname, "../../monitoring/grafana/swapd.json");
  const { panels } = JSON.parse(readFileSync(file, "utf8")) as { panels: { targets?: { expr: string }[] }[] };
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr.replaceAll("$instance", ".*")));
}

test.skipIf(missing.length > 0)(
  "every rule is fired by its fault, Alertmanager tells of it, and each query of the dashboard is one",
  { timeout: 480_000 },
  async () => {
    const { folder, world, port, begin, swapd } = await place();
    const { url, received } = await startReceiver();
    const { query } = await startMonitoring({
      ...{ folder: join(folder, "monitoring"), receiverUrl: url },
      target: `127.0.0.1:${port}`,
    });
    const fired = async (names: readonly string[], within = LONG): Promise<void> => {
      const wanted = expect.arrayContaining([...names]);
      await vi.waitFor(() => expect([...namesIn(received, "firing")]).toEqual(wanted), within);
    };
    const owner = world.wallet.address;
    const first = begin();
    await until("it fills", { process: first, withinMs: 60_000 }, () => first.output().includes("swap confirmed"));
    expect((await swapd("run", "asks", "--extra")).code).toBe(0);
    await fired(["SwapdWaitsForApproval"]);
    // A grant without a bound, as if the wallet had signed it elsewhere.
    const grant = keccak256(concat([zeroPadValue(world.settlement, 32), slotOf(owner)]));
    await call(world.rpcUrl, "anvil_setStorageAt", world.tokens.WBTC?.address, grant, `0x${"ff".repeat(32)}`);
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const lint = spawnSync("promtool", ["check", "metrics"], { input: metrics, encoding: "utf8" });
    expect([lint.status, lint.stdout, lint.stderr]).toEqual([0, "", ""]);
    const balance = await call(world.rpcUrl, "eth_getBalance", owner, "latest");
    await fired(["SwapdChannelBehind", "SwapdSwapUnknown"]);
    await fired(["SwapdRunsFail", "SwapdCapNearlyUsed"], SAMPLED);
    for (const expression of dashboardQueries()) await query(expression);
    await fired(["SwapdAllowanceUnlimited"], SAMPLED);
    await call(world.rpcUrl, "anvil_setBalance", owner, "0x1");
    await fired(["SwapdGasLow"], SAMPLED);
    await call(world.rpcUrl, "anvil_setBalance", owner, balance);
    expect((await swapd("halt", "--reason", "a test")).code).toBe(0);
    await fired(["SwapdHalted"]);
    // A node that does not answer.
    const node = nodeOf(world.rpcUrl);
    process.kill(node, "SIGSTOP");
    await fired(["SwapdNotReady", "SwapdRequestsFail"]);
    process.kill(node, "SIGCONT");
    await vi.waitFor(() => expect(namesIn(received, "resolved")).toContain("SwapdNotReady"), LONG);
    // A process that stands still: it does not answer, and then its slots are late.
    first.process.kill("SIGSTOP");
    await fired(["SwapdDown"]);
    await new Promise((resolve) => setTimeout(resolve, 15_000));
    first.process.kill("SIGCONT");
    await vi.waitFor(() => expect(namesIn(received, "resolved")).toContain("SwapdDown"), LONG);
    first.process.kill("SIGTERM");
    await first.ended;
    await new Promise((resolve) => setTimeout(resolve, 15_000));
    // Somebody used the wallet's key meanwhile: what the rows do not know needs a person.
    await call(world.rpcUrl, "anvil_impersonateAccount", owner);
    await call(world.rpcUrl, "eth_sendTransaction", { from: owner, to: owner, value: "0x1" });
    const second = begin();
    await fired(["SwapdSlotsMissed", "SwapdNeedsYou"]);
    expect((await swapd("resume")).code).toBe(0);
    second.process.kill("SIGTERM");
    expect((await second.ended).code).toBe(0);
  },
);

test.skipIf(missing.length > 0)("the rules are right, and raise what their figures say", () => {
  const folder = join(import.meta.dirname, "../../monitoring");
  for (const args of [
    ["check", "rules", "swapd.rules.yml"],
    ["check", "config", "prometheus.yml"],
    ["test", "rules", "swapd.rules.test.yml"],
  ]) {
    const { status, stdout, stderr } = spawnSync("promtool", args, { cwd: folder, encoding: "utf8" });
    expect([status, stderr], stdout).toEqual([0, ""]);
  }
});

test("the programs that this needs are here, or are named", () => {
  if (missing.length > 0)
    console.error(`not run: ${missing.join(", ")} missing; apt-get install prometheus prometheus-alertmanager`);
  expect(missing.length).toBeLessThanOrEqual(3);
});
