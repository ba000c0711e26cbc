import type { StrategySpec } from "../domain/strategy/spec.ts";
import type { Configuration } from "./configuration.ts";
import type { Problem } from "./problem.ts";
import { problemOf } from "./source.ts";
import { sourceOf } from "./strategy-warnings.ts";

/** What a strategy asks people for, by which alert, and under which key. */
const ASKS = [
  {
    key: "approve_above",
    code: "APPROVAL_NEEDED",
    isAsked: (spec: StrategySpec) => spec.approveAboveUsd !== undefined,
  },
  { key: "announce", code: "SWAP_ANNOUNCED", isAsked: (spec: StrategySpec) => spec.announceSeconds !== undefined },
] as const;

/** Strategies that ask or tell people something before they trade, where no channel would bring it to anybody. */
export function unheardWarnings(
  configuration: Pick<Configuration, "strategies" | "channels" | "notifications">,
): readonly Problem[] {
  const { strategies } = configuration;
  return ASKS.flatMap(({ key, code, isAsked }) => {
    const asking = strategies.filter(({ spec }) => isAsked(spec));
    const [first] = asking;
    if (first === undefined || isSent(code, configuration)) return [];
    const source = sourceOf(first.spec.id, strategies);
    if (source === undefined) return [];
    const others = asking.length > 1 ? ` (and ${asking.length - 1} more)` : "";
    const message = `no channel of alerts sends ${code}, a warning: nobody hears of what ${first.spec.id}${others} asks or announces`;
    return problemOf(source, { path: ["execution", key], message, suggestion: "name a channel under `alerts`" });
  });
}

function isSent(code: string, { channels, notifications }: Pick<Configuration, "channels" | "notifications">): boolean {
  return channels.some(
    ({ severities, events }) =>
      severities.includes("warning") && { ...notifications.events, ...events }[code] !== "off",
  );
}
