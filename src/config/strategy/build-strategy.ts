import type { StrategySpec } from "../../domain/strategy/spec.ts";
import { checkTradedTokens } from "../build-policy-lists.ts";
import { closest } from "../closest.ts";
import { problemAt, REFUSED } from "../source.ts";
import { FILE_KINDS } from "./kinds.ts";
import type { StrategyFile } from "./scope.ts";

/** A strategy from its file. @returns undefined when something of it is broken; then `file.problems` say what */
export function buildStrategy(file: StrategyFile, id: string): StrategySpec | undefined {
  const { data } = file.source;
  const kind = typeof data === "object" && data !== null && "kind" in data ? data.kind : undefined;
  const before = file.problems.length;
  const spec = buildKind(file, id, kind);
  const { policy, policySource } = file.scope;
  if (spec !== undefined && policy !== undefined && policySource !== undefined) {
    checkTradedTokens(file.source, spec, { tokens: policy.tokens, source: policySource }, file.problems);
  }
  return file.problems.length > before ? undefined : spec;
}

function buildKind(file: StrategyFile, id: string, kind: unknown): StrategySpec | undefined {
  if (typeof kind === "string" && Object.hasOwn(FILE_KINDS, kind)) return FILE_KINDS[kind]?.build(file, id);
  if (kind === REFUSED || file.source.data === REFUSED) return undefined;
  if (Array.isArray(file.source.data)) {
    const message = "the file holds a list, and a strategy is one map of keys";
    file.problems.push(problemAt(file.source, [], message, "give each strategy a file of its own, without the dash"));
    return undefined;
  }
  const kinds = Object.keys(FILE_KINDS);
  const meant = typeof kind === "string" ? closest(kind, kinds) : undefined;
  const message = kind === undefined ? 'the key "kind" is missing' : "is no kind of strategy";
  const suggestion = meant === undefined ? `kinds are ${kinds.join(", ")}` : `did you mean "${meant}"?`;
  file.problems.push(problemAt(file.source, ["kind"], message, suggestion));
  return undefined;
}
