import { machineClock } from "../../src/adapters/clock/shared-clock.ts";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { createRateLimiter } from "../../src/adapters/limiter/rate-limiter.ts";
import { silentLogger } from "./silent-logger.ts";

/** A client that always has calls waiting. */
export interface Saturation {
  readonly url: string;
  readonly file: string;
  readonly limitPerSecond: number;
  readonly seconds: number;
  readonly concurrency: number;
}

/** An answer as the client saw it, with the instant at which its request was let go. */
export interface SeenAnswer {
  readonly status: number;
  readonly atMs: number;
}

/** Calls the server as often as the limiter lets it, for the given time after the first grant. */
export async function saturate(options: Saturation): Promise<readonly SeenAnswer[]> {
  const seen: SeenAnswer[] = [];
  const limiter = createRateLimiter(
    {
      file: options.file,
      baseUrl: options.url,
      apiKey: undefined,
      limitPerSecond: options.limitPerSecond,
      maxQueue: 1_000,
      longestWaitMs: 120_000,
      longestRetryAfterMs: 86_400_000,
    },
    { clock: systemClock, sharedClock: machineClock(), logger: silentLogger() },
  );
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const worker = async (): Promise<void> => {
    while ((await limiter.acquire("quote", { signal: stop.signal })) === "granted") {
      timer ??= setTimeout(() => stop.abort(), options.seconds * 1000 + 200);
      const atMs = Date.now();
      const response = await fetch(options.url);
      await response.text();
      seen.push({ status: response.status, atMs });
      limiter.observe({ status: response.status, header: (name) => response.headers.get(name) });
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, worker));
  clearTimeout(timer);
  limiter.close();
  return seen;
}
