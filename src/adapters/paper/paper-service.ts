import { type Ppm, toPpm } from "../../domain/money/fraction.ts";
import { afterImpact, carriedImpact, IMPACT_LASTS_SECONDS, slippageWithImpact } from "../../domain/paper/own-impact.ts";
import type { Clock } from "../../ports/clock.ts";
import type { PaperRows } from "../../ports/paper.ts";
import type { Quote, QuoteRequest, ServiceRefusal, SwapService } from "../../ports/swap-service.ts";

const NO_GASLESS: ServiceRefusal = {
  kind: "refused",
  code: "PAPER_IS_SELF_EXECUTED",
  message: "on paper swaps are filled as own transactions: no relayer can be asked what it would do with an order",
  status: undefined,
  retryable: false,
};

/**
 * The real service for accounts on paper: its quotes know nothing of what own fills on paper moved, which is taken off
 * here. The minimum that a transaction binds is asked for accordingly. Gasless orders are refused, because nothing is signed.
 */
export function createPaperService(
  service: SwapService,
  { rows, clock }: { readonly rows: Pick<PaperRows, "shifts">; readonly clock: Pick<Clock, "nowMs"> },
): SwapService {
  return {
    ...service,
    quote: async (request) => {
      if (request.gasless) return NO_GASLESS;
      const impact = impactOn(request);
      const slippage = slippageWithImpact(request.slippage, impact);
      const quote = await service.quote({ ...request, slippage });
      return "kind" in quote ? quote : withImpact(quote, impact);
    },
    executeSwap: async () => ({ kind: "not-sent", detail: NO_GASLESS.message }),
  };

  function impactOn({ sell, buy }: QuoteRequest): Ppm {
    const nowSeconds = Math.floor(clock.nowMs() / 1_000);
    const pair = { sell: sell.address, buy: buy.address };
    return carriedImpact(rows.shifts(pair, nowSeconds - IMPACT_LASTS_SECONDS), nowSeconds);
  }
}

function withImpact(quote: Quote, impact: Ppm): Quote {
  if (impact === 0n) return quote;
  const { priceImpact } = quote;
  return {
    ...quote,
    amountOut: afterImpact(quote.amountOut, impact),
    priceImpact: priceImpact === undefined ? priceImpact : toPpm(priceImpact + impact),
  };
}
