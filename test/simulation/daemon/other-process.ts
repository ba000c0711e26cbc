import { createRateLimiter } from "../../../src/adapters/limiter/rate-limiter.ts";
import { Secret } from "../../../src/net/secret.ts";
import type { Logger } from "../../../src/ports/logger.ts";
import type { VirtualTime } from "../virtual-time.ts";
import type { SimNetwork } from "../world/network.ts";
import { createMachine } from "./machine.ts";
import { SECRETS } from "./workload.ts";

const SERVICE = "https://service.sim";
const TERMS = { limitPerSecond: 200, maxQueue: 10, longestWaitMs: 600_000, longestRetryAfterMs: 86_400_000 };

/** Another process with the same key: it asks the service once, as a command that a person gives does. */
export async function askOnce(parts: {
  time: VirtualTime;
  network: SimNetwork;
  /** the pace that all processes of the key share */
  file: string;
  logger: Logger;
}): Promise<void> {
  const { time, network, file, logger } = parts;
  const random = (): number => 0;
  const outside = { offsetMs: () => 0, tickEveryMs: 1_000, isDead: () => false, at: () => undefined };
  const { clock, sharedClock, fetch } = createMachine({ time, network, random, ...outside });
  const apiKey = new Secret(SECRETS.SIM_API_KEY ?? "");
  const limiter = createRateLimiter(
    { ...TERMS, file, baseUrl: SERVICE, apiKey },
    { clock, sharedClock, logger, random },
  );
  try {
    if ((await limiter.acquire("status")) !== "granted") return;
    const request = { url: `${SERVICE}/user-manager/status-counts`, timeoutMs: 5_000, maxBytes: 10_000 };
    limiter.observe(await fetch(request).catch(() => "lost" as const));
  } finally {
    limiter.close();
  }
}
