import { formatUnits } from "../../../domain/money/amount.ts";
import type { QuoteRequest } from "../../../ports/swap-service.ts";

/** Which names of the interface the client sends; answers are read in both. */
export type Dialect = "seed" | "wire";

/**
 * The query of a quote request. The two dialects count the affiliate's fee in different units: `affiliateFee` 1 is 1 %,
 * `affiliateFeeInPercentage` 0.01 is 1 %. The slippage is a fraction in both.
 */
export function quoteQuery(request: QuoteRequest, network: string, dialect: Dialect): URLSearchParams {
  const query = new URLSearchParams({
    network,
    fromTokenAddress: request.sell.address,
    toTokenAddress: request.buy.address,
    [dialect === "wire" ? "sellAmount" : "amount"]: request.amount.toString(),
    slippage: formatUnits(request.slippage, 6),
    fromAddress: request.owner,
    toAddress: request.recipient,
    gasless: String(request.gasless),
  });
  if (request.enableRfq) query.set("enableRFQ", "true");
  if (request.affiliate !== undefined) {
    const { address, fee } = request.affiliate;
    query.set("affiliateAddress", address);
    if (dialect === "wire") query.set("affiliateFeeInPercentage", formatUnits(fee, 6));
    else query.set("affiliateFee", formatUnits(fee, 4));
  }
  return query;
}

/** The query of a call about one quote. */
export function quoteIdQuery(quoteId: string, name: "quoteId" | "quote-id"): URLSearchParams {
  return new URLSearchParams({ [name]: quoteId });
}
