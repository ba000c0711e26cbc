import type { ZoneOffsets } from "../domain/schedule/schedule.ts";
import type { Configuration } from "./configuration.ts";
import type { Problem } from "./problem.ts";
import { strategyWarnings } from "./strategy-warnings.ts";
import { unheardWarnings } from "./unheard-warnings.ts";

/** What is allowed but may be a mistake. @param zones absent: nothing is said of quiet hours */
export function warningsOf(configuration: Omit<Configuration, "warnings">, zones?: ZoneOffsets): readonly Problem[] {
  const { strategies, network } = configuration;
  return [...strategyWarnings(strategies, network.wrappedNative), ...unheardWarnings(configuration, zones)];
}
