import { ChainReadError } from "../domain/chain-read-error.ts";
import type { Reach } from "../engine/reach.ts";
import { type BoundedFetch, FetchError } from "../net/bounded-fetch.ts";
import type { Chain } from "../ports/chain.ts";
import type { ServiceRefusal, SwapService } from "../ports/swap-service.ts";

/** The same chain; whether its newest block can be read is noted. Everybody who works with the chain reads it. */
export function watchChain(chain: Chain, node: Reach): Chain {
  return {
    ...chain,
    latest: async () => {
      try {
        const head = await chain.latest();
        node.answered();
        return head;
      } catch (error) {
        if (error instanceof ChainReadError) node.failed(error.message);
        throw error;
      }
    },
  };
}

/** The same service; whether it answers the calls for quotes and records is noted. */
export function watchService(client: SwapService, service: Reach): SwapService {
  const noted = <T extends object>(answer: T | ServiceRefusal): T | ServiceRefusal => {
    if (isRefusal(answer) && isAway(answer)) service.failed(answer.message);
    else service.answered();
    return answer;
  };
  return {
    ...client,
    quote: async (request) => noted(await client.quote(request)),
    swapRecord: async (query) => noted(await client.swapRecord(query)),
  };
}

function isRefusal(answer: object): answer is ServiceRefusal {
  return "kind" in answer && answer.kind === "refused";
}

/** Without any answer, or with one that says that there is none now. */
function isAway({ status, retryable }: ServiceRefusal): boolean {
  return retryable && (status === undefined || status === 429 || status >= 500);
}

const PROBE = { timeoutMs: 5_000, maxBytes: 65_536 } as const;

/**
 * Asks a service whether it is there, beside its limits: any answer but a server's own fault is one. Once at the start, and
 * while it is away, so that an idle daemon hears of its return.
 */
export async function probeService(url: string, fetch: BoundedFetch, service: Reach): Promise<void> {
  try {
    const { status } = await fetch({ url: `${url.replace(/\/+$/, "")}/health`, ...PROBE });
    if (status < 500) service.answered();
    else service.failed(`the service answered ${status}`);
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    service.failed(error.message);
  }
}
