import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { machineClock } from "../../../src/adapters/clock/shared-clock.ts";
import { systemClock } from "../../../src/adapters/clock/system-clock.ts";
import { createRateLimiter } from "../../../src/adapters/limiter/rate-limiter.ts";
import { watchHeldBack, watchLimit } from "../../../src/app/alerts.ts";
import { registerStrategies } from "../../../src/engine/register-strategies.ts";
import { NOW_MS } from "../../support/builders.ts";
import { createOutside, openLife } from "../../support/engine-life.ts";
import { quiet } from "../../support/fake-clock.ts";
import { silentLogger } from "../../support/silent-logger.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { VirtualTime } from "../../support/virtual-time.ts";

/** A limiter as one life of the daemon has it, which hears of a stated limit. */
function openLimiter(onLimit: (limits: { expected: number; seen: number }) => void) {
  const file = join(temporaryDirectory(), "limiter.db");
  const options = {
    file,
    baseUrl: "https://service.example/v1/key",
    apiKey: undefined,
    limitPerSecond: 50,
    maxQueue: 10,
    longestWaitMs: 120_000,
    longestRetryAfterMs: 86_400_000,
  };
  const limiter = createRateLimiter(options, {
    clock: systemClock,
    sharedClock: machineClock(),
    logger: silentLogger(),
    onLimit,
  });
  onTestFinished(() => limiter.close());
  return (limit: number): void =>
    limiter.observe({ status: 200, header: (name) => (name === "x-ratelimit-limit-second" ? String(limit) : null) });
}

test("another limit than expected is reported once, over restarts too, until the service states the expected one", async () => {
  const outside = createOutside(NOW_MS);
  const { context } = openLife(outside);
  await registerStrategies(context);
  const listen = watchLimit(context.deps, "https://service.example/v1/key");
  const watch = (limits: Parameters<typeof listen>[0]): void => void listen(limits);
  const first = openLimiter(watch);
  for (const limit of [50, 20, 20, 10]) first(limit);
  const second = openLimiter(watch);
  second(20);
  await quiet();
  expect(outside.reported).toMatchObject([
    { severity: "warning", code: "RATE_LIMIT_UNEXPECTED", fields: { subject: "service service.example" } },
  ]);
  expect(outside.reported[0]?.text).toBe(
    "the service at service.example allows 20 calls a second, not 50; check the API key",
  );
  const third = openLimiter(watch);
  for (const limit of [50, 20]) third(limit);
  await quiet();
  expect(outside.reported).toHaveLength(2);
});

test("a wait of minutes that the service asks for is reported once, over restarts too, and over when it is", async () => {
  const outside = createOutside(NOW_MS);
  const { context } = openLife(outside);
  const listen = watchHeldBack(context.deps, "https://service.example/v1/key");
  const onHeldBack = (untilMs: number | undefined): void => void listen(untilMs);
  const time = new VirtualTime();
  const options = {
    file: join(temporaryDirectory(), "limiter.db"),
    baseUrl: "https://service.example/v1/key",
    apiKey: undefined,
    limitPerSecond: 50,
    maxQueue: 10,
    longestWaitMs: 120_000,
    longestRetryAfterMs: 86_400_000,
  };
  const open = () => {
    const deps = { clock: time.clock, sharedClock: time.shared(), logger: silentLogger(), onHeldBack };
    const limiter = createRateLimiter(options, deps);
    onTestFinished(() => limiter.close());
    return limiter;
  };
  const refuse = (limiter: ReturnType<typeof open>, seconds: number) =>
    limiter.observe({ status: 429, header: (name) => (name === "retry-after" ? String(seconds) : null) });
  const first = open();
  refuse(first, 290);
  expect(outside.reported).toEqual([]);
  refuse(first, 3_600);
  refuse(first, 3_600);
  first.close();
  const second = open();
  refuse(second, 3_600);
  await quiet();
  expect(outside.reported).toMatchObject([{ severity: "critical", code: "SERVICE_HOLDS_US_BACK" }]);
  expect(outside.reported[0]?.text).toContain("the service at service.example asked for no calls until 20");
  await time.runUntil(time.nowUs() + 3_602_000_000);
  refuse(second, 3_600);
  await quiet();
  expect(outside.reported).toHaveLength(2);
});
