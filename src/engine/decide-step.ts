import { NO_FAILURES } from "../domain/guard/consequence.ts";
import { SUBJECT } from "../domain/run/alert.ts";
import { type AlertChanges, alertChanges, wantsNothing } from "../domain/run/alert-changes.ts";
import type { StepResult } from "../domain/run/draft.ts";
import type { RunEvent } from "../domain/run/events.ts";
import type { Evidence } from "../domain/run/evidence.ts";
import { type OperatingMode, stricterMode } from "../domain/run/operating-mode.ts";
import type { RunRecord } from "../domain/run/records.ts";
import type { Run, Swap } from "../domain/run/run.ts";
import { endOfRun } from "../domain/run/same-ends.ts";
import { isRunEnd } from "../domain/run/states.ts";
import { step } from "../domain/run/step.ts";
import { formatDuration } from "../domain/time/format-duration.ts";
import { plannedIntent } from "../lane/planned-intent.ts";
import type { Change, StepRows } from "../ports/changes.ts";
import { raiseChange } from "./alerts.ts";
import { type EngineContext, laneOf } from "./engine-context.ts";
import { evidenceOf } from "./gather-evidence.ts";
import { fillMessages } from "./messages.ts";
import { countSlotEnd } from "./same-ends.ts";
import { warningsAfter } from "./true-warnings.ts";

/** What a run was, what happened, and the rows that both are judged with. */
export interface StepInTurn {
  readonly run: Run;
  readonly event: RunEvent;
  readonly rows: StepRows;
  readonly nowMs: number;
}

/** What a step comes to: its result, and everything that follows from it, as changes to write together. */
export interface DecidedStep {
  readonly result: StepResult;
  readonly changes: readonly Change[];
}

/** Decides a step. It reads nothing but what it is given, and writes nothing. */
export function decideStep(context: EngineContext, turn: StepInTurn): DecidedStep {
  const { run, event } = turn;
  const evidence = evidenceOf(context, run, turn);
  const result = step(run, event, evidence);
  const moved: readonly Change[] = [
    { kind: "run", run: result.run, before: run, transitions: result.transitions },
    { kind: "step", runId: run.id, step: { event, evidence } },
  ];
  const said = alertChanges(result);
  const modes = modeChanges(context, turn, result);
  const changes: readonly Change[] = [
    // A check that found nothing new changes nothing: a waiting swap is not written anew every few seconds.
    ...(result.run === run ? [] : moved),
    ...result.records.flatMap((record) => recordChanges(context, result.run, record)),
    ...modes.byStrategy,
    ...(result.effects.length === 0 ? [] : [{ kind: "effects", runId: run.id, effects: result.effects } as const]),
    ...alertsOf(context, result, said),
    ...waitOver(result, evidence),
    ...modes.byPolicy,
  ];
  const ended = endChanges(context, turn, { result, changes });
  return { result, changes: [...changes, ...ended, ...fillMessages(context, result, turn.rows.prices)] };
}

/** Alerts are not records of their own row, and pauses are modes. */
function recordChanges(context: EngineContext, run: Run, record: RunRecord): readonly Change[] {
  if (record.kind === "alert" || record.kind === "pause") return [];
  if (record.kind !== "transaction") return [{ kind: "record", run, record }];
  const { request } = record;
  const { wallet } = swapOfRequest(run, request.id);
  // Without a lane it would never be sent.
  laneOf(context, wallet);
  const of = { account: wallet, chainId: context.settings.chainId };
  return [{ kind: "intent", intent: plannedIntent(of, request, context.deps.clock.nowMs()) }];
}

/** The swap that a transaction belongs to. @throws Error when it is of none: a broken invariant */
export function swapOfRequest(run: Run, requestId: string): Swap {
  const swap = run.swaps.find((candidate) => requestId.startsWith(`${candidate.id}.`));
  if (swap === undefined) throw new Error(`transaction ${requestId} belongs to no swap of run ${run.id}`);
  return swap;
}

/** A price that wavers around a trigger makes no alert of every crossing. */
const SHORTEST_WANT_MS = 10 * 60_000;

