import { fork } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { machineClock } from "../../../src/adapters/clock/shared-clock.ts";
import { systemClock } from "../../../src/adapters/clock/system-clock.ts";
import { createRateLimiter, type RateLimiterOptions } from "../../../src/adapters/limiter/rate-limiter.ts";
import { Secret } from "../../../src/net/secret.ts";
import type { LimitedAnswer } from "../../../src/ports/rate-limiter.ts";
import { type FixedWindowServer, startFixedWindowServer, utilisation } from "../../support/fixed-window-server.ts";
import { saturate } from "../../support/saturating-client.ts";
import { silentLogger } from "../../support/silent-logger.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { type Lateness, watchLateness } from "../../support/timer-lateness.ts";

const CLIENT = fileURLToPath(new URL("../../support/saturating-client-main.ts", import.meta.url));

const BOUNDS = { longestWaitMs: 120_000, longestRetryAfterMs: 86_400_000 };

function limiterOn(file: string, change: Partial<RateLimiterOptions> = {}) {
  const seen: { expected: number; seen: number }[] = [];
  const limiter = createRateLimiter(
    {
      file,
      baseUrl: "http://127.0.0.1:1/",
      apiKey: undefined,
      limitPerSecond: 100,
      maxQueue: 50,
      ...BOUNDS,
      ...change,
    },
    { clock: systemClock, sharedClock: machineClock(), logger: silentLogger(), onLimit: (limits) => seen.push(limits) },
  );
  onTestFinished(() => limiter.close());
  return { limiter, seen };
}

function answer(status: number, headers: Record<string, string> = {}): LimitedAnswer {
  return { status, header: (name) => headers[name.toLowerCase()] ?? null };
}

/** What a busy machine withheld is not charged to the limiter; on a healthy one the gate is 94 % without a refusal. */
function expectGate(server: FixedWindowServer, terms: { limit: number; seconds: number }, lateness: Lateness): void {
  const { share, refused } = utilisation(server.answers, terms);
  if (lateness.worstMs < 15) expect(refused).toBe(0);
  expect(refused).toBeLessThan(0.02 * terms.limit * terms.seconds);
  expect(share).toBeGreaterThanOrEqual(lateness.worstMs < 15 ? 0.94 : 0.9 - 3 * lateness.withheldShare);
}

/** A slot is lost to all while the process that it was given to is held up. */
function together(all: readonly Lateness[]): Lateness {
  return {
    worstMs: Math.max(...all.map(({ worstMs }) => worstMs)),
    withheldShare: all.reduce((sum, { withheldShare }) => sum + withheldShare, 0),
  };
}

describe("a saturating client against a real fixed-window server", () => {
  for (const limit of [50, 200]) {
    it(`uses 94 % of ${limit} calls a second and is never refused`, { timeout: 15_000 }, async () => {
      const server = await startFixedWindowServer(limit);
      onTestFinished(() => server.stop());
      const file = join(temporaryDirectory(), "limiter.db");
      const lateness = watchLateness();
      await saturate({ url: server.url, file, limitPerSecond: limit, seconds: 4, concurrency: 24 });
      expectGate(server, { limit, seconds: 4 }, lateness.stop());
    });
  }

  it("keeps to the limit when four processes share one key", { timeout: 30_000 }, async () => {
    const limit = 50;
    const server = await startFixedWindowServer(limit);
    onTestFinished(() => server.stop());
    const file = join(temporaryDirectory(), "limiter.db");
    const options = { url: server.url, file, limitPerSecond: limit, seconds: 4, concurrency: 8 };
    const ofServer = watchLateness();
    const ofClients: Lateness[] = [];
    const codes = await Promise.all(
      [1, 2, 3, 4].map(
        () =>
          new Promise((resolve) => {
            const child = fork(CLIENT, [JSON.stringify(options)], { stdio: ["ignore", "ignore", "ignore", "ipc"] });
            onTestFinished(() => void child.kill("SIGKILL"));
            child.once("message", (lateness: Lateness) => ofClients.push(lateness));
            child.once("exit", resolve);
          }),
      ),
    );
    expect([codes, ofClients.length]).toEqual([[0, 0, 0, 0], 4]);
    expectGate(server, { limit, seconds: 4 }, together([ofServer.stop(), ...ofClients]));
  });
});

