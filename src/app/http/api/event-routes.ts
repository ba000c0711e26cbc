import type { FastifyInstance } from "fastify";
import type { ApiSources } from "./api-sources.ts";
import { assertScope, callerOf } from "./authenticate.ts";
import { follow } from "./event-stream.ts";
import { ApiProblem } from "./problem.ts";

/** Each stream is a connection, and reads rows when something happens. */
const MOST_STREAMS = 32;
/** One who looks on must not take the places of all others. */
const MOST_OF_ONE = 16;

/** The events as they happen (Server-Sent Events). */
export function createEventRoutes(server: FastifyInstance, sources: ApiSources): void {
  const open: number[] = [];
  // Answered like a GET, a HEAD would take a place for as long as its connection stands.
  server.get("/events", { exposeHeadRoute: false }, async (request, reply) => {
    const caller = await callerOf(request, sources);
    assertScope(caller, "read");
    const id = caller?.id ?? 0;
    const own = open.filter((one) => one === id).length;
    if (own >= MOST_OF_ONE || open.length >= MOST_STREAMS)
      throw new ApiProblem("TOO_MANY", `${open.length} streams are open, ${own} of them yours; close one of them`);
    const gone = new AbortController();
    request.raw.on("close", () => gone.abort());
    reply.hijack();
    reply.raw.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-accel-buffering": "no",
    });
    open.push(id);
    const lastId = request.headers["last-event-id"];
    try {
      await follow(sources, {
        stream: reply.raw,
        lastId: typeof lastId === "string" ? lastId : undefined,
        signal: gone.signal,
        isAllowed: async () => (await callerOf(request, sources)) !== undefined,
      });
    } catch (error) {
      sources.logger.error({ error }, "a stream of events ended by a fault");
      reply.raw.destroy();
    } finally {
      open.splice(open.indexOf(id), 1);
    }
  });
}
