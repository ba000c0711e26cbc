import type { OutputSource } from "../../ports/price-source.ts";
import type { SwapService } from "../../ports/swap-service.ts";

/**
 * Another swap service as a reference: what it would give for the very amount, its fees and its impact included. Its quote
 * is only compared; nothing of it is ever signed. It is asked for our own transaction, because a relayer's fee is no part
 * of a price.
 * @param host where it is, for people
 */
export function createSecondService(service: Pick<SwapService, "quote">, host: string): OutputSource {
  return {
    output: async (request) => {
      const quote = await service.quote({ ...request, gasless: false, enableRfq: false, affiliate: undefined });
      if (!("kind" in quote)) {
        if (quote.amountOut > 0n) return { amountOut: quote.amountOut, source: host };
        return { missing: "invalid", detail: `${host} quotes an output of ${quote.amountOut}` };
      }
      return { missing: "unreachable", detail: `${host} gives no quote: ${quote.code}: ${quote.message}` };
    },
  };
}
