import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { concat, keccak256, toBeHex, zeroPadValue } from "ethers";
import { expect, onTestFinished, test } from "vitest";
import { startLossyService } from "../../bench/recovery/lossy-service.ts";
import { missingPrograms } from "./support/monitoring.ts";
import { until } from "./support/swapd.ts";
import { call, dca, LONG, nodeOf, startWatched } from "./support/watched-daemon.ts";

// The faults of what is around a daemon; those of its own, of its clock and of its signer have a file of their own.

const missing = missingPrograms(["prometheus", "prometheus-alertmanager", "promtool"]);
/** What wallets have and allow is read once a minute. */
const SAMPLED = { timeout: 90_000, interval: 250 };

/** Where a token of the sandbox keeps what an owner allows: the second word of its storage is the table. */
const slotOf = (owner: string): string => keccak256(concat([zeroPadValue(owner, 32), toBeHex(1, 32)]));

const STRATEGIES = {
  steady: dca('sell: "0.2 WETH"\nbuy: USDC\nschedule: { every: 4s }'),
  asks: dca('sell: "500 DAI"\nbuy: WETH\nschedule: { every: 1h, anchor: "2026-01-01T00:00:00Z" }').replace(
    "gasless: never",
    'gasless: never, approve_above: "1 USD"',
  ),
  lost: dca('sell: "500 USDC"\nbuy: WETH\nschedule: { every: 10s }').replace("gasless: never", "gasless: only"),
};

/** A daemon whose submissions are all lost on their way. */
const startLossy = () =>
  startWatched({
    strategies: STRATEGIES,
    edit: {
      policy: (text) => text.replace('"10000000 USD"', '"8000 USD"').replace('"50000 USD"', '"1000 USD"'),
    },
    between: async (world) => {
      const lossy = await startLossyService(world.serviceUrl, 0);
      onTestFinished(() => lossy.stop());
      return { serviceUrl: lossy.url };
    },
  });

/** The queries of the shipped dashboard, over every daemon. */
function dashboardQueries(): readonly string[] {
  const file = join(import.meta.dirname, "../../monitoring/grafana/swapd.json");
  const { panels } = JSON.parse(readFileSync(file, "utf8")) as { panels: { targets?: { expr: string }[] }[] };
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr.replaceAll("$instance", ".*")));
}

test.skipIf(missing.length > 0)(
  "faults around a daemon fire their rules, Alertmanager tells of them, and each query of the dashboard is one",
  { timeout: 480_000 },
  async () => {
    const { world, port, begin, swapd, query, told } = await startLossy();
    const fired = (names: readonly string[], within = LONG): Promise<void> => told("firing", names, within);
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
    await told("resolved", ["SwapdNotReady"]);
    // A process that stands still: it does not answer, and then its slots are late.
    first.process.kill("SIGSTOP");
    await fired(["SwapdDown"]);
    await new Promise((resolve) => setTimeout(resolve, 15_000));
    first.process.kill("SIGCONT");
    await told("resolved", ["SwapdDown"]);
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
