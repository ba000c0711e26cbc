import { expect, test } from "vitest";
import { createPrometheusMeter } from "../../../src/adapters/metrics/prometheus-meter.ts";
import { createReadModel } from "../../../src/adapters/sqlite/daemon/read-model.ts";
import { openStatusServer } from "../../../src/app/http/open-status-server.ts";
import { ETH, policySample, WALLET } from "../../support/builders.ts";
import { openDaemonDatabase } from "../../support/daemon-database.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { silentLogger } from "../../support/silent-logger.ts";
import { memoryDirectory } from "../../support/temporary-directory.ts";

test("a node that answers nothing delays no stop, whatever is being read for the figures", async () => {
  const { db } = openDaemonDatabase(`${memoryDirectory()}/status.db`);
  const clock = new FakeClock(1_000_000);
  let isAsked = false;
  const chain = {
    nativeBalance: () => {
      isAsked = true;
      return new Promise<never>(() => undefined);
    },
  };
  const configuration = {
    ...{ mode: "live", network: { name: "sandbox", chainId: 31_337, protocols: [] }, database: "/nowhere" },
    ...{ listen: { host: "127.0.0.1", port: 0 }, statusHosts: [], strategies: [] },
    ...{ reference: { sources: ["feed"] }, service: {}, policy: policySample({}) },
    tokens: new Map([["ETH", { token: ETH }]]),
    wallets: new Map([["main", { name: "main", address: WALLET }]]),
  };
  const reach = { absence: () => undefined, holdsWorkUp: () => false };
  const clocks = { problem: () => undefined, skewMs: () => 0 };
  const engine = { tickAgeMs: () => 0, waitingFor: () => undefined, clocks };
  const composed = { engine, chain, node: reach, service: reach, abilities: { whyUnable: () => undefined } };
  const failed: unknown[] = [];
  const logger = silentLogger();
  const { url, stop } = await openStatusServer(configuration as never, composed as never, {
    ...{ clock, reads: createReadModel(db), logger, fail: (error) => void failed.push(error) },
    ...{ counted: createPrometheusMeter().registry, api: () => undefined as never },
  });
  expect([(await fetch(`${url}/metrics`)).status, logger.lines]).toEqual([200, []]);
  await clock.advance(61_000);
  expect(isAsked).toBe(true);
  const beganMs = performance.now();
  await stop();
  expect(performance.now() - beganMs).toBeLessThan(2_000);
  expect(failed).toEqual([]);
});
