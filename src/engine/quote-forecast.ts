import { ChainReadError } from "../domain/chain-read-error.ts";
import {
  type FillAnswer,
  type FillQuestion,
  type ForecastSlot,
  type ForecastWorld,
  forecast,
} from "../domain/forecast/forecast.ts";
import { contractsFor } from "../domain/guard/swap-contracts.ts";
import type { UsdPrice } from "../domain/money/price.ts";
import { chainAfter } from "./chain-after.ts";
import { dryRunSwap } from "./dry-run.ts";
import type { EngineContext } from "./engine-context.ts";

/**
 * Carries a forecast through: each swap is quoted and goes through every check as before a signature, on
 * the chain as it is now. Nothing is written, signed or sent.
 */
export async function quoteForecast(context: EngineContext, world: ForecastWorld): Promise<readonly ForecastSlot[]> {
  const course = forecast(world);
  const quoted = withoutPeriods(context);
  let step = course.next();
  while (!step.done) step = course.next(await answer(quoted, step.value));
  return step.value;
}

const NO_CEILING = (10n ** 60n) as UsdPrice;

/** What counts in a period is the forecast's own: it counts at each slot, and the rows only what counts now. */
function withoutPeriods(context: EngineContext): EngineContext {
  const { settings } = context;
  const policy = { ...settings.policy, maxPerDayUsd: NO_CEILING, maxPerMonthUsd: undefined };
  const strategies = settings.strategies.map((loaded) => {
    const { spec } = loaded;
    if (spec.budget?.calendar === undefined) return loaded;
    return { ...loaded, spec: { ...spec, budget: { ...spec.budget, calendar: undefined } } };
  });
  return { ...context, settings: { ...settings, policy, strategies } };
}

/** One swap of which nothing can be said leaves the rest of the forecast as it is. */
function unreadable(error: unknown): { readonly code: "node_unavailable"; readonly detail: string } {
  if (error instanceof ChainReadError) return { code: "node_unavailable", detail: error.message };
  throw error;
}

async function answer(context: EngineContext, question: FillQuestion): Promise<FillAnswer> {
  const after = await chainAfter(context, question).catch(unreadable);
  if ("code" in after) return after;
  const { chain, isAssumed } = after;
  const swap = await dryRunSwap({ ...context, deps: { ...context.deps, chain } }, question);
  const { reason, quote, detail } = swap;
  if (quote !== undefined && (reason === "dry_run" || (isAssumed && reason === "SIMULATION_UNAVAILABLE"))) {
    const { spender } = contractsFor(context.settings, quote);
    return { bought: quote.amountOut, spender, untried: reason === "dry_run" ? undefined : detail };
  }
  return { code: reason ?? swap.state, detail };
}
