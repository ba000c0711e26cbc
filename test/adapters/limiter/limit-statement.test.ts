import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/adapters/clock/system-clock.ts";
import { createRateLimiter } from "../../../src/adapters/limiter/rate-limiter.ts";
import { watchLimit } from "../../../src/app/alerts.ts";
import { registerStrategies } from "../../../src/engine/scheduler.ts";
import { NOW_MS } from "../../support/builders.ts";
import { createOutside, openLife } from "../../support/engine-life.ts";
import { silentLogger } from "../../support/silent-logger.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** A limiter as one life of the daemon has it, which hears of a stated limit. */
function openLimiter(onLimit: (limits: { expected: number; seen: number }) => void) {
  const file = join(temporaryDirectory(), "limiter.db");
  const options = {
    file,
    baseUrl: "https://service.example/v1/key",
    apiKey: undefined,
    limitPerSecond: 50,
    maxQueue: 10,
  };
  const limiter = createRateLimiter(options, { clock: systemClock, logger: silentLogger(), onLimit });
  onTestFinished(() => limiter.close());
  return (limit: number): void =>
    limiter.observe({ status: 200, header: (name) => (name === "x-ratelimit-limit-second" ? String(limit) : null) });
}

test("another limit than expected is told once, over restarts too, until the service states the expected one", () => {
  const outside = createOutside(NOW_MS);
  const { context } = openLife(outside);
  registerStrategies(context);
  const watch = watchLimit(context.deps, "https://service.example/v1/key");
  const first = openLimiter(watch);
  for (const limit of [50, 20, 20, 10]) first(limit);
  const second = openLimiter(watch);
  second(20);
  expect(outside.told).toMatchObject([
    { severity: "warning", code: "RATE_LIMIT_UNEXPECTED", fields: { subject: "service service.example" } },
  ]);
  expect(outside.told[0]?.text).toBe(
    "the service at service.example allows 20 calls a second, not 50; check the API key",
  );
  const third = openLimiter(watch);
  for (const limit of [50, 20]) third(limit);
  expect(outside.told).toHaveLength(2);
});
