import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { answer } from "../../../src/service/http/answer.ts";
import type { Caller } from "../../../src/service/http/caller.ts";
import { ENDPOINTS } from "../../../src/service/http/endpoints.ts";
import { inTime } from "../../../src/service/http/in-time.ts";
import { createServer, type Handler, type Handlers } from "../../../src/service/http/server.ts";
import { createTraffic } from "../../../src/service/http/traffic.ts";
import { SearchStoppedError } from "../../../src/service/routing/time-slices.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { systemClock as clock } from "../support/system-clock.ts";

const NETWORKS = "/token-manager/networks";
const waiting: Caller = { name: "address 127.0.0.1", isKeyed: false, isGone: () => false, charge: () => undefined };

/** The real server on a real socket; only what stands behind the endpoints is replaced. */
async function start(handler: Handler): Promise<string> {
  const handlers = Object.fromEntries([...Object.keys(ENDPOINTS), "health"].map((name) => [name, handler]));
  const server = createServer(
    { limits: { keyless: 10, keyed: 10 }, apiKeys: [] },
    {
      handlers: handlers as unknown as Handlers,
      traffic: createTraffic(),
      clock,
      logger: createRecordingLogger(),
      keys: { find: () => undefined },
    },
  );
  onTestFinished(() => {
    server.server.closeAllConnections();
    return server.close();
  });
  return server.listen({ host: "127.0.0.1", port: 0 });
}

test("a search that finds too many others in work is reported as BUSY, with the time to wait", async () => {
  const url = await start(async () => {
    throw new SearchStoppedError("BUSY", "16 long searches for routes are in work");
  });
  const response = await fetch(url + NETWORKS);
  expect([response.status, response.headers.get("Retry-After")]).toEqual([503, "1"]);
  expect(await response.json()).toMatchObject({ error: "BUSY", message: expect.stringContaining("16 long searches") });
});

test("a caller who hangs up is gone, and one who waits is not", async () => {
  const seen: Caller[] = [];
  let letGo = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const url = await start(async (_input, caller) => {
    seen.push(caller);
    await gate;
    return answer([]);
  });
  const hangsUp = new AbortController();
  const left = fetch(url + NETWORKS, { signal: hangsUp.signal }).catch(() => undefined);
  const stays = fetch(url + NETWORKS);
  while (seen.length < 2) await sleep(5);
  expect(seen.map((caller) => caller.isGone())).toEqual([false, false]);
  hangsUp.abort();
  await left;
  await expect.poll(() => seen.filter((caller) => caller.isGone()).length, { timeout: 10_000 }).toBe(1);
  letGo();
  expect((await stays).status).toBe(200);
});

test("a search gets less time than the answer has, and the caller's own limit or the service's", async () => {
  const ends: number[] = [];
  for (const timeoutMs of [40, 400]) {
    const beganMs = performance.now();
    await inTime({ timeoutMs, caller: waiting }, clock, async (search) => {
      while (!search.isOver()) await sleep(1);
      ends.push(performance.now() - beganMs);
    });
  }
  expect(ends[0]).toBeGreaterThanOrEqual(29);
  expect(ends[1]).toBeGreaterThanOrEqual(299);
  const unlimited = await inTime({ timeoutMs: undefined, caller: waiting }, clock, async (search) => search.isOver());
  expect(unlimited).toBe(false);
});

test("work that fails after its time is nobody's error any more", async () => {
  const late = await inTime({ timeoutMs: 20, caller: waiting }, clock, async () => {
    await sleep(60);
    throw new Error("the node answered at last, and with nonsense");
  });
  expect(late).toMatchObject({ kind: "refused", error: "QUOTE_TIMEOUT", parameter: "timeoutMs" });
  await sleep(80);
});

test("the work is reported who waits for it, so that long searches are shared by caller and end when he is gone", async () => {
  let isGone = false;
  const caller: Caller = { ...waiting, name: "key 7", isGone: () => isGone };
  const seen = await inTime({ timeoutMs: 5_000, caller }, clock, async (search) => {
    const before = [search.caller, search.part(0.5).caller, search.isOver()];
    isGone = true;
    return [...before, search.isOver()];
  });
  expect(seen).toEqual(["key 7", "key 7", false, true]);
});
