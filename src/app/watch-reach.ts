import { ChainReadError } from "../domain/chain-read-error.ts";
import { isNotForUs, tooOld, wasMade } from "../engine/outside-watch.ts";
import type { Reach } from "../engine/reach.ts";
import type { Chain } from "../ports/chain.ts";
import type { Clock } from "../ports/clock.ts";
import type { ServiceRefusal, SwapService } from "../ports/swap-service.ts";

/** The same chain; whether its newest block can be read, and is new, is noted. Everybody who works with the chain reads it. */
export function watchChain(chain: Chain, node: Reach, clock: Pick<Clock, "nowMs">): Chain {
  return {
    ...chain,
    latest: async () => {
      try {
        const head = await chain.latest();
        const age = tooOld(head, clock.nowMs());
        if (age === undefined) node.answered();
        else node.failed(age);
        return head;
      } catch (error) {
        if (error instanceof ChainReadError) node.failed(error.message);
        throw error;
      }
    },
  };
}

/**
 * The same service; whether it serves us is noted, by the calls for quotes, records and its own counts. The last one is
 * asked now and then while it does not, so that an idle daemon hears of its return.
 */
export function watchService(client: SwapService, service: Reach): SwapService {
  const noted = <T extends object>(answer: T | ServiceRefusal): T | ServiceRefusal => {
    if (!isRefusal(answer)) service.answered();
    else if (isAway(answer) || isNotForUs(answer)) service.failed(`${answer.code}: ${answer.message}`);
    else if (wasMade(answer)) service.answered();
    return answer;
  };
  return {
    ...client,
    quote: async (request) => noted(await client.quote(request)),
    swapRecord: async (query) => noted(await client.swapRecord(query)),
    statusCounts: async (wallet) => noted(await client.statusCounts(wallet)),
  };
}

/**
 * The same listener; a wait that the service asked for, maybe of an earlier life, is an absence that no call would find,
 * and over when it is: nobody may call before.
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

function isRefusal(answer: object): answer is ServiceRefusal {
  return "kind" in answer && answer.kind === "refused";
}

/** Without any answer, or with one that says that there is none now. */
function isAway({ code, status, retryable }: ServiceRefusal): boolean {
  return wasMade({ code }) && retryable && (status === undefined || status === 429 || status >= 500);
}
