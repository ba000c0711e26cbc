import type { FastifyInstance } from "fastify";
import { LIMIT_HEADERS } from "../limits/fixed-windows.ts";

const PREFLIGHT = {
  "Access-Control-Allow-Methods": "GET, POST",
  "Access-Control-Allow-Headers": "apikey, content-type",
  "Access-Control-Max-Age": "600",
} as const;

const EXPOSED = [...LIMIT_HEADERS, "Retry-After"].join(", ");

/**
 * Lets pages of these origins read the answers; "*" is every page. Off without origins: then no header says anything, and
 * browsers keep pages of others away. Must come before the gate, whose refusals pages may read too.
 */
export function allowOrigins(server: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  const isOpen = origins.includes("*");
  server.addHook("onRequest", async (request, reply) => {
    const { origin } = request.headers;
    if (!isOpen) reply.header("Vary", "Origin");
    if (origin === undefined || !(isOpen || origins.includes(origin))) return undefined;
    reply.header("Access-Control-Allow-Origin", isOpen ? "*" : origin);
    reply.header("Access-Control-Expose-Headers", EXPOSED);
    return undefined;
  });
}

/** Answers what browsers ask before they send a request of another origin's page. Must come after the gate. */
export function answerPreflights(server: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  server.options("/*", async (_request, reply) => {
    if (reply.hasHeader("Access-Control-Allow-Origin")) reply.headers(PREFLIGHT);
    return reply.code(204).send();
  });
}
