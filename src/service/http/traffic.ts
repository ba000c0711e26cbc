import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import { refuse } from "../errors/errors.ts";
import { toWireError } from "./wire.ts";

/** The requests that are being answered. */
export interface Traffic {
  readonly inFlight: () => number;
  /** Takes a request in, or refuses it when there are too many, of all or of one caller, or the service is about to stop. */
  admit(callerOf: CallerOf): onRequestHookHandler;
  /** Takes nothing new, finishes what there is within the time, then cuts what is left. */
  drain(server: FastifyInstance, withinMs: number): Promise<void>;
}

/** Whose request it is. */
type CallerOf = (request: FastifyRequest, reply: FastifyReply) => { readonly name: string; readonly isKeyed: boolean };

/** More than this at once would only wait for each other and for the node. */
const MAX_IN_FLIGHT = 512;

/**
 * Of all requests that may be in work, one part in so many may be one caller's: a body that drips in, an answer that is
 * not read or a slow question holds its place for seconds.
 */
const PARTS = { keyless: 8, keyed: 2 };

export function createTraffic(maxInFlight = MAX_IN_FLIGHT): Traffic {
  let inFlight = 0;
  let isDraining = false;
  const ofCallers = new Map<string, number>();

  function leave(name: string): void {
    inFlight -= 1;
    const left = (ofCallers.get(name) ?? 1) - 1;
    if (left > 0) ofCallers.set(name, left);
    else ofCallers.delete(name);
  }

  return {
    inFlight: () => inFlight,
    admit: (callerOf) => (request, reply, done) => {
      const { name, isKeyed } = callerOf(request, reply);
      const own = ofCallers.get(name) ?? 0;
      const isFull = inFlight >= maxInFlight || own >= Math.ceil(maxInFlight / PARTS[isKeyed ? "keyed" : "keyless"]);
      const error = isDraining ? "STOPPING" : isFull ? "BUSY" : undefined;
      if (error !== undefined) {
        void reply
          .code(503)
          .header("Retry-After", "1")
          .send(toWireError(refuse(error)));
        return;
      }
      inFlight += 1;
      ofCallers.set(name, own + 1);
      // Also when the client goes away before its answer.
      reply.raw.once("close", () => leave(name));
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
