import { expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { type HeartbeatDeps, startHeartbeat } from "../../src/app/heartbeat.ts";
import { createSecretOpener } from "../../src/app/open-secrets.ts";
import type { Configuration } from "../../src/config/configuration.ts";
import { createRedactor } from "../../src/net/redact.ts";
import { startReceiver } from "../support/alert-receiver.ts";
import { silentLogger } from "../support/silent-logger.ts";

const HEAD = "ab".repeat(32);
const part = { ready: true, reason: null, since: null };

function begin(url: string, change: Partial<HeartbeatDeps> = {}) {
  const state = { healthy: true, ready: true };
  const operating = { global: "active", strategies: {} };
  const configuration = {
    ...{ network: { name: "base" }, mode: "live", timing: { requestTimeoutMs: 300 } },
    heartbeat: { url: { env: "PING" }, everyMs: 20 },
  } as unknown as Configuration;
  const stop = startHeartbeat(configuration, {
    machine: { clock: systemClock },
    secrets: createSecretOpener({ PING: url }, createRedactor()),
    health: {
      health: async () => ({ ...{ healthy: state.healthy, mode: "live", operating, tickAgeMs: 1 }, problems: [] }),
      readiness: async () => ({
        ...{
          ready: state.ready,
          mode: "live",
          operating,
          service: part,
          database: part,
          signer: { ...part, away: [] },
        },
        ...{ node: { ...part, reason: state.ready ? null : "no node answers" }, clock: { ...part, skewMs: 0 } },
      }),
    },
    reads: { historyChain: async () => ({ head: { links: 120, head: HEAD }, problems: [] }) },
    logger: silentLogger(),
    ...change,
  });
  onTestFinished(stop);
  return { state, stop };
}

test("a start is pinged as such, then signs of life with the head of the history, and trouble as a failure", async () => {
  const { url, received } = await startReceiver((response) => void response.writeHead(200).end("OK"));
  const { state } = begin(`${url}/ping/0123-uuid`);
  await vi.waitFor(() => expect(received.length).toBeGreaterThan(2));
  expect(received.slice(0, 2).map(({ path, method }) => [method, path])).toEqual([
    ["POST", "/ping/0123-uuid/start"],
    ["POST", "/ping/0123-uuid"],
  ]);
  expect(received[1]?.body).toBe(`swapd on base, live, mode active\nhistory of 120 links, head ${HEAD}`);
  state.ready = false;
  await vi.waitFor(() => expect(received.at(-1)?.path).toBe("/ping/0123-uuid/fail"));
  expect(received.at(-1)?.body).toMatch(/\nno node answers$/);
  state.ready = true;
  await vi.waitFor(() => expect(received.at(-1)?.path).toBe("/ping/0123-uuid"));
});

test("a watcher that hangs or is away holds up nothing, not even a stop, and is asked again", async () => {
  const { url, received } = await startReceiver((response, count) => {
    if (count > 1) response.writeHead(200).end();
  });
  const { stop } = begin(`${url}/ping`);
  await vi.waitFor(() => expect(received.length).toBeGreaterThan(2));
  const hanging = await startReceiver(() => undefined);
  const other = begin(`${hanging.url}/ping`);
  await vi.waitFor(() => expect(hanging.received).toHaveLength(1));
  const startMs = performance.now();
  await Promise.all([other.stop(), stop()]);
  expect(performance.now() - startMs).toBeLessThan(1_000);
});

test("a database that cannot be read is a failure, and ends nothing", async () => {
  const { url, received } = await startReceiver();
  begin(`${url}/ping`, { reads: { historyChain: () => Promise.reject(new Error("busy")) } });
  await vi.waitFor(() => expect(received.map(({ path }) => path)).toContain("/ping/fail"));
  expect(received.at(-1)?.body).toContain("its database cannot be read");
});

test("what is no URL ends the start with 78, and is not shown", () => {
  expect(() => begin("canary")).toThrow("what alerts.heartbeat.url refers to is no http or https URL");
});
