import type { Run } from "../../domain/run/run.ts";
import { budgetSpans } from "../../domain/strategy/budget.ts";
import { type EngineContext, strategyOf } from "../engine-context.ts";
import type { EffectAnswer } from "./effect-answer.ts";

/**
 * Adds to a reading the bounds of the strategy's budget, by the chain's time: no clock that is set opens a period early.
 * What was sold within them is counted in the commit. Where a period ends in between, it counts from the earlier one on,
 * which is never less.
 */
export async function withBudget(
  context: EngineContext,
  { strategyId }: Run,
  answer: EffectAnswer,
): Promise<EffectAnswer> {
  if (answer.kind !== "facts-read") return answer;
  const { store, zones } = context.deps;
  const loaded = strategyOf(context, strategyId)?.spec;
  const spec = loaded ?? (await store.read({ kind: "strategy", strategyId })).strategy?.spec;
  const budget = budgetSpans(spec?.budget, answer.reading.head.timestampSeconds * 1_000, zones);
  return budget.length === 0 ? answer : { ...answer, reading: { ...answer.reading, budget } };
}
