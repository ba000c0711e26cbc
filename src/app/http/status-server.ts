import { createServer } from "node:http";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import { createConnections } from "../../service/http/connections.ts";
import { API_PREFIX, createApi } from "./api/api.ts";
import type { ApiSources } from "./api/api-sources.ts";
import { onceInAWhile } from "./api/once-in-a-while.ts";
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
  readonly clock: Clock;
  /** undefined: there is no API */
  readonly api?: ApiSources | undefined;
}

export interface StatusOptions {
  readonly host: string;
  readonly port: number;
  /** names that callers may know this server by, besides addresses, `localhost` and this machine's own */
  readonly names: readonly string[];
}

/** Connections of people, screens and a Prometheus are few, also where a proxy brings all of them from one address. */
const CONNECTION_LIMITS = { total: 1_024, perAddress: 128, newPerSecond: 256 };
const REQUEST_TIMEOUT_MS = 10_000;
/** What anybody may ask is read from the database at most so often, however many ask. */
const READ_EVERY_MS = 1_000;

/**
 * Serves health, readiness and metrics to whoever asks, and the API to those that have a token or are logged in. A foreign
 * web page can send a browser here under a name of its own; so callers must use an address, or a name on a list.
 */
export async function startStatusServer(
  options: StatusOptions,
  sources: StatusSources,
): Promise<{ url: string; stop(): Promise<void> }> {
  const server = boundedServer(sources);
  // Only JSON is read: a form of another site's page can send everything else without asking first.
  server.removeContentTypeParser("text/plain");
  checkHosts(server, hostCheck([options.host, ...options.names]));
  server.setErrorHandler(async (error, _request, reply) => {
    const status = statusOf(error);
    if (status >= 500) sources.logger.error({ error }, "a question to the status server could not be answered");
    return await reply.code(status).send({ error: status >= 500 ? "INTERNAL" : "REQUEST_MALFORMED" });
  });
  servePage(server);
  answerAnybody(server, sources);
  if (sources.api !== undefined) await server.register(createApi(sources.api), { prefix: API_PREFIX });
  const url = await server.listen({ host: options.host, port: options.port });
  return { url, stop: async () => await server.close() };
}

/** The daemon trades on the same event loop: whoever reaches the port must not be able to fill it. */
function boundedServer({ clock }: Pick<StatusSources, "clock">): FastifyInstance {
  const connections = createConnections({ clock, trustedProxies: [] }, CONNECTION_LIMITS);
  return Fastify({
    ...{ logger: false, bodyLimit: 1_024, forceCloseConnections: true },
    serverFactory(listener) {
      const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, connections.guard(listener));
      connections.bound(server);
      return server;
    },
  });
}

/** Answers that need neither token nor login. */
function answerAnybody(server: FastifyInstance, { health: reader, metrics, clock }: StatusSources): void {
  const every = { clock, maxAgeMs: READ_EVERY_MS };
  const healthNow = onceInAWhile(() => reader.health(), every);
  const readinessNow = onceInAWhile(() => reader.readiness(), every);
  const metricsNow = onceInAWhile(() => metrics.read(), every);
  server.get("/healthz", { onRequest: refuseOtherSites }, async (_request, reply) => {
    const health = await healthNow();
    return await reply.code(health.healthy ? 200 : 503).send(health);
  });
  server.get("/readyz", { onRequest: refuseOtherSites }, async (_request, reply) => {
    const readiness = await readinessNow();
    return await reply.code(readiness.ready ? 200 : 503).send(readiness);
  });
  server.get("/metrics", { onRequest: refuseOtherSites }, async (_request, reply) => {
    return await reply.type(metrics.contentType).send(await metricsNow());
  });
}

/** A page of another site lets its visitors ask, as often as it likes, for what it cannot read. */
async function refuseOtherSites({ headers }: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (headers["sec-fetch-site"] !== "cross-site") return;
  const message = "this is not answered to a page of another site: open its address by itself";
  await reply.code(403).send({ error: "SITE_FOREIGN", message });
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
