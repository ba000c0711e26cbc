import { createServer as createHttpServer } from "node:http";
import type { Socket } from "node:net";
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type onRequestHookHandler,
} from "fastify";
import type { ZodError } from "zod";
import type { RpcError } from "../../chain/json-rpc.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import { ERRORS, type ErrorName, type Refusal, refuse } from "../errors/errors.ts";
import type { KeyStore } from "../keys/key-store.ts";
import { callerOf, networksOf } from "../limits/caller-address.ts";
import { SearchStoppedError } from "../routing/time-slices.ts";
import { ANSWER_WITHIN_MS, waitFor } from "../time-limit.ts";
import type { Answer } from "./answer.ts";
import type { Caller } from "./caller.ts";
import { chainRefusal } from "./chain-refusal.ts";
import { type Connections, createConnections } from "./connections.ts";
import { allowOrigins, answerPreflights } from "./cors.ts";
import { ENDPOINTS, type EndpointName } from "./endpoints.ts";
import { createGate, type Gate, HEALTH_PATH, sendLimited } from "./gate.ts";
import type { GateOptions } from "./key-windows.ts";
import type { Metrics } from "./metrics.ts";
import { addStaticAnswers } from "./static-answers.ts";
import type { Traffic } from "./traffic.ts";
import { toWireError } from "./wire.ts";

/** An endpoint's work: the query or the body in, the answer or a refusal out. */
export type Handler = (input: unknown, caller: Caller) => Promise<Answer | Refusal>;

export type Handlers = Readonly<Record<EndpointName | "health", Handler>>;

const MAX_BODY_BYTES = 64 * 1024;
const MAX_URL_LENGTH = 4_096;
const MAX_HEADER_BYTES = 16 * 1024;
const REQUEST_TIMEOUT_MS = 15_000;
/** Headers fit into one packet: a client that needs longer for them keeps a connection and sends nothing. */
const HEADERS_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_TIMEOUT_MS = 30_000;
/** Also cuts a client that does not read its answer. A quote may take 30 s where its request says so. */
const SILENCE_TIMEOUT_MS = 35_000;
/** Slow requests are checked for this often. */
const CHECKING_INTERVAL_MS = 1_000;

/**
 * What answers in time by itself. A refusal would say of an order that is late that it was not taken, which its intake
 * alone knows; quotes take as long as their request gives them.
 */
const IN_TIME_BY_ITSELF: readonly string[] = ["executeSwap", "quote", "quoteTransaction"] satisfies EndpointName[];

/** What the HTTP framework says of requests that reach no handler. */
const FRAMEWORK_ERRORS: Readonly<Record<string, ErrorName>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: "BODY_TOO_LARGE",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "CONTENT_TYPE_UNSUPPORTED",
  FST_ERR_CTP_EMPTY_JSON_BODY: "BODY_MALFORMED",
  FST_ERR_CTP_INVALID_JSON_BODY: "BODY_MALFORMED",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "BODY_MALFORMED",
  FST_ERR_BAD_URL: "REQUEST_MALFORMED",
};

export interface ServerOptions extends GateOptions {
  /** addresses and networks whose word on the caller's address is taken */
  readonly trustedProxies?: readonly string[];
  /** origins of web pages that may read answers; none: no page of another origin may */
  readonly corsOrigins?: readonly string[];
  /** how long a request may take to arrive */
  readonly requestTimeoutMs?: number;
  /** after how long a caller hears that the node does not answer */
  readonly answerWithinMs?: number;
}

export interface ServerDependencies {
  readonly handlers: Handlers;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly keys: Pick<KeyStore, "find">;
  readonly traffic: Traffic;
  readonly metrics?: Pick<Metrics, "watch">;
}

/** Builds the HTTP server of the interface; nothing listens yet. */
export function createServer(options: ServerOptions, dependencies: ServerDependencies): FastifyInstance {
  const { handlers, traffic, clock } = dependencies;
  const connections = createConnections({ clock, trustedProxies: options.trustedProxies ?? [] });
  const gate = createGate(options, { ...dependencies, connections });
  const server = createBoundedServer(options, { connections, gate });
  dependencies.metrics?.watch(server);
  const origins = options.corsOrigins ?? [];
  allowOrigins(server, origins);
  // JSON is the one content type of the interface; the framework would also take plain text.
  server.removeContentTypeParser("text/plain");
  // For every path, also those that do not exist.
  server.addHook("onRequest", gate.enter);
  answerPreflights(server, origins);
  const admit = traffic.admit(gate.caller);
  const admitSupervisor = traffic.admit((request) => ({ name: `health ${callerOf(request.ip)}`, isKeyed: false }));
  for (const [name, endpoint] of Object.entries(ENDPOINTS)) {
    server.route({
      method: endpoint.method,
      url: endpoint.path,
      onRequest: [refuseLongUrl, admit],
      handler: async (request, reply) => {
        const input = endpoint.method === "GET" ? request.query : request.body;
        const answer = handlers[name as EndpointName](input, gate.caller(request, reply));
        const done = IN_TIME_BY_ITSELF.includes(name)
          ? { value: await answer }
          : await waitFor(answer, options.answerWithinMs ?? ANSWER_WITHIN_MS);
        if (done === undefined) answer.catch((error: unknown) => noteLate(dependencies.logger, endpoint.path, error));
        const result = done?.value ?? refuse("CHAIN_UNREACHABLE", { detail: "the node has not answered for too long" });
        return result.kind === "answer" ? result.body : sendRefusal(reply, result);
      },
    });
  }
  server.get(HEALTH_PATH, { onRequest: admitSupervisor }, async (request, reply) => {
    const result = await handlers.health(undefined, gate.caller(request, reply));
    return result.kind === "answer" ? result.body : sendRefusal(reply, result);
  });
  addStaticAnswers(server);
  server.setNotFoundHandler(async (_request, reply) => reply.code(404).send(toWireError(refuse("ENDPOINT_UNKNOWN"))));
  answerFailures(server, dependencies.logger);
  return server;
}

