import type { onRequestHookHandler } from "fastify";
import type { Clock } from "../../ports/clock.ts";
import { refuse } from "../errors/errors.ts";
import { digestOf, type KeyStore } from "../keys/key-store.ts";
import { callerOf } from "../limits/caller-address.ts";
import { createFixedWindows, limitHeaders } from "../limits/fixed-windows.ts";
import { toWireError } from "./wire.ts";

export interface GateOptions {
  readonly limits: { readonly keyless: number; readonly keyed: number };
  /** keys that the configuration names, beside those of the database */
  readonly apiKeys: readonly string[];
}

/**
 * Lets requests of the interface in: counted by API key, else by the caller's address. An unknown key is counted by
 * address too, so that keys cannot be guessed faster than anything else can be asked.
 */
export function createGate(
  options: GateOptions,
  { clock, keys }: { clock: Clock; keys: Pick<KeyStore, "find"> },
): onRequestHookHandler {
  const configured = new Set(options.apiKeys.map(digestOf));
  const { keyless, keyed } = options.limits;
  const take = createFixedWindows(clock);

  function limitOf(digest: string): number | undefined {
    if (configured.has(digest)) return keyed;
    const row = keys.find(digest);
    return row === undefined ? undefined : (row.requestsPerSecond ?? keyed);
  }

  return (request, reply, done) => {
    const given = request.headers.apikey;
    const digest = typeof given === "string" ? digestOf(given) : "";
    const limit = digest === "" ? undefined : limitOf(digest);
    const allowance =
      limit === undefined ? take(`address ${callerOf(request.ip)}`, keyless) : take(`key ${digest}`, limit);
    void reply.headers(limitHeaders(allowance));
    if (!allowance.allowed)
      void reply.code(429).header("Retry-After", "1").send({ message: "API rate limit exceeded" });
    else if (given === undefined || limit !== undefined) done();
    else void reply.code(401).send(toWireError(refuse("API_KEY_UNKNOWN")));
  };
}
