import { createSecondService } from "../adapters/prices/second-service.ts";
import type { Configuration } from "../config/configuration.ts";
import type { Logger } from "../ports/logger.ts";
import type { Meter } from "../ports/meter.ts";
import type { OutputSource } from "../ports/price-source.ts";
import type { SwapService } from "../ports/swap-service.ts";
import { type Machine, thisMachine } from "./machine.ts";
import type { SecretOpener } from "./open-secrets.ts";
import { connectionOf, type LimitListeners, openSwapService, type ServiceConnection } from "./open-swap-service.ts";

/** The service that quotes, and the second one that its quotes are checked against. */
export interface Services {
  readonly client: SwapService;
  readonly second: OutputSource | undefined;
  giveUp(): void;
  close(): Promise<void>;
}

/**
 * Opens the services that a configuration names.
 * @param listenersTo gives the listeners to a service's limits, by its URL
 */
export function openServices(
  configuration: Configuration,
  serviceUrl: string,
  deps: {
    readonly secrets: SecretOpener;
    readonly logger: Logger;
    readonly machine?: Machine;
    /** undefined: nobody watches from outside */
    readonly meter?: Meter | undefined;
    listenersTo(serviceUrl: string): LimitListeners;
  },
): Services {
  const { secrets, listenersTo } = deps;
  const beside = { logger: deps.logger, machine: deps.machine ?? thisMachine(), meter: deps.meter };
  const first = openSwapService(connectionOf(configuration, serviceUrl, secrets), beside, listenersTo(serviceUrl));
  const connection = secondConnection(configuration, secrets);
  if (connection === undefined) return { ...first, second: undefined };
  const { onHeldBack = () => undefined } = listenersTo(connection.baseUrl);
  const second = openSwapService(connection, beside, { onHeldBack });
  return {
    client: first.client,
    second: createSecondService(second.client, new URL(connection.baseUrl).host),
    giveUp: () => {
      first.giveUp();
      second.giveUp();
    },
    close: async () => {
      await first.close();
      await second.close();
    },
  };
}

/** Its calls are paced in a file of their own: its limits are another operator's. */
function secondConnection(configuration: Configuration, secrets: SecretOpener): ServiceConnection | undefined {
  const { reference, network, database, timing, maxAnswerBytes } = configuration;
  if (reference.service === undefined) return undefined;
  const { profile, url, apiKey } = reference.service;
  return {
    profile,
    baseUrl: url,
    network: network.name,
    chainId: network.chainId,
    apiKey: apiKey === undefined ? undefined : secrets.open(apiKey),
    database: `${database}.reference`,
    timeoutMs: timing.requestTimeoutMs,
    maxRetryAfterMs: timing.maxRetryAfterMs,
    maxCallWaitMs: timing.maxCallWaitMs,
    maxAnswerBytes,
  };
}
