import { type BoundedFetch, FetchError } from "../net/bounded-fetch.ts";
import { hostOf } from "../net/secret.ts";
import type { Clock } from "../ports/clock.ts";
import type { Meter, RequestTarget } from "../ports/meter.ts";
import type { RateLimiter } from "../ports/rate-limiter.ts";
import type { Machine } from "./machine.ts";

/** The same machine, whose requests are counted as those to a target. */
export function meteredMachine(machine: Machine, meter: Meter | undefined, to: RequestTarget): Machine {
  return meter === undefined ? machine : { ...machine, fetch: meteredFetch(machine, meter, to) };
}

function meteredFetch({ fetch, clock }: Machine, meter: Meter, to: RequestTarget): BoundedFetch {
  return async (request) => {
    const beganMs = clock.monotonicMs();
    const end = (result: string): void =>
      meter.requested({ to, host: hostOf(request.url), result, ms: clock.monotonicMs() - beganMs });
    try {
      const answer = await fetch(request);
      end(classOfStatus(answer.status));
      return answer;
    } catch (error) {
      end(error instanceof FetchError ? error.kind.replaceAll(" ", "_") : "error");
      throw error;
    }
  };
}

/** 429 is told apart: it says that the limits of both sides disagree. */
function classOfStatus(status: number): string {
  return status === 429 ? "429" : `${Math.floor(status / 100)}xx`;
}

/** The same limiter, whose waits are counted. */
export function meteredLimiter(
  limiter: RateLimiter,
  { meter, clock, host }: { readonly meter: Meter | undefined; readonly clock: Clock; readonly host: string },
): RateLimiter {
  if (meter === undefined) return limiter;
  return {
    ...limiter,
    acquire: async (priority, call) => {
      const beganMs = clock.monotonicMs();
      const permission = await limiter.acquire(priority, call);
      meter.waited({ host, ms: clock.monotonicMs() - beganMs });
      return permission;
    },
  };
}