function alertsOf(context: EngineContext, result: StepResult, { over, raised }: AlertChanges): readonly Change[] {
  const { strategyId, id } = result.run;
  const raisedUntilMs = context.deps.clock.nowMs() - SHORTEST_WANT_MS;
  return [
    ...over.map((subject) => ({ kind: "alerts-over", subject }) as const),
    ...(wantsNothing(result) ? [{ kind: "wants-over", strategyId, raisedUntilMs } as const] : []),
    // What holds a swap may change while it is unknown.
    ...raised
      .filter(({ code }) => code === "SWAP_UNKNOWN")
      .map((alert) => ({ kind: "alert-reworded", alert }) as const),
    ...raised.map((alert) => raiseChange(context.deps, alert, { strategy: strategyId, runId: id })),
  ];
}

/** What was said of a run that waits for a person is over when it goes on, or ends. */
function waitOver({ run, transitions }: StepResult, { holds }: Evidence): readonly Change[] {
  if (holds === undefined) return [];
  const goesOn = transitions.some(({ subject, to }) => subject === "swap" && (to === "cleared" || to === "skipped"));
  return goesOn || isRunEnd(run.state) ? [{ kind: "alerts-over", subject: SUBJECT.hold(run.id) }] : [];
}

/** What a step makes of its strategy's mode, by the strategy's own rule and by the owner's. */
function modeChanges(
  context: EngineContext,
  { run, rows, nowMs }: StepInTurn,
  result: StepResult,
): { readonly byStrategy: readonly Change[]; readonly byPolicy: readonly Change[] } {
  const scope = run.strategyId;
  let own: OperatingMode = rows.modes.own?.mode ?? "active";
  /** A mode that a person made as strict or stricter stays. */
  const make = (mode: "paused" | "exits-only", setBy: string, reason: string): readonly Change[] => {
    if (stricterMode(own, mode) === own) return [];
    own = mode;
    return [{ kind: "mode", row: { scope, mode, setBy, reason, atMs: nowMs } }];
  };
  const byStrategy = result.records.flatMap((record) =>
    record.kind === "pause" ? make("paused", "strategy", `${record.pause.code}: ${record.pause.detail}`) : [],
  );
  const reason = tooManyFailures(context, { run, rows }, result);
  const paused = reason === undefined ? [] : make("exits-only", "policy", reason);
  if (paused.length === 0) return { byStrategy, byPolicy: [] };
  const text = `${scope} only leaves positions from now on, by the policy: ${reason}; go on with: swapd resume ${scope}`;
  const alert = { severity: "warning", code: "STRATEGY_EXITS_ONLY", subject: SUBJECT.mode(scope), text } as const;
  return { byStrategy, byPolicy: [...paused, raiseChange(context.deps, alert, { strategy: scope, runId: run.id })] };
}

/**
 * The owner's rule: a strategy that fails too often in a while only leaves positions until a person resumes it. A stop
 * goes on: what it costs when it fails is bounded by its own rules, and what it would cost when it does not act is not.
 * Runs that lacked node, service or price are no failures of the strategy.
 */
function tooManyFailures(
  { settings }: EngineContext,
  { run, rows }: Pick<StepInTurn, "run" | "rows">,
  { run: after }: StepResult,
): string | undefined {
  if (after.state !== "failed" || run.state === "failed") return undefined;
  if (NO_FAILURES.includes(after.reason ?? "")) return undefined;
  const { failures, withinSeconds } = settings.policy.pauseAfter;
  const count = rows.failures + 1;
  if (count < failures) return undefined;
  return `${count} failed runs within ${formatDuration(withinSeconds * 1_000)}, the last one: ${after.reason ?? "no reason"}`;
}

/** How many slots in a row ended alike, where the step ends one. */
function endChanges(
  context: EngineContext,
  { run, rows, nowMs }: StepInTurn,
  { result, changes }: { readonly result: StepResult; readonly changes: readonly Change[] },
): readonly Change[] {
  if (!isRunEnd(result.run.state) || isRunEnd(run.state)) return [];
  const { strategyId } = run;
  const warnings = () => warningsAfter(rows.warnings, changes, nowMs);
  return countSlotEnd(context, strategyId, { end: endOfRun(result.run), before: rows.sameEnds, warnings });
}
