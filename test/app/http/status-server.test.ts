import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createReadModel } from "../../../src/adapters/sqlite/daemon/read-model.ts";
import type { HealthReader } from "../../../src/app/http/health.ts";
import { startStatusServer } from "../../../src/app/http/status-server.ts";
import type { ReadModel } from "../../../src/ports/read-model.ts";
import { openDaemonDatabase } from "../../support/daemon-database.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { metricsSample } from "../../support/metrics-sample.ts";
import { silentLogger } from "../../support/silent-logger.ts";
import { memoryDirectory } from "../../support/temporary-directory.ts";

const operating = { global: "halted", strategies: { paused: 2 } };
const part = { ready: true, reason: null, since: null };
const health: HealthReader = {
  health: async () => {
    asked.push("health");
    return { healthy: true, mode: "live", operating, tickAgeMs: 7, problems: [] };
  },
  readiness: async () => {
    asked.push("readiness");
    const clock = { ...part, skewMs: 5 };
    const node = { ready: false, reason: "no node answered", since: "2026-11-22T09:00:00.000Z" };
    return {
      ready: false,
      mode: "live",
      operating,
      node,
      service: part,
      clock,
      database: part,
      signer: { ...part, away: [] },
    };
  },
};
const logger = silentLogger();

/** What was read from the database. */
let asked: string[] = [];
let clock: FakeClock;
let url: string;
let reads: ReadModel;
let isBroken = false;
let stop: () => Promise<void>;
beforeEach(async () => {
  const { db } = openDaemonDatabase(`${memoryDirectory()}/status.db`);
  reads = createReadModel(db);
  isBroken = false;
  asked = [];
  clock = new FakeClock(1_900_000_000_000);
  const broken: ReadModel = {
    ...reads,
    counts: async () => {
      asked.push("counts");
      if (isBroken) throw new TypeError("SQLite3 can only bind numbers, strings, bigints");
      return await reads.counts();
    },
  };
  const options = { host: "127.0.0.1", port: 0, names: ["Swapd.Internal"] };
  ({ url, stop } = await startStatusServer(options, {
    ...{ health, logger, clock },
    metrics: metricsSample({ reads: broken, health }),
  }));
});
afterEach(async () => await stop());

interface Answer {
  readonly status: number | undefined;
  readonly body: string;
}

/** With a `Host` of one's own, which fetch does not let one choose. */
async function get(path: string, host?: string, more: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const headers = host === undefined ? more : { host, ...more };
    const sent = request(`${url}${path}`, { headers }, (response) => {
      let body = "";
      response.on("data", (chunk: Buffer) => {
        body += String(chunk);
      });
      response.on("end", () => resolve({ status: response.statusCode, body }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

it("reports health and readiness apart, and both name the modes", async () => {
  const healthz = await get("/healthz");
  expect([healthz.status, JSON.parse(healthz.body)]).toEqual([200, await health.health()]);
  const readyz = await get("/readyz");
  expect([readyz.status, JSON.parse(readyz.body)]).toEqual([503, await health.readiness()]);
  const metrics = (await get("/metrics")).body;
  for (const line of [
    'swapd_mode{mode="halted"} 1',
    "swapd_live 1",
    "swapd_runs_waiting 0",
    'swapd_ready{part="node"} 0',
    'swapd_ready{part="database"} 1',
  ]) {
    expect(metrics).toContain(line);
  }
});

it.each(["evil.example", "evil.example:9464", "127.0.0.1.evil.example", "localhost.evil.example:80", "[evil]"])(
  "shows nothing to a web page that leads its visitors here under the name %j",
  async (host) => {
    for (const path of ["/api/v1/runs", "/healthz", "/metrics", "/nothing"]) {
      const { status, body } = await get(path, host);
      expect(status).toBe(421);
      expect(body).not.toContain("runs");
    }
  },
);

it.each(["127.0.0.1:9464", "localhost", "LOCALHOST:1", "[::1]:9464", "swapd.internal:9464", "10.0.0.7"])(
  "answers who asks for %s",
  async (host) => {
    expect((await get("/healthz", host)).status).toBe(200);
  },
);

it("says nothing of its inside when it fails, and logs it", async () => {
  isBroken = true;
  expect(await get("/metrics")).toEqual({ status: 500, body: '{"error":"INTERNAL"}' });
  expect(logger.lines).toMatchObject([{ level: "error", fields: { error: expect.any(TypeError) } }]);
});

it("reads what anybody may ask once a second, however many ask", async () => {
  const paths = ["/healthz", "/readyz", "/metrics"];
  const all = async () => await Promise.all(paths.flatMap((path) => Array.from({ length: 20 }, () => get(path))));
  const first = await all();
  // A scrape reads both kinds of health besides its own counts.
  const once = ["counts", "health", "health", "readiness", "readiness"];
  expect(asked.toSorted()).toEqual(once);
  expect(new Set(first.map(({ status, body }) => `${status} ${body}`)).size).toBe(3);
  await clock.advance(999);
  await all();
  expect(asked.toSorted()).toEqual(once);
  await clock.advance(1);
  await all();
  expect(asked).toHaveLength(2 * once.length);
});

it.each(["/healthz", "/readyz", "/metrics"])("reads nothing where a page of another site asks for %s", async (path) => {
  const { status, body } = await get(path, undefined, { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" });
  expect([status, JSON.parse(body).error, asked]).toEqual([403, "SITE_FOREIGN", []]);
  expect((await get(path, undefined, { "sec-fetch-site": "same-origin" })).status).not.toBe(403);
});

it("leaves one address so many connections, and answers others meanwhile", async () => {
  const port = Number(new URL(url).port);
  let closed = 0;
  const opened = await Promise.all(
    Array.from(
      { length: 200 },
      () =>
        new Promise<Socket>((resolve) => {
          const socket = connect({ port, host: "127.0.0.1", localAddress: "127.0.0.2" }, () => resolve(socket));
          socket.on("error", () => undefined).on("close", () => (closed += 1));
          socket.resume();
        }),
    ),
  );
  await expect.poll(() => closed).toBe(72);
  expect((await get("/healthz")).status).toBe(200);
  for (const socket of opened) socket.destroy();
});

it("answers no more than a few of what one connection asks at once", async () => {
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
  let received = "";
  socket.on("data", (chunk) => (received += String(chunk)));
  socket.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(1_000));
  await new Promise((resolve) => socket.on("close", resolve).on("error", () => undefined));
  expect(received.split("HTTP/1.1 200").length).toBeLessThan(20);
});
