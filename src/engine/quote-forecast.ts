import {
  type FillAnswer,
  type FillQuestion,
  type ForecastSlot,
  type ForecastWorld,
  forecast,
} from "../domain/forecast/forecast.ts";
import { contractsFor } from "../domain/guard/swap-contracts.ts";
import { dryRunSwap } from "./dry-run.ts";
import type { EngineContext } from "./engine-context.ts";

/**
 * Carries a forecast through: each swap is quoted and goes through every check as before a signature, on
 * the chain as it is now. Nothing is written, signed or sent.
 */
export async function quoteForecast(context: EngineContext, world: ForecastWorld): Promise<readonly ForecastSlot[]> {
  const course = forecast(world);
  let step = course.next();
  while (!step.done) step = course.next(await answer(context, step.value));
  return step.value;
}

async function answer(context: EngineContext, question: FillQuestion): Promise<FillAnswer> {
  const swap = await dryRunSwap(context, question);
  if (swap.reason === "dry_run" && swap.quote !== undefined)
    return { bought: swap.quote.amountOut, spender: contractsFor(context.settings, swap.quote).spender };
  return { code: swap.reason ?? swap.state, detail: swap.detail };
}
