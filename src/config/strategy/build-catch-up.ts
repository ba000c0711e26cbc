import { type CatchUp, DEFAULT_CATCH_UP } from "../../domain/schedule/catch-up.ts";
import { problemAt, problemAtKey } from "../source.ts";
import type { CommonFields } from "./common-schema.ts";
import type { StrategyFile } from "./scope.ts";

/** What becomes of missed slots. Keys that the policy would not look at are problems, because somebody relies on them. */
export function buildCatchUp(file: StrategyFile, fields: CommonFields["catch_up"]): CatchUp {
  if (fields === undefined) return DEFAULT_CATCH_UP;
  const policy = fields.policy ?? DEFAULT_CATCH_UP.policy;
  const { source, problems } = file;
  const without = (key: "window" | "max_runs" | "max_multiple", needed: string): void => {
    if (fields[key] === undefined) return;
    const message = `means nothing with the policy ${policy}`;
    problems.push(problemAtKey(source, ["catch_up", key], message, `drop the key, or use policy: ${needed}`));
  };
  if (policy === "skip") without("window", "latest");
  if (policy !== "all") without("max_runs", "all");
  if (policy !== "accumulate") without("max_multiple", "accumulate");
  if ((policy === "all" || policy === "accumulate") && fields.window === undefined) {
    const message = `the policy ${policy} needs a window: slots older than it are not caught up`;
    problems.push(problemAt(source, ["catch_up"], message, `for example { policy: ${policy}, window: 2d }`));
  }
  return {
    policy,
    windowSeconds: fields.window,
    maxRuns: fields.max_runs ?? DEFAULT_CATCH_UP.maxRuns,
    maxMultiple: fields.max_multiple ?? DEFAULT_CATCH_UP.maxMultiple,
  };
}
