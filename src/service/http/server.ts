import type { Socket } from "node:net";
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { ZodError } from "zod";
import { RpcError } from "../../net/json-rpc.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import { ERRORS, type ErrorName, type Refusal, refuse } from "../errors.ts";
import type { Answer } from "./answer.ts";
import { ENDPOINTS, type EndpointName } from "./endpoints.ts";
import { createGate, type GateOptions } from "./gate.ts";
import { openApiDocument } from "./openapi.ts";
import { PAGE_HEADERS, readablePage } from "./readable-page.ts";
import { toWireError } from "./wire.ts";

/** An endpoint's work: the query or the body in, the answer or a refusal out. */
export type Handler = (input: unknown) => Promise<Answer | Refusal>;

export type Handlers = Readonly<Record<EndpointName | "health", Handler>>;

const MAX_BODY_BYTES = 64 * 1024;
const MAX_URL_LENGTH = 4_096;
const MAX_HEADER_BYTES = 16 * 1024;
const REQUEST_TIMEOUT_MS = 15_000;
const KEEP_ALIVE_TIMEOUT_MS = 30_000;

/** What the HTTP framework says of requests that reach no handler. */
const FRAMEWORK_ERRORS: Readonly<Record<string, ErrorName>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: "BODY_TOO_LARGE",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "CONTENT_TYPE_UNSUPPORTED",
  FST_ERR_CTP_EMPTY_JSON_BODY: "BODY_MALFORMED",
  FST_ERR_CTP_INVALID_JSON_BODY: "BODY_MALFORMED",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "BODY_MALFORMED",
  FST_ERR_BAD_URL: "REQUEST_MALFORMED",
};

/** Builds the HTTP server of the interface; nothing listens yet. */
export function createServer(
  options: GateOptions,
  dependencies: { handlers: Handlers; clock: Clock; logger: Logger },
): FastifyInstance {
  const { handlers, clock, logger } = dependencies;
  const server = Fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    exposeHeadRoutes: false,
    http: { maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: REQUEST_TIMEOUT_MS },
    clientErrorHandler: answerBrokenRequest,
  });
  // JSON is the one content type of the interface; the framework would also take plain text.
  server.removeContentTypeParser("text/plain");
  const gate = createGate(options, clock);
  for (const [name, endpoint] of Object.entries(ENDPOINTS)) {
    server.route({
      method: endpoint.method,
      url: endpoint.path,
      onRequest: [gate, refuseLongUrl],
      handler: async (request, reply) => {
        const input = endpoint.method === "GET" ? request.query : request.body;
        const result = await handlers[name as EndpointName](input);
        return result.kind === "answer" ? result.body : reply.code(statusOf(result)).send(toWireError(result));
      },
    });
  }
  server.get("/health", async (_request, reply) => {
    const result = await handlers.health(undefined);
    return result.kind === "answer" ? result.body : reply.code(statusOf(result)).send(toWireError(result));
  });
  const document = openApiDocument();
  server.get("/openapi.json", async () => document);
  const page = readablePage(document);
  server.get("/docs", async (_request, reply) => await reply.headers(PAGE_HEADERS).send(page));
  server.setNotFoundHandler(async (_request, reply) => reply.code(404).send(toWireError(refuse("ENDPOINT_UNKNOWN"))));
  server.setErrorHandler<FastifyError>(async (error, request, reply) => {
    const refusal = refusalOf(error);
    if (statusOf(refusal) >= 500) {
      logger.error({ path: request.routeOptions.url, error: error.message }, "a request could not be answered");
    }
    return reply.code(statusOf(refusal)).send(toWireError(refusal));
  });
  return server;
}

/** After the gate: what is refused for its length counts like everything else. */
async function refuseLongUrl(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  if (request.url.length <= MAX_URL_LENGTH) return undefined;
  return reply.code(414).send(toWireError(refuse("URL_TOO_LONG")));
}

function statusOf(refusal: Refusal): number {
  return ERRORS[refusal.error].status;
}

/** Failures behind the interface are told apart here and nowhere else; their texts stay in the log. */
function refusalOf(error: FastifyError | RpcError | ZodError): Refusal {
  if (error instanceof RpcError) return refuse("CHAIN_UNREACHABLE");
  const known = "code" in error && typeof error.code === "string" ? FRAMEWORK_ERRORS[error.code] : undefined;
  if (known !== undefined) return refuse(known);
  // The framework's own parser of JSON bodies throws plain syntax errors.
  if (error instanceof SyntaxError) return refuse("BODY_MALFORMED");
  return refuse("INTERNAL");
}

/** Answers what is no HTTP request at all, before the framework sees it. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  const refusal = refuse(error.code === "HPE_HEADER_OVERFLOW" ? "HEADERS_TOO_LARGE" : "REQUEST_MALFORMED");
  const body = JSON.stringify(toWireError(refusal));
  const status = `HTTP/1.1 ${statusOf(refusal)} Refused`;
  const headers = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close`;
  if (socket.writable) socket.write(`${status}\r\n${headers}\r\n\r\n${body}`);
  socket.destroySoon();
}
