import { ChainReadError } from "../domain/chain-read-error.ts";
import { isNotForUs, isRefusal, tooOld, wasMade } from "../engine/outside-watch.ts";
import type { Reach } from "../engine/reach.ts";
import type { Chain } from "../ports/chain.ts";
import type { Clock } from "../ports/clock.ts";
import type { QuoteRequest, ServiceRefusal, SwapService } from "../ports/swap-service.ts";

/**
 * The same chain; whether its newest block can be read, and is new, and its final one can be read, is noted. Everybody who
 * works with the chain reads them.
 */
export function watchChain(chain: Chain, node: Reach, clock: Pick<Clock, "nowMs">): Chain {
  /** why the last final block could not be read: a newest one alone does not end that */
  let unfinal: string | undefined;
  return {
    ...chain,
    latest: async (from) => {
      try {
        const head = await chain.latest(from);
        const age = tooOld(head, clock.nowMs()) ?? unfinal;
        if (age === undefined) node.answered();
        else node.failed(age);
        return head;
      } catch (error) {
        if (error instanceof ChainReadError) node.failed(error.message);
        throw error;
      }
    },
    finalized: async () => {
      try {
        const head = await chain.finalized();
        unfinal = undefined;
        return head;
      } catch (error) {
        if (error instanceof ChainReadError) unfinal = error.message;
        throw error;
      }
    },
  };
}

/**
 * The same service; whether it serves us is noted, by the calls for quotes, records and its own counts. The last one is
 * asked now and then while it does not, so that an idle daemon notices its return. It knows its counts, and what became
 * of swaps, without its chain, so that these end no absence that a quote found: the same quote is asked first then.
 */
export function watchService(client: SwapService, service: Reach): SwapService {
  let refused: QuoteRequest | undefined;
  const noted = <T extends object>(answer: T | ServiceRefusal): T | ServiceRefusal => {
    const serves = !isRefusal(answer) || (!isAway(answer) && !isNotForUs(answer));
    if (!serves) service.failed(`${answer.code}: ${answer.message}`);
    else if (refused === undefined && (!isRefusal(answer) || wasMade(answer))) service.answered();
    return answer;
  };
  const quote = async (request: QuoteRequest): ReturnType<SwapService["quote"]> => {
    const answer = await client.quote(request);
    if (isRefusal(answer) && !wasMade(answer)) return answer;
    refused = isRefusal(answer) && (isAway(answer) || isNotForUs(answer)) ? request : undefined;
    return noted(answer);
  };
  return {
    ...client,
    quote,
    swapRecord: async (query) => noted(await client.swapRecord(query)),
    statusCounts: async (wallet) => {
      const again = refused === undefined ? undefined : await quote(refused);
      if (again !== undefined && isRefusal(again) && refused !== undefined) return again;
      return noted(await client.statusCounts(wallet));
    },
  };
}

/**
 * The same listener; a wait that the service asked for, maybe of an earlier life, is an absence that no call would
 * find, and over when it is: no call is allowed before.
 */
export function alsoAbsent(
  service: Pick<Reach, "answered" | "failed"> | undefined,
  onHeldBack: (untilMs: number | undefined) => void,
): (untilMs: number | undefined) => void {
  return (untilMs) => {
    if (untilMs === undefined) service?.answered();
    else service?.failed(`it asked for no calls until ${new Date(untilMs).toISOString()}`);
    onHeldBack(untilMs);
  };
}

/** Without any answer, or with one that says that there is none now. */
function isAway({ code, status, retryable }: ServiceRefusal): boolean {
  return wasMade({ code }) && retryable && (status === undefined || status === 429 || status >= 500);
}
