import type { FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import type { Clock } from "../../ports/clock.ts";
import { refuse } from "../errors/errors.ts";
import { digestOf, type KeyStore } from "../keys/key-store.ts";
import { callerOf } from "../limits/caller-address.ts";
import { type Allowance, createFixedWindows, limitHeaders } from "../limits/fixed-windows.ts";
import type { Caller } from "./caller.ts";
import type { Connections } from "./connections.ts";
import { createKeyWindows, type GateOptions } from "./key-windows.ts";
import { toWireError } from "./wire.ts";

/** Lets requests in, on every path there is. */
export interface Gate {
  readonly enter: onRequestHookHandler;
  /** Whose request it is, once it was let in. */
  caller(request: FastifyRequest, reply: FastifyReply): Caller;
}

/** The answer to a caller that has used up its limit: nothing but this, as from the gateways of hosted services. */
const LIMITED = { message: "API rate limit exceeded" } as const;

/**
 * Supervisors share their address with callers and are counted apart: other callers' requests must not make them
 * restart us.
 */
export const HEALTH_PATH = "/health";

/** A refusal is work too: a caller that is refused so often in a second loses its connections, one after the other. */
const MAX_REFUSALS = 500;
const MAX_REFUSALS_PER_LIMIT = 4;

/** Characters of a key's digest that distinguish it where callers are named. */
const NAME_LENGTH = 16;

interface Counted {
  readonly name: string;
  readonly isKeyed: boolean;
  readonly allowance: Allowance;
  /** a key was given that is none */
  readonly isStranger: boolean;
}

/**
 * Counts requests by API key, else by the caller's address. An unknown key is counted by address too, so that keys cannot
 * be guessed faster than anything else can be asked.
 */
export function createGate(
  options: GateOptions,
  dependencies: { clock: Clock; keys: Pick<KeyStore, "find">; connections: Pick<Connections, "cut"> },
): Gate {
  const { clock, connections } = dependencies;
  const { keyless } = options.limits;
  const take = createFixedWindows(clock);
  const takeRefusal = createFixedWindows(clock);
  const takeKey = createKeyWindows(options, { take, keys: dependencies.keys });
  const counted = new WeakMap<FastifyRequest, Counted>();

  function count(request: FastifyRequest): Counted {
    const address = callerOf(request.ip);
    const byAddress = { name: `address ${address}`, isKeyed: false, isStranger: false };
    if (request.routeOptions.url === HEALTH_PATH) {
      return { ...byAddress, allowance: take(`health ${address}`, keyless) };
    }
    const given = request.headers.apikey;
    if (given === undefined) return { ...byAddress, allowance: take(byAddress.name, keyless) };
    const digest = typeof given === "string" && given !== "" ? digestOf(given) : undefined;
    const ofKey = digest === undefined ? undefined : takeKey(digest, address);
    if (ofKey === undefined) return { ...byAddress, allowance: take(byAddress.name, keyless), isStranger: true };
    const { allowance } = ofKey;
    // Who names another key each time is still one caller.
    if (!ofKey.isKnown) return { ...byAddress, allowance };
    return { name: keyName(digest ?? ""), isKeyed: true, allowance, isStranger: false };
  }

  return {
    enter(request, reply, done) {
      const own = count(request);
      const { allowance, name } = own;
      if (!allowance.allowed) {
        const most = Math.max(MAX_REFUSALS, allowance.limit * MAX_REFUSALS_PER_LIMIT);
        if (!takeRefusal(name, most).allowed && connections.cut(request.raw.socket)) return;
        sendLimited(reply.headers(limitHeaders(allowance)));
        return;
      }
      void reply.headers(limitHeaders(allowance));
      if (own.isStranger) {
        void reply.code(401).send(toWireError(refuse("API_KEY_UNKNOWN")));
        return;
      }
      counted.set(request, own);
      done();
    },
    caller(request, reply) {
      const own = counted.get(request);
      if (own === undefined) throw new Error("a request was answered that had not been counted");
      const { name, isKeyed } = own;
      return {
        name,
        isKeyed,
        isGone: () => reply.raw.destroyed,
        charge(weight) {
          const { limit } = own.allowance;
          const more = Math.min(weight, limit) - 1;
          if (more <= 0) return undefined;
          const allowance = take(isKeyed ? windowOf(request) : name, limit, more);
          void reply.headers(limitHeaders(allowance));
          return allowance.allowed ? undefined : refuse("RATE_LIMITED");
        },
      };
    },
  };
}

function windowOf(request: FastifyRequest): string {
  return `key ${digestOf(String(request.headers.apikey))}`;
}

function keyName(digest: string): string {
  return `key ${digest.slice(0, NAME_LENGTH)}`;
}

export function sendLimited(reply: FastifyReply): FastifyReply {
  return reply.code(429).header("Retry-After", "1").send(LIMITED);
}