describe("the right to call", () => {
  it("goes to the status of live swaps before quotes, anyone who came first", async () => {
    const { limiter } = limiterOn(join(temporaryDirectory(), "limiter.db"), { limitPerSecond: 20 });
    const order: string[] = [];
    const calls = (["background", "quote", "quote", "status", "status"] as const).map(async (priority) => {
      await limiter.acquire(priority);
      order.push(priority);
    });
    await Promise.all(calls);
    expect(order).toEqual(["status", "status", "quote", "quote", "background"]);
  });

  it("is given up by a caller that aborts, and the next one takes it", async () => {
    const { limiter } = limiterOn(join(temporaryDirectory(), "limiter.db"));
    const abort = new AbortController();
    const first = limiter.acquire("quote", { signal: abort.signal });
    const second = limiter.acquire("quote");
    abort.abort();
    expect(await first).toBe("aborted");
    expect(await second).toBe("granted");
    expect(await limiter.acquire("quote", { signal: abort.signal })).toBe("aborted");
  });

  it("is refused when too many calls wait already", async () => {
    const { limiter } = limiterOn(join(temporaryDirectory(), "limiter.db"), { maxQueue: 2 });
    const waiting = [limiter.acquire("quote"), limiter.acquire("quote")];
    expect(await limiter.acquire("status")).toBe("queue full");
    expect(await Promise.all(waiting)).toEqual(["granted", "granted"]);
  });

  it("ends for everybody who waits when the limiter is closed", async () => {
    const { limiter } = limiterOn(join(temporaryDirectory(), "limiter.db"));
    const waiting = limiter.acquire("quote");
    limiter.close();
    expect(await waiting).toBe("aborted");
    expect(await limiter.acquire("quote")).toBe("aborted");
  });

  it("is held back in every process of the key after one was refused, and not for another key", async () => {
    const file = join(temporaryDirectory(), "limiter.db");
    const one = limiterOn(file).limiter;
    const two = limiterOn(file).limiter;
    const other = limiterOn(file, { apiKey: new Secret("another-key") }).limiter;
    expect(await Promise.all([one.acquire("quote"), two.acquire("quote"), other.acquire("quote")])).toEqual(
      Array(3).fill("granted"),
    );
    const refusedAt = performance.now();
    one.observe(answer(429, { "retry-after": "2" }));
    await other.acquire("quote");
    expect(performance.now() - refusedAt).toBeLessThan(1_900);
    await two.acquire("quote");
    expect(performance.now() - refusedAt).toBeGreaterThan(1_990);
  });

  it("does not come in a burst after a restart", async () => {
    const file = join(temporaryDirectory(), "limiter.db");
    const started = performance.now();
    let granted = 0;
    for (let restart = 0; restart < 8; restart++) {
      const { limiter } = limiterOn(file, { limitPerSecond: 20 });
      await limiter.acquire("quote");
      granted++;
      limiter.close();
    }
    const seconds = (performance.now() - started) / 1_000;
    expect(granted).toBeLessThanOrEqual(1 + 20 * Math.max(0, seconds - 1) + 1);
  });

  it("tells the limit that the service states, alongside the expected one, once for each change", async () => {
    const { limiter, seen } = limiterOn(join(temporaryDirectory(), "limiter.db"), { limitPerSecond: 200 });
    for (const limit of ["200", "50", "50", "junk", "200"]) {
      limiter.observe(answer(200, { "x-ratelimit-limit-second": limit }));
    }
    expect(seen.map((limits) => limits.seen)).toEqual([200, 50, 200]);
    expect(new Set(seen.map((limits) => limits.expected))).toEqual(new Set([200]));
  });

  it("leaves no trace of the key in the file", async () => {
    const file = join(temporaryDirectory(), "limiter.db");
    const { limiter } = limiterOn(file, { apiKey: new Secret("canary-key-0123456789") });
    await limiter.acquire("quote");
    limiter.close();
    for (const path of [file, `${file}-wal`].filter((name) => existsSync(name))) {
      expect(readFileSync(path).includes("canary-key-0123456789")).toBe(false);
    }
  });
});
