import { type Alert, SUBJECT } from "../domain/run/alert.ts";
import type { Change } from "../ports/changes.ts";
import type { Refusal } from "../ports/lane-event.ts";
import type { LaneHalt } from "../ports/lane-store.ts";
import type { QuestionKind } from "../ports/questions.ts";
import type { Unit } from "../ports/unit-of-work.ts";
import type { EngineDeps } from "./engine-context.ts";

/** What alerts are written and logged with. */
export type AlertDeps = Pick<EngineDeps, "store" | "ids" | "clock" | "notifier">;

/** An alert that was written down now, with the run it belongs to. */
export interface RaisedAlert extends Alert {
  readonly strategy: string | undefined;
  readonly runId: string | undefined;
}

/** An alert as it is to be written down. */
export function raiseChange(
  { ids, clock }: Pick<AlertDeps, "ids" | "clock">,
  alert: Alert,
  run: { readonly strategy?: string; readonly runId?: string } = {},
): Extract<Change, { kind: "alert" }> {
  const { strategy, runId } = run;
  return { kind: "alert", alert: { ...alert, strategy, runId, id: ids.newId("alert"), atMs: clock.nowMs() } };
}

/** Writes changes that depend on no row, and reports the alerts and messages among them that are new. */
export async function writeAndNotify(
  deps: Pick<AlertDeps, "store" | "clock" | "notifier">,
  changes: readonly Change[],
): Promise<void> {
  const atMs = deps.clock.nowMs();
  const question = { kind: "nothing" } as const;
  await commitAndNotify(deps, { question, decide: () => ({ changes, atMs, value: undefined }) });
}

/** Carries one unit out, and reports the alerts and messages that are new. @returns what was decided */
export async function commitAndNotify<K extends QuestionKind, T>(
  deps: Pick<AlertDeps, "store" | "notifier">,
  unit: Unit<K, T>,
): Promise<T> {
  const [written] = await deps.store.commit([unit]);
  if (written === undefined) throw new Error("a unit of work came to nothing");
  notifyOfAlerts(deps, written.alerts);
  return written.value;
}

/** Reports alerts that are committed. */
export function notifyOfAlerts({ notifier }: Pick<AlertDeps, "notifier">, alerts: readonly RaisedAlert[]): void {
  for (const { severity, code, text, subject, strategy, runId } of alerts) {
    const run = { ...(strategy === undefined ? {} : { strategy }), ...(runId === undefined ? {} : { runId }) };
    notifier.notify({ severity, code, text, fields: { subject, ...run } });
  }
}

/** What a person is told of an account that is halted. */
export function haltChange(deps: Pick<AlertDeps, "ids" | "clock">, { account, reason }: LaneHalt): Change {
  const text = `${account} is halted and signs nothing: ${reason}. Find out who it was and stop them, then: swapd resume`;
  return raiseChange(deps, { severity: "critical", code: "ACCOUNT_HALTED", subject: SUBJECT.account(account), text });
}

/** The alert about a transaction that no node takes, and its end. */
export function refusalChange(deps: Pick<AlertDeps, "ids" | "clock">, { intentId, detail }: Refusal): Change {
  const subject = SUBJECT.transaction(intentId);
  if (detail === undefined) return { kind: "alerts-over", subject };
  return raiseChange(deps, { severity: "warning", code: "TRANSACTION_REFUSED", subject, text: detail });
}
