import { expect, onTestFinished, test } from "vitest";
import { createPrometheusMeter } from "../../../src/adapters/metrics/prometheus-meter.ts";
import { createReadModel } from "../../../src/adapters/sqlite/daemon/read-model.ts";
import { openStatusServer } from "../../../src/app/http/open-status-server.ts";
import { dcaSpec, ETH, policySample, WALLET } from "../../support/builders.ts";
import { openDaemonDatabase } from "../../support/daemon-database.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { silentLogger } from "../../support/silent-logger.ts";
import { memoryDirectory } from "../../support/temporary-directory.ts";

/** Opens it with a node that answers nothing. */
async function begin() {
  const { db } = openDaemonDatabase(`${memoryDirectory()}/status.db`);
  const clock = new FakeClock(1_000_000);
  const asked = { nativeBalances: 0 };
  const chain = {
    nativeBalance: () => {
      asked.nativeBalances += 1;
      return new Promise<never>(() => undefined);
    },
  };
  const files = {
    inForce: {
      ...{ mode: "live", network: { name: "sandbox", chainId: 31_337, protocols: [] }, database: "/nowhere" },
      ...{ listen: { host: "127.0.0.1", port: 0 }, statusHosts: [], strategies: [] as unknown[] },
      ...{ reference: { sources: ["feed"] }, service: {}, policy: policySample({}) },
      tokens: new Map([["ETH", { token: ETH }]]),
      wallets: new Map([["main", { name: "main", address: WALLET }]]),
    },
  };
  const reach = { absence: () => undefined, holdsWorkUp: () => false };
  const clocks = { problem: () => undefined, skewMs: () => 0 };
  const engine = { tickAgeMs: () => 0, waitingFor: () => undefined, clocks };
  const composed = { engine, chain, node: reach, service: reach, abilities: { whyUnable: () => undefined } };
  const failed: unknown[] = [];
  const logger = silentLogger();
  const { url, stop } = await openStatusServer(files.inForce as never, composed as never, {
    ...{ clock, reads: createReadModel(db), logger, fail: (error) => void failed.push(error) },
    ...{ counted: createPrometheusMeter().registry, api: () => undefined as never, files: files as never },
  });
  onTestFinished(stop);
  return { url, stop, clock, logger, failed, asked, files };
}

test("a node that answers nothing delays no stop, whatever is being read for the figures", async () => {
  const { url, stop, clock, logger, failed, asked } = await begin();
  expect([(await fetch(`${url}/metrics`)).status, logger.lines]).toEqual([200, []]);
  await clock.advance(61_000);
  expect(asked.nativeBalances).toBeGreaterThan(0);
  const beganMs = performance.now();
  await stop();
  expect(performance.now() - beganMs).toBeLessThan(2_000);
  expect(failed).toEqual([]);
});

test("the figures of budgets are those of the files that were taken over since", async () => {
  const { url, clock, files } = await begin();
  const limits = async (): Promise<readonly string[]> => {
    await clock.advance(1_000);
    const figures = await (await fetch(`${url}/metrics`)).text();
    return figures.split("\n").filter((line) => line.startsWith("swapd_budget_limit{"));
  };
  const edited = (total: bigint) => {
    const spec = dcaSpec({ budget: { total } });
    files.inForce = { ...files.inForce, strategies: [{ spec, hash: `${total}`, file: "weekly.yaml" }] };
    return `swapd_budget_limit{strategy="${spec.id}",period="total",token="USDC"} ${total / 1_000_000n}`;
  };
  expect(await limits()).toEqual([]);
  const first = edited(1_000_000_000n);
  expect(await limits()).toEqual([first]);
  const second = edited(2_000_000_000n);
  expect(await limits()).toEqual([second]);
});
