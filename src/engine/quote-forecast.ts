import {
  type FillAnswer,
  type FillQuestion,
  type ForecastSlot,
  type ForecastWorld,
  forecast,
} from "../domain/forecast/forecast.ts";
import { mulDivUp } from "../domain/money/amount.ts";
import { formatPercent } from "../domain/money/fraction.ts";
import { wantsGasless } from "../domain/run/step-quote.ts";
import type { SwapService } from "../ports/swap-service.ts";

/** Carries a forecast through, with the service's quotes for what each swap would bring. Nothing is signed or sent. */
export async function quoteForecast(
  world: ForecastWorld,
  service: Pick<SwapService, "quote">,
): Promise<readonly ForecastSlot[]> {
  const course = forecast(world);
  let step = course.next();
  while (!step.done) step = course.next(await answer(step.value, service));
  return step.value;
}

async function answer(question: FillQuestion, service: Pick<SwapService, "quote">): Promise<FillAnswer> {
  const { spec, swap, amount } = question;
  const ask = async (gasless: boolean) =>
    await service.quote({
      sell: swap.sell,
      buy: swap.buy,
      amount,
      slippage: spec.limits.slippage,
      owner: spec.wallet.address,
      recipient: spec.recipient,
      gasless,
      enableRfq: spec.enableRfq,
      affiliate: spec.affiliate,
    });
  const first = await ask(wantsGasless({ gasless: spec.gasless, sell: swap.sell }));
  const quote = "kind" in first && spec.gasless === "prefer" ? await ask(false) : first;
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
