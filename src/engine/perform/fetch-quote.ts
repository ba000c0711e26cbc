import { toPpm } from "../../domain/money/fraction.ts";
import type { Effect } from "../../domain/run/effects.ts";
import { type Run, swapOf } from "../../domain/run/run.ts";
import type { QuoteRequest } from "../../ports/swap-service.ts";
import { type EngineContext, strategyOf } from "../engine-context.ts";
import type { EffectAnswer } from "./effect-answer.ts";

/** Asks the service for a firm quote of exactly what the swap wants. */
export async function fetchQuote(
  context: EngineContext,
  run: Run,
  effect: Extract<Effect, { kind: "FetchQuote" }>,
): Promise<EffectAnswer> {
  const { service, store } = context.deps;
  const swap = swapOf(run, effect.swapId);
  const { strategyId } = run;
  const spec = strategyOf(context, strategyId)?.spec ?? (await store.read({ kind: "strategy", strategyId })).spec;
  const request: QuoteRequest = {
    sell: swap.sell,
    buy: swap.buy,
    amount: BigInt(effect.amount),
    slippage: toPpm(BigInt(effect.slippagePpm)),
    owner: swap.wallet,
    recipient: swap.recipient,
    gasless: effect.gasless,
    enableRfq: spec?.enableRfq ?? false,
    affiliate: spec?.affiliate,
  };
  const answer = await service.quote(request);
  if ("kind" in answer) {
    const { code, message, retryable } = answer;
    return { kind: "quote-refused", swapId: swap.id, gasless: effect.gasless, code, message, retryable };
  }
  return {
    kind: "quoted",
    swapId: swap.id,
    gasless: effect.gasless,
    quote: {
      id: answer.id,
      amountOut: answer.amountOut,
      targetAddress: answer.targetAddress,
      ...(answer.spender !== undefined && { spender: answer.spender }),
      expiresAtSeconds: answer.expiresAtSeconds,
      receivedAtMs: answer.receivedAtMs,
      slippagePpm: request.slippage,
      typedData: answer.typedData,
      priceImpactPpm: answer.priceImpact,
    },
  };
}
