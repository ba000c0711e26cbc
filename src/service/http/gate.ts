import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../ports/clock.ts";
import { refuse } from "../errors.ts";
import { createFixedWindows, limitHeaders } from "../limits/fixed-windows.ts";
import { toWireError } from "./wire.ts";

export interface GateOptions {
  readonly limits: { readonly keyless: number; readonly keyed: number };
  readonly apiKeys: readonly string[];
}

/** Keys are compared by their digests, whose bytes tell nothing about how close a guess was. */
function digest(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

/**
 * Lets requests of the interface in: counted by API key, else by the caller's address. An unknown key is counted by
 * address too, so that keys cannot be guessed faster than anything else can be asked.
 */
export function createGate(options: GateOptions, clock: Clock) {
  const keys = new Set(options.apiKeys.map(digest));
  const take = createFixedWindows(clock);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const given = request.headers.apikey;
    const key = typeof given === "string" ? digest(given) : undefined;
    const known = key !== undefined && keys.has(key);
    const { keyless, keyed } = options.limits;
    const allowance = known ? take(`key ${key}`, keyed) : take(`address ${request.ip}`, keyless);
    void reply.headers(limitHeaders(allowance));
    if (!allowance.allowed) {
      return reply.code(429).header("Retry-After", "1").send({ message: "API rate limit exceeded" });
    }
    if (given === undefined || known) return undefined;
    return reply.code(401).send(toWireError(refuse("API_KEY_UNKNOWN")));
  };
}
