import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { machineClock } from "../../../src/adapters/clock/shared-clock.ts";
import { systemClock } from "../../../src/adapters/clock/system-clock.ts";
import { createRateLimiter } from "../../../src/adapters/limiter/rate-limiter.ts";
import { swapd } from "../../../src/adapters/swap-service/swapd/service.ts";
import { startHttpServer } from "../../support/http-server.ts";
import { silentLogger } from "../../support/silent-logger.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { json, request, serviceWith, wireQuote } from "./client-fixture.ts";

/** A client with a limiter of its own on the file, as one life of a process has it. */
function openLife(baseUrl: string, file: string) {
  const logger = silentLogger();
  const options = { file, baseUrl, apiKey: undefined, limitPerSecond: 50, maxQueue: 100 };
  const limiter = createRateLimiter(
    { ...options, longestWaitMs: 60_000, longestRetryAfterMs: 86_400_000 },
    { clock: systemClock, sharedClock: machineClock(), logger },
  );
  onTestFinished(() => limiter.close());
  const client = { chainId: 31_337, baseUrl, network: "sandbox", timeoutMs: 20_000, maxBytes: 64_000 };
  return { limiter, service: swapd.open({ ...client, retries: 0 }, { limiter, clock: systemClock, logger }) };
}

it("goes on within seconds after a refusal, a lost answer and a kill of the process", { timeout: 30_000 }, async () => {
  let count = 0;
  let isProbed: () => void = () => undefined;
  const probed = new Promise<void>((resolve) => {
    isProbed = resolve;
  });
  const server = await startHttpServer((_incoming, response) => {
    count++;
    if (count === 1) json(response, { message: "API rate limit exceeded" }, 429);
    else if (count === 2) response.destroy();
    else if (count === 3) json(response, { message: "API rate limit exceeded" }, 429);
    else if (count === 4) isProbed();
    else json(response, wireQuote);
  });
  const file = join(temporaryDirectory(), "limiter.db");
  const first = openLife(server.url, file);
  expect(await first.service.quote(request)).toMatchObject({ code: "HTTP_429" });
  expect(await first.service.quote(request)).toMatchObject({ code: "UNREACHABLE" });
  expect(await first.service.quote(request)).toMatchObject({ code: "HTTP_429" });
  void first.service.quote(request);
  await probed;
  first.limiter.close();
  const startedAt = performance.now();
  const { service } = openLife(server.url, file);
  const quotes = await Promise.all([service.quote(request), service.quote(request), service.quote(request)]);
  expect(quotes).toMatchObject(Array(3).fill({ amountOut: BigInt(wireQuote.amountOut) }));
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});

it("reports the pace of each call how it ended, also where no answer can be used", async () => {
  const endings: ((response: ServerResponse) => void)[] = [
    (response) => response.destroy(),
    (response) => response.writeHead(429, { "retry-after": "7" }).end(Buffer.from([0xff, 0xfe])),
    (response) => response.writeHead(429, { "retry-after": "7", "content-length": "99999999" }).end("x".repeat(70_000)),
  ];
  for (const [index, expected] of ["lost", { status: 429 }, { status: 429 }].entries()) {
    const { service, limiter } = await serviceWith((_incoming, response) => endings[index]?.(response), { retries: 0 });
    expect(await service.quote(request)).toMatchObject({ kind: "refused" });
    expect(limiter.observed).toEqual([typeof expected === "string" ? expected : expect.objectContaining(expected)]);
  }
});
