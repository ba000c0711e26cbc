import type { FastifyInstance } from "fastify";
import { httpUrl } from "../../net/http-url.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { KeyStore } from "../keys/key-store.ts";
import type { ServiceOptions } from "../options.ts";
import { createHandlers } from "./handlers.ts";
import { createMetrics, startMetricsServer } from "./metrics.ts";
import { createServedNetworks, type ServedNetwork } from "./served-network.ts";
import { createServer } from "./server.ts";
import { createTraffic } from "./traffic.ts";

/** Shorter than the time that supervisors leave between asking and killing. */
const DRAIN_MS = 8_000;

/** What callers reach of the service. */
export interface Front {
  listen(): Promise<{ readonly url: string; readonly metricsUrl: string | undefined }>;
  stop(): Promise<void>;
}

/** Puts the interface and the metrics in front of the served networks; nothing listens yet. */
export function openFront(
  served: readonly ServedNetwork[],
  options: ServiceOptions,
  dependencies: { keys: KeyStore; clock: Clock; logger: Logger },
): Front {
  const traffic = createTraffic();
  const metrics = createMetrics({ networks: served, inFlight: traffic.inFlight });
  const handlers = createHandlers(createServedNetworks(served), dependencies.clock);
  const server = createServer(options, { ...dependencies, handlers, traffic, metrics });
  const stops: (() => Promise<void>)[] = [];
  return {
    async listen() {
      stops.push(() => traffic.drain(server, options.drainMs ?? DRAIN_MS));
      const url = await listen(server, options);
      if (options.metrics === undefined) return { url, metricsUrl: undefined };
      const metricsServer = await startMetricsServer(options.metrics, metrics);
      stops.push(() => metricsServer.stop());
      return { url, metricsUrl: metricsServer.url };
    },
    async stop() {
      for (const stop of stops.splice(0)) await stop();
    },
  };
}

async function listen(server: FastifyInstance, { listen }: ServiceOptions): Promise<string> {
  await server.listen(listen);
  const address = server.server.address();
  const port = address !== null && typeof address === "object" ? address.port : listen.port;
  return httpUrl({ host: listen.host, port });
}