function createBoundedServer(
  options: ServerOptions,
  { connections, gate }: { connections: Connections; gate: Gate },
): FastifyInstance {
  const { trustedProxies = [], requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  return Fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    exposeHeadRoutes: false,
    trustProxy: trustedProxies.length === 0 ? false : networksOf(trustedProxies),
    // While it stops, requests on open connections get our own answer.
    return503OnClosing: false,
    serverFactory(listener) {
      const bounds = {
        requestTimeout: requestTimeoutMs,
        headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeoutMs),
        keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
        connectionsCheckingInterval: Math.min(CHECKING_INTERVAL_MS, requestTimeoutMs),
        // Node itself would refuse requests without a host, uncounted and with a body that is no JSON.
        requireHostHeader: false,
      };
      const guarded = connections.guard(listener);
      const server = createHttpServer({ maxHeaderSize: MAX_HEADER_BYTES, ...bounds }, guarded);
      // Node itself would refuse such requests, as many as come, before they are counted.
      server.on("checkExpectation", guarded);
      server.setTimeout(SILENCE_TIMEOUT_MS);
      server.on("clientError", answerBrokenRequest);
      connections.bound(server);
      return server;
    },
    // What the framework refuses before it looks for a route; its own answer has another form and repeats the path.
    frameworkErrors(error, request, reply) {
      const answer = () => void sendRefusal(reply, refusalOf(error));
      gate.enter.call(request.server, request, reply, answer);
    },
  });
}

/** Its caller has a refusal already. */
function noteLate(logger: Logger, path: string, error: unknown): void {
  logger.warn({ path, error }, "a request that was refused as late failed");
}

function answerFailures(server: FastifyInstance, logger: Logger): void {
  server.setErrorHandler<FastifyError>(async (error, request, reply) => {
    const refusal = refusalOf(error);
    if (statusOf(refusal) >= 500) {
      logger.error({ path: request.routeOptions.url, error: error.message }, "a request could not be answered");
    }
    return sendRefusal(reply, refusal);
  });
}

function sendRefusal(reply: FastifyReply, refusal: Refusal): FastifyReply {
  if (refusal.error === "RATE_LIMITED") return sendLimited(reply);
  if (refusal.error === "BUSY") void reply.header("Retry-After", "1");
  return reply.code(statusOf(refusal)).send(toWireError(refusal));
}

const refuseLongUrl: onRequestHookHandler = (request, reply, done) => {
  if (request.url.length <= MAX_URL_LENGTH) done();
  else void reply.code(414).send(toWireError(refuse("URL_TOO_LONG")));
};

function statusOf(refusal: Refusal): number {
  return ERRORS[refusal.error].status;
}

/** Failures behind the interface are distinguished here and nowhere else; their texts stay in the log. */
function refusalOf(error: FastifyError | RpcError | ZodError): Refusal {
  const ofChain = chainRefusal(error);
  if (ofChain !== undefined) return ofChain;
  if (error instanceof SearchStoppedError) return refuse(error.error, { detail: error.message });
  const known = "code" in error && typeof error.code === "string" ? FRAMEWORK_ERRORS[error.code] : undefined;
  if (known !== undefined) return refuse(known);
  // The framework's own parser of JSON bodies throws plain syntax errors, marked as the caller's.
  if (error instanceof SyntaxError && "statusCode" in error && error.statusCode === 400)
    return refuse("BODY_MALFORMED");
  return refuse("INTERNAL");
}

/** What Node says of requests that are cut before the framework sees them. */
const BROKEN_REQUESTS: Readonly<Record<string, ErrorName>> = {
  HPE_HEADER_OVERFLOW: "HEADERS_TOO_LARGE",
  ERR_HTTP_REQUEST_TIMEOUT: "REQUEST_TOO_SLOW",
};

/** Answers what is no HTTP request at all, before the framework sees it. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  const refusal = refuse(BROKEN_REQUESTS[error.code ?? ""] ?? "REQUEST_MALFORMED");
  const body = JSON.stringify(toWireError(refusal));
  const status = `HTTP/1.1 ${statusOf(refusal)} Refused`;
  const headers = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close`;
  if (socket.writable) socket.write(`${status}\r\n${headers}\r\n\r\n${body}`);
  socket.destroySoon();
}
