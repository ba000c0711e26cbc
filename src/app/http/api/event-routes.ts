import type { FastifyInstance } from "fastify";
import type { ApiSources } from "./api-sources.ts";
import { assertScope, callerOf } from "./authenticate.ts";
import { follow } from "./event-stream.ts";
import { ApiProblem } from "./problem.ts";

/** Each stream is a connection, and reads rows when something happens. */
const MOST_STREAMS = 32;

/** The events as they happen (Server-Sent Events). */
export function createEventRoutes(server: FastifyInstance, sources: ApiSources): void {
  let open = 0;
  server.get("/events", async (request, reply) => {
    assertScope(await callerOf(request, sources), "read");
    if (open >= MOST_STREAMS) throw new ApiProblem("TOO_MANY", `${open} streams are open; close one of them`);
    const gone = new AbortController();
    request.raw.on("close", () => gone.abort());
    reply.hijack();
    reply.raw.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-accel-buffering": "no",
    });
    open += 1;
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
      open -= 1;
    }
  });
}
