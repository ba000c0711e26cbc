import { systemClock } from "../adapters/clock/system-clock.ts";
import { createRateLimiter } from "../adapters/limiter/rate-limiter.ts";
import { createSwapService } from "../adapters/swap-service/client.ts";
import { SERVICE_PROFILES } from "../adapters/swap-service/profiles/profiles.ts";
import type { Configuration } from "../config/configuration.ts";
import type { Logger } from "../ports/logger.ts";
import type { SwapService } from "../ports/swap-service.ts";
import type { SecretOpener } from "./open-secrets.ts";

/** Calls that may wait for their turn; further ones are told at once. */
const MAX_QUEUE = 10_000;

/** Opens the client of the configured service, with the limiter that all its callers share. */
export function openSwapService(
  configuration: Configuration,
  baseUrl: string,
  deps: { logger: Logger; secrets: SecretOpener },
): { readonly client: SwapService; close(): Promise<void> } {
  const { service, network, timing, database, maxAnswerBytes, serve } = configuration;
  const profile = SERVICE_PROFILES[service.profile];
  const reference = service.apiKey ?? (service.url === "embedded" ? serve.apiKeys[0] : undefined);
  const apiKey = reference === undefined ? undefined : deps.secrets.open(reference);
  const limiter = createRateLimiter(
    {
      file: `${database}.limiter.db`,
      baseUrl,
      apiKey,
      limitPerSecond: apiKey === undefined ? profile.expectedLimits.keyless : profile.expectedLimits.keyed,
      maxQueue: MAX_QUEUE,
    },
    { clock: systemClock, logger: deps.logger },
  );
  const stopping = new AbortController();
  const client = createSwapService(
    {
      profile,
      baseUrl,
      network: network.name,
      apiKey,
      timeoutMs: timing.requestTimeoutMs,
      maxBytes: maxAnswerBytes,
      signal: stopping.signal,
    },
    { limiter, clock: systemClock, logger: deps.logger },
  );
  return {
    client,
    close: async () => {
      stopping.abort();
      limiter.close();
    },
  };
}
