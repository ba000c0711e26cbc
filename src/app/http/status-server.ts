import Fastify, { type FastifyInstance } from "fastify";
import type { Logger } from "../../ports/logger.ts";
import { API_PREFIX, createApi } from "./api/api.ts";
import type { ApiSources } from "./api/api-sources.ts";
import { sendProblem } from "./api/problem.ts";
import type { HealthReader } from "./health.ts";
import { hostCheck } from "./known-host.ts";
import type { MetricsReader } from "./metrics.ts";
import { servePage } from "./page-files.ts";

/** What the daemon reports about itself over HTTP. */
export interface StatusSources {
  readonly health: HealthReader;
  readonly metrics: MetricsReader;
  readonly logger: Logger;
  /** undefined: there is no API */
  readonly api?: ApiSources | undefined;
}

export interface StatusOptions {
  readonly host: string;
  readonly port: number;
  /** names that callers may know this server by, besides addresses, `localhost` and this machine's own */
  readonly names: readonly string[];
}

/**
 * Serves health, readiness and metrics to whoever asks, and the API to those that have a token or are logged in. A foreign
 * web page can send a browser here under a name of its own; so callers must use an address, or a name on a list.
 */
export async function startStatusServer(
  options: StatusOptions,
  sources: StatusSources,
): Promise<{ url: string; stop(): Promise<void> }> {
  const server = Fastify({ logger: false, bodyLimit: 1_024, requestTimeout: 10_000, forceCloseConnections: true });
  // Only JSON is read: a form of another site's page can send everything else without asking first.
  server.removeContentTypeParser("text/plain");
  checkHosts(server, hostCheck([options.host, ...options.names]));
  server.setErrorHandler(async (error, _request, reply) => {
    const status = statusOf(error);
    if (status >= 500) sources.logger.error({ error }, "a question to the status server could not be answered");
    return await reply.code(status).send({ error: status >= 500 ? "INTERNAL" : "REQUEST_MALFORMED" });
  });
  servePage(server);
  server.get("/healthz", async (_request, reply) => {
    const health = await sources.health.health();
    return await reply.code(health.healthy ? 200 : 503).send(health);
  });
  server.get("/readyz", async (_request, reply) => {
    const readiness = await sources.health.readiness();
    return await reply.code(readiness.ready ? 200 : 503).send(readiness);
  });
  server.get("/metrics", async (_request, reply) => {
    return await reply.type(sources.metrics.contentType).send(await sources.metrics.read());
  });
  if (sources.api !== undefined) await server.register(createApi(sources.api), { prefix: API_PREFIX });
  const url = await server.listen({ host: options.host, port: options.port });
  return { url, stop: async () => await server.close() };
}

function statusOf(error: unknown): number {
  const code = error instanceof Error && "statusCode" in error ? error.statusCode : undefined;
  return typeof code === "number" && code >= 400 && code < 500 ? code : 500;
}

/** Refuses callers that were sent here under a foreign host name. */
function checkHosts(server: FastifyInstance, isKnown: (header: string | undefined) => boolean): void {
  server.addHook("onRequest", async (request, reply) => {
    if (isKnown(request.headers.host)) return;
    const message = "this name is not one that the daemon is known by: add it to `http.hosts`, or ask by its address";
    if (request.url.startsWith(`${API_PREFIX}/`)) await sendProblem(reply, "HOST_UNKNOWN", message);
    else await reply.code(421).send({ error: "HOST_UNKNOWN", message });
  });
}
