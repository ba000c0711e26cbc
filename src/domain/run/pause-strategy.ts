import type { StrategyPause } from "../strategy/decision.ts";
import { SUBJECT } from "./alert.ts";
import type { Draft } from "./draft.ts";

/** Records that the strategy stops itself, and notifies a person, who alone can resume it. */
export function pauseStrategy(draft: Draft, pause: StrategyPause | undefined): void {
  if (pause === undefined) return;
  const { strategyId } = draft.run();
  draft.record({ kind: "pause", pause });
  draft.record({
    kind: "alert",
    severity: pause.code === "completed" ? "info" : "warning",
    code: `strategy_${pause.code}`,
    subject: SUBJECT.mode(strategyId),
    text: `strategy ${strategyId} stopped itself: ${pause.detail}`,
  });
}
