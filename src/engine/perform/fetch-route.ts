import type { Swap } from "../../domain/run/run.ts";
import type { EngineContext } from "../engine-context.ts";
import type { EffectAnswer } from "./effect-answer.ts";

/** Keeps the route, or the service's own record of a gasless swap, with ours. Hints for people, never evidence. */
export async function fetchRoute(context: EngineContext, swap: Swap, what: "route" | "record"): Promise<EffectAnswer> {
  const { quote } = swap;
  if (quote === undefined) throw new Error(`swap ${swap.id} is signed without a quote`);
  const answer = { kind: "route-read", swapId: swap.id, distributions: undefined, serviceRecord: undefined } as const;
  if (what === "route") {
    const route = await context.deps.service.distributions(quote.id);
    return typeof route === "string" ? { ...answer, distributions: route } : answer;
  }
  const record = await context.deps.service.swapRecord({ quoteId: quote.id, hash: swap.fill?.hash });
  return "raw" in record ? { ...answer, serviceRecord: JSON.stringify(record.raw) } : answer;
}
