import type { Swap } from "../../domain/run/run.ts";
import type { EngineContext } from "../engine-context.ts";
import type { EffectAnswer } from "./effect-answer.ts";

/** Keeps the route and the service's own record of a filled swap beside ours. Hints for people, never evidence. */
export async function fetchRoute(context: EngineContext, swap: Swap): Promise<EffectAnswer> {
  const { service, logger } = context.deps;
  if (swap.quote === undefined) throw new Error(`swap ${swap.id} is filled without a quote`);
  const distributions = await service.distributions(swap.quote.id);
  const record =
    swap.mode === "gasless" ? await service.swapRecord({ quoteId: swap.quote.id, hash: swap.fill?.hash }) : undefined;
  if (typeof distributions !== "string") {
    logger.debug({ swapId: swap.id, code: distributions.code }, "the service did not tell the route of a filled swap");
  }
  return {
    kind: "route-read",
    swapId: swap.id,
    distributions: typeof distributions === "string" ? distributions : undefined,
    serviceRecord: record !== undefined && "raw" in record ? JSON.stringify(record.raw) : undefined,
  };
}
