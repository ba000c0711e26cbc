/** A process of its own in which a mistake of ours, or a disk, breaks what goes on alongside everything else. */
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { createRateLimiter } from "../../src/adapters/limiter/rate-limiter.ts";
import { startAlertSender } from "../../src/adapters/notify/alert-sender.ts";
import { endOnUncaught } from "../../src/app/end-on-uncaught.ts";
import type { AlertOutbox } from "../../src/ports/alert-store.ts";
import { silentLogger } from "../support/silent-logger.ts";

const [where, file = "", code] = process.argv.slice(2);
endOnUncaught(String, { err: (text: string) => void process.stderr.write(`${text}\n`) });
setTimeout(() => process.exit(0), 800);

function broken(): never {
  throw Object.assign(new TypeError("it is not a function"), code === undefined ? {} : { code });
}

const clock = systemClock;
const logger = silentLogger();
const times = { shortestRetryMs: 100, longestRetryMs: 100, longestAgeMs: 60_000, stopWithinMs: 100 };

if (where === "alerts") {
  const outbox = new Proxy({} as AlertOutbox, { get: () => broken });
  const deliver = () => Promise.reject(new Error("nothing to deliver"));
  const deps = { channel: "webhook", outbox, clock, logger, deliver };
  startAlertSender({ ...times, mostAttempts: 9, mostWaiting: 9 }, deps);
} else {
  let readings = Number.POSITIVE_INFINITY;
  const nowUs = () => (readings-- > 0 ? Math.round(clock.monotonicMs() * 1_000) : broken());
  const sharedClock = { bootId: "boot", nowUs };
  const limits = { limitPerSecond: 5, maxQueue: 9, longestWaitMs: 60_000, longestRetryAfterMs: 60_000 };
  const limiter = createRateLimiter(
    { file, baseUrl: "http://127.0.0.1:1/", apiKey: undefined, ...limits },
    { clock, sharedClock, logger },
  );
  // The file is asked with the clock's reading: who waits has read it once before.
  readings = where === "pace" ? 1 : 0;
  if (where === "pace") void limiter.acquire("quote");
  else limiter.observe({ status: 429, header: () => null });
}
