import { SUBJECT } from "../domain/run/alert.ts";
import type { TrueWarning } from "../ports/alert-store.ts";
import type { Change } from "../ports/changes.ts";

/** The warnings that are true after changes, of a strategy and of all, of those that were true before. */
export function warningsAfter(
  before: readonly TrueWarning[],
  changes: readonly Change[],
  nowMs: number,
): readonly TrueWarning[] {
  let warnings = before;
  for (const change of changes) {
    if (change.kind === "alerts-over") warnings = warnings.filter(({ subject }) => subject !== change.subject);
    if (change.kind === "mode") warnings = warnings.filter(({ subject }) => subject !== SUBJECT.mode(change.row.scope));
    if (change.kind === "wants-over") warnings = warnings.filter((warning) => !isOfWants(warning, change, nowMs));
    if (change.kind === "alert" && change.alert.severity !== "info" && !isTrue(warnings, change.alert)) {
      const { subject, code, severity, strategy, atMs } = change.alert;
      warnings = [...warnings, { subject, code, severity, strategy, raisedAtMs: atMs }];
    }
  }
  return warnings;
}

function isTrue(warnings: readonly TrueWarning[], { subject, code }: Pick<TrueWarning, "subject" | "code">): boolean {
  return warnings.some((warning) => warning.subject === subject && warning.code === code);
}

function isOfWants(
  { subject, strategy, severity, raisedAtMs }: TrueWarning,
  { strategyId, raisedUntilMs }: Extract<Change, { kind: "wants-over" }>,
  nowMs: number,
): boolean {
  if (strategy !== strategyId || severity === "critical") return false;
  // What a clock that ran ahead said is no newer than the rest.
  if (raisedAtMs > raisedUntilMs && raisedAtMs <= nowMs) return false;
  return isOfPair(subject) || subject.startsWith("funds of ");
}

/**
 * Whether people were warned of something that is still true of a strategy, or of one of these subjects. What kept it from
 * trading (a denied pair, missing funds, a missing price) counts from an instant on: it stays open until the strategy gets
 * further than that, which may be never. What a swap brought is not about the next one.
 */
export function isWarnedOf(
  warnings: readonly TrueWarning[],
  known: { readonly strategyId: string; readonly subjects: readonly string[]; readonly hindrancesSinceMs: number },
): boolean {
  return warnings.some(({ subject, strategy, raisedAtMs }) => {
    if (known.subjects.includes(subject)) return true;
    return strategy === known.strategyId && (raisedAtMs >= known.hindrancesSinceMs || !isHindrance(subject));
  });
}

function isHindrance(subject: string): boolean {
  return isOfPair(subject) || ["funds of ", "prices of ", "fill of "].some((start) => subject.startsWith(start));
}

/** As `SUBJECT.pair` writes it. */
function isOfPair(subject: string): boolean {
  return / to .* of /s.test(subject);
}
