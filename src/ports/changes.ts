import type { EffectRequest } from "../domain/run/effects.ts";
import type { LedgerEvidence } from "../domain/run/evidence.ts";
import type { ModeRow } from "../domain/run/operating-mode.ts";
import type { PriceEvidence, RunRecord, Transition } from "../domain/run/records.ts";
import type { StepInput } from "../domain/run/replay.ts";
import type { Run } from "../domain/run/run.ts";
import type { SameEnds } from "../domain/run/same-ends.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import type { AlertRow, TrueWarning } from "./alert-store.ts";
import type { LaneChange } from "./lane-changes.ts";
import type { LaneHalt } from "./lane-store.ts";
import type { Difference } from "./reconciliation-store.ts";

/** Something that is to be written. Plain data: what is decided is a list of these, written together or not at all. */
export type Change =
  /** the run as it is now, with the moves that led there from what it was */
  | { readonly kind: "run"; readonly run: Run; readonly before: Run; readonly transitions: readonly Transition[] }
  /** what a step was taken from, so that it can be taken again */
  | { readonly kind: "step"; readonly runId: string; readonly step: StepInput }
  | { readonly kind: "record"; readonly run: Run; readonly record: RunRecord }
  | { readonly kind: "effects"; readonly runId: string; readonly effects: readonly EffectRequest[] }
  | { readonly kind: "effect-answered"; readonly effectId: number }
  | LaneChange
  /** a mode; what was said of the scope's mode before is over */
  | { readonly kind: "mode"; readonly row: ModeRow }
  /** an alert, unless its code is true of its subject already */
  | { readonly kind: "alert"; readonly alert: AlertRow }
  /** something that happened, unless it was told before */
  | { readonly kind: "message"; readonly message: AlertRow }
  /** nothing is true of the subject any more */
  | { readonly kind: "alerts-over"; readonly subject: string }
  /** a strategy wants nothing now: what kept it from trading, and was said until an instant, is over */
  | { readonly kind: "wants-over"; readonly strategyId: string; readonly raisedUntilMs: number }
  /** how the strategy's last slots ended alike; undefined: they did not */
  | { readonly kind: "same-ends"; readonly strategyId: string; readonly ends: SameEnds | undefined };

/** What a step needs to know of the rows, beside its run. Instants in milliseconds. */
export interface StepQuestion {
  /** what was sold since these instants counts for the ceilings of a day and of a month */
  readonly daySinceMs: number;
  readonly monthSinceMs: number;
  /** failed runs that ended from an instant up to another count, without those that ended with one of the reasons */
  readonly failures: { readonly sinceMs: number; readonly untilMs: number; readonly except: readonly string[] };
  /** troubles of which everybody is warned together */
  readonly everybodys: readonly string[];
}

/** The rows that a step is decided on, read whole in the transaction that writes what it comes to. Plain data. */
export interface StepRows {
  /** the strategy's edition that was loaded last */
  readonly spec: StrategySpec;
  /** the strategy's memory as it is stored now: versioned JSON */
  readonly memory: string;
  /** undefined where the event brings no reading to judge */
  readonly ledger: LedgerEvidence | undefined;
  readonly isBarred: boolean;
  /** all accounts that are halted now */
  readonly halts: readonly LaneHalt[];
  readonly modes: { readonly global: ModeRow | undefined; readonly own: ModeRow | undefined };
  readonly differences: readonly Difference[];
  /** failed runs of the strategy, this one not included while it is open */
  readonly failures: number;
  readonly sameEnds: SameEnds | undefined;
  /** of the strategy, and those that warn everybody */
  readonly warnings: readonly TrueWarning[];
  /** what the event's swap was cleared by; undefined before that, and where the event is of none */
  readonly prices: PriceEvidence | undefined;
}
