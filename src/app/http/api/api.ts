import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import { takesGzip } from "../takes-gzip.ts";
import { createActionHandlers } from "./action-handlers.ts";
import type { ApiSources } from "./api-sources.ts";
import { assertKey, assertOrigin, assertScope, callerOf } from "./authenticate.ts";
import { createEventRoutes } from "./event-routes.ts";
import type { Asked } from "./handlers.ts";
import { createHistoryHandlers } from "./history-handlers.ts";
import { createMoneyHandlers } from "./money-handlers.ts";
import { openApiDocument } from "./openapi.ts";
import { OPERATIONS, type OperationId } from "./operations.ts";
import { ApiProblem, problemOfStatus, sendProblem } from "./problem.ts";
import { createSessionRoutes } from "./session-routes.ts";
import { createStandingHandlers } from "./standing-handlers.ts";

/** Where the API stands. */
export const API_PREFIX = "/api/v1";

/** Bodies are a few short texts. */
const BODY_LIMIT = 4_096;
const LONGEST_ID = 100;
/** Shorter answers travel in one packet as they are. */
const PACKED_FROM = 1_024;

/** On a thread of its own: a chart has hundreds of kilobytes. */
const pack = promisify(gzip);

type Handler = (asked: Asked<OperationId>) => Promise<unknown>;

/** The API on the daemon's own server: routes, who may use them, and refusals. To be registered under its prefix. */
export function createApi(sources: ApiSources) {
  const handlers = {
    ...createHistoryHandlers(sources),
    ...createStandingHandlers(sources),
    ...createMoneyHandlers(sources),
    ...createActionHandlers(sources),
  } as Partial<Record<OperationId, Handler>>;
  const document = JSON.stringify(openApiDocument());
  return async (server: FastifyInstance): Promise<void> => {
    server.addHook("onRequest", async (request, reply) => {
      hardenAnswer(reply);
      assertOrigin(request);
    });
    server.setErrorHandler(async (error, _request, reply) => await refuse(error, reply, sources));
    server.setNotFoundHandler(async (request, reply) => {
      return await sendProblem(reply, "NOT_FOUND", `there is no ${request.method} ${request.url.split("?")[0]}`);
    });
    server.get("/openapi.json", async (request, reply) => await sendTagged(request, reply, document));
    for (const [id, handler] of Object.entries(handlers)) addRoute(server, id as OperationId, { handler, sources });
    createSessionRoutes(server, sources);
    createEventRoutes(server, sources);
  };
}

/** An answer is data, for nobody but who asked: no browser runs it, frames it, or hands it to another page. */
function hardenAnswer(reply: FastifyReply): void {
  reply.headers({
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "cache-control": "private, no-cache",
  });
}

function addRoute(
  server: FastifyInstance,
  id: OperationId,
  { handler, sources }: { readonly handler: Handler; readonly sources: ApiSources },
): void {
  const operation = OPERATIONS[id];
  const { method, path, scope } = operation;
  const read = async (request: FastifyRequest): Promise<Asked<OperationId>> => {
    const caller = await callerOf(request, sources);
    assertScope(caller, scope);
    if (scope === "operate") assertKey(request);
    const query = "query" in operation ? parse(operation.query, request.query, "the query") : {};
    const body = "body" in operation ? parse(operation.body, request.body, "the body") : undefined;
    return { id: idOf(request), query, body, caller, key: keyOf(request) } as Asked<OperationId>;
  };
  server.route({
    method,
    url: path.replace(/\{(\w+)\}/g, ":$1"),
    bodyLimit: BODY_LIMIT,
    handler: async (request, reply) => {
      const answer = await handler(await read(request));
      return await sendTagged(request, reply, JSON.stringify(answer));
    },
  });
}

function idOf({ params }: FastifyRequest): string {
  const id = (params as { readonly [name: string]: unknown }).id ?? (params as { readonly symbol?: unknown }).symbol;
  if (id === undefined) return "";
  if (typeof id !== "string" || id.length > LONGEST_ID) throw new ApiProblem("NOT_FOUND", "nothing has such a name");
  return id;
}

function keyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers["idempotency-key"];
  return typeof key === "string" ? key : undefined;
}

/** @throws ApiProblem with every problem of what was sent */
function parse(schema: z.ZodType, sent: unknown, what: string): unknown {
  const parsed = schema.safeParse(sent);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || what}: ${message}`);
  throw new ApiProblem("REQUEST_MALFORMED", problems.join("; "));
}

/** What was shown before, and is the same still, is not sent again; what is long is packed. */
async function sendTagged(request: FastifyRequest, reply: FastifyReply, text: string): Promise<FastifyReply> {
  const tag = `"${hash("sha256", text, "base64url").slice(0, 27)}"`;
  if (request.method === "GET") {
    reply.header("etag", tag);
    const known = (request.headers["if-none-match"] ?? "").split(",").map((one) => one.trim().replace(/^W\//, ""));
    if (known.includes(tag)) return await reply.code(304).send();
  }
  reply.type("application/json; charset=utf-8").header("vary", "accept-encoding");
  if (text.length < PACKED_FROM || !takesGzip(request)) return await reply.send(text);
  return await reply.header("content-encoding", "gzip").send(await pack(text));
}

async function refuse(error: unknown, reply: FastifyReply, { logger }: ApiSources): Promise<FastifyReply> {
  if (error instanceof ApiProblem) return await sendProblem(reply, error.code, error.message);
  const status = error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
  const code = problemOfStatus(status);
  if (code !== undefined) return await sendProblem(reply, code, "send what the document of the API describes");
  logger.error({ error }, "a question to the API could not be answered");
  return await sendProblem(reply, "INTERNAL", "the log of the daemon says why");
}
