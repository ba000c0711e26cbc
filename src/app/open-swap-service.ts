import { createRateLimiter } from "../adapters/limiter/rate-limiter.ts";
import { serviceKind } from "../adapters/swap-service/services.ts";
import type { Configuration } from "../config/configuration.ts";
import { hostOf, type Secret } from "../net/secret.ts";
import type { Logger } from "../ports/logger.ts";
import type { Meter } from "../ports/meter.ts";
import type { SwapService } from "../ports/swap-service.ts";
import { embeddedKey } from "./embedded-key.ts";
import type { Machine } from "./machine.ts";
import { meteredLimiter, meteredMachine } from "./metered.ts";
import type { SecretOpener } from "./open-secrets.ts";

/** Calls that may wait for their turn; further ones are refused at once. */
const MAX_QUEUE = 10_000;

/** Which service, for which database: all processes on one database pace their calls together. */
export interface ServiceConnection {
  /** the name of its profile */
  readonly profile: string;
  readonly baseUrl: string;
  readonly network: string;
  readonly chainId: number;
  readonly apiKey: Secret | undefined;
  readonly database: string;
  readonly timeoutMs: number;
  readonly maxRetryAfterMs: number;
  readonly maxCallWaitMs: number;
  readonly maxAnswerBytes: number;
}

/** The service that a configuration names. @param baseUrl where it is: as configured, or where the embedded one listens */
export function connectionOf(configuration: Configuration, baseUrl: string, secrets: SecretOpener): ServiceConnection {
  const { service, network, timing, database, maxAnswerBytes, serve } = configuration;
  const isEmbedded = service.url === "embedded";
  const reference = service.apiKey ?? (isEmbedded ? serve.apiKeys[0] : undefined);
  const ownKey = isEmbedded ? embeddedKey() : undefined;
  return {
    profile: service.profile,
    baseUrl,
    network: network.name,
    chainId: network.chainId,
    apiKey: reference === undefined ? ownKey : secrets.open(reference),
    database,
    timeoutMs: timing.requestTimeoutMs,
    maxRetryAfterMs: timing.maxRetryAfterMs,
    maxCallWaitMs: timing.maxCallWaitMs,
    maxAnswerBytes,
  };
}

/** Listeners to what a service says about its limits. */
export interface LimitListeners {
  /** which rate limit it states, with the one that its profile expects */
  readonly onLimit?: (limits: { expected: number; seen: number }) => void;
  /** until when it allows no calls; undefined when that is over */
  readonly onHeldBack?: (untilMs: number | undefined) => void;
}

/** What it is opened with. */
interface Beside {
  readonly logger: Logger;
  readonly machine: Machine;
  /** undefined: nobody watches from outside */
  readonly meter?: Meter | undefined;
}

/**
 * Opens the client of a service, with the limiter that all its callers share. `giveUp` ends the calls under way: what
 * was asked is not answered, and what was submitted is unknown.
 */
export function openSwapService(
  connection: ServiceConnection,
  { logger, machine, meter }: Beside,
  listeners: LimitListeners = {},
): { readonly client: SwapService; giveUp(): void; close(): Promise<void> } {
  const { apiKey, baseUrl, network, chainId, timeoutMs } = connection;
  const { clock, sharedClock, fetch, random } = meteredMachine(machine, meter, "service");
  const { profile, open } = serviceKind(connection.profile);
  const limiter = createRateLimiter(
    {
      file: `${connection.database}.limiter.db`,
      baseUrl,
      apiKey,
      limitPerSecond: apiKey === undefined ? profile.expectedLimits.keyless : profile.expectedLimits.keyed,
      maxQueue: MAX_QUEUE,
      longestWaitMs: connection.maxCallWaitMs,
      longestRetryAfterMs: connection.maxRetryAfterMs,
    },
    { clock, logger, sharedClock, random, ...listeners },
  );
  const stopping = new AbortController();
  const { signal } = stopping;
  const client = open(
    { baseUrl, network, chainId, apiKey, timeoutMs, maxBytes: connection.maxAnswerBytes, signal },
    { limiter: meteredLimiter(limiter, { meter, clock, host: hostOf(baseUrl) }), clock, logger, fetch, random },
  );
  return {
    client,
    giveUp: () => stopping.abort(),
    close: async () => {
      stopping.abort();
      limiter.close();
    },
  };
}
