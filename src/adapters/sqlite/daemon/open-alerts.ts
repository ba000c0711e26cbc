import type { OpenAlert } from "../../../ports/read-model.ts";
import type { HistoryReader } from "./history-rows.ts";

/** What is true now, what is critical first: a list has an end, and hundreds of warnings must not push it out. */
export function openAlertsOf(history: HistoryReader): readonly OpenAlert[] {
  const critical = history.trueAlerts().map((alert) => ({ severity: "critical" as const, ...alert }));
  return [...critical, ...history.openAlerts().filter(({ severity }) => severity !== "critical")];
}
