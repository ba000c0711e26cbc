import type { FastifyInstance, onRequestHookHandler } from "fastify";
import { refuse } from "../errors/errors.ts";
import { toWireError } from "./wire.ts";

/** The requests that are being answered. */
export interface Traffic {
  readonly inFlight: () => number;
  /** Takes a request in, or refuses it when there are too many or the service is about to stop. */
  readonly admit: onRequestHookHandler;
  /** Takes nothing new, finishes what there is within the time, then cuts what is left. */
  drain(server: FastifyInstance, withinMs: number): Promise<void>;
}

/** More than this at once would only wait for each other and for the node. */
const MAX_IN_FLIGHT = 512;

export function createTraffic(maxInFlight = MAX_IN_FLIGHT): Traffic {
  let inFlight = 0;
  let isDraining = false;
  return {
    inFlight: () => inFlight,
    admit(_request, reply, done) {
      const error = isDraining ? "STOPPING" : inFlight >= maxInFlight ? "BUSY" : undefined;
      if (error !== undefined) {
        void reply
          .code(503)
          .header("Retry-After", "1")
          .send(toWireError(refuse(error)));
        return;
      }
      inFlight += 1;
      // Also when the client goes away before its answer.
      reply.raw.once("close", () => {
        inFlight -= 1;
      });
      done();
    },
    async drain(server, withinMs) {
      isDraining = true;
      const cut = setTimeout(() => server.server.closeAllConnections(), withinMs);
      await server.close();
      clearTimeout(cut);
    },
  };
}
