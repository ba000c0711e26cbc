import {
  type FillAnswer,
  type FillQuestion,
  type ForecastSlot,
  type ForecastWorld,
  forecast,
} from "../domain/forecast/forecast.ts";
import { mulDivUp } from "../domain/money/amount.ts";
import { formatPercent } from "../domain/money/fraction.ts";
import type { SwapService } from "../ports/swap-service.ts";

/**
 * Carries a forecast through, with the service's quotes for what each swap would bring. Nothing is signed or sent.
 * @param service undefined when there is none to ask: then nothing would be filled
 */
export async function quoteForecast(
  world: ForecastWorld,
  service: Pick<SwapService, "quote"> | undefined,
): Promise<readonly ForecastSlot[]> {
  const course = forecast(world);
  let step = course.next();
  while (!step.done) step = course.next(await answer(step.value, service));
  return step.value;
}

async function answer(question: FillQuestion, service: Pick<SwapService, "quote"> | undefined): Promise<FillAnswer> {
  if (service === undefined) return { code: "quote_unavailable", detail: "no service was asked" };
  const { spec, swap, amount } = question;
  const quote = await service.quote({
    sell: swap.sell,
    buy: swap.buy,
    amount,
    slippage: spec.limits.slippage,
    owner: spec.wallet.address,
    recipient: spec.recipient,
    gasless: false,
    enableRfq: spec.enableRfq,
    affiliate: spec.affiliate,
  });
  if ("kind" in quote) return { code: quote.code, detail: quote.message };
  const least = swap.floor === undefined ? 0n : mulDivUp(amount, swap.floor.bought, swap.floor.sold);
  if (quote.amountOut < least) {
    return { code: "PRICE_LIMIT_NOT_MET", detail: `value=${quote.amountOut} limit=at least ${least}` };
  }
  if (quote.priceImpact !== undefined && quote.priceImpact > spec.limits.priceImpact) {
    const limit = formatPercent(spec.limits.priceImpact);
    return {
      code: "PRICE_IMPACT_TOO_HIGH",
      detail: `value=${formatPercent(quote.priceImpact)} limit=at most ${limit}`,
    };
  }
  return { bought: quote.amountOut };
}
