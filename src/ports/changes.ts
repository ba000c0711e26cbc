import type { EffectRequest } from "../domain/run/effects.ts";
import type { LedgerEvidence } from "../domain/run/evidence.ts";
import type { Hold, HoldAnswer } from "../domain/run/hold.ts";
import type { ModeRow } from "../domain/run/operating-mode.ts";
import type { PriceEvidence, RunRecord, Transition } from "../domain/run/records.ts";
import type { StepInput } from "../domain/run/replay.ts";
import type { Run } from "../domain/run/run.ts";
import type { SameEnds } from "../domain/run/same-ends.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import type { AlertRow, TrueWarning } from "./alert-store.ts";
import type { LotOrder } from "./book-rows.ts";
import type { GapRow, OperatorRequest, StrategyRow } from "./daemon-rows.ts";
import type { LaneChange } from "./lane-changes.ts";
import type { LaneHalt } from "./lane-store.ts";
import type { ReconciliationChange } from "./reconciliation-questions.ts";
import type { Difference } from "./reconciliation-store.ts";
import type { WatchChange } from "./watch-questions.ts";

/** Something that is to be written. Plain data: what is decided is a list of these, written together or not at all. */
export type Change =
  | LaneChange
  | ReconciliationChange
  | WatchChange
  /** the run as it is now, with the moves that led there from what it was */
  | { readonly kind: "run"; readonly run: Run; readonly before: Run; readonly transitions: readonly Transition[] }
  /** what a step was taken from, so that it can be taken again */
  | { readonly kind: "step"; readonly runId: string; readonly step: StepInput }
  | { readonly kind: "record"; readonly run: Run; readonly record: RunRecord }
  | { readonly kind: "effects"; readonly runId: string; readonly effects: readonly EffectRequest[] }
  | { readonly kind: "effect-answered"; readonly effectId: number }
  /** a mode as it is now; what was said of the scope stays true */
  | { readonly kind: "mode-corrected"; readonly row: ModeRow }
  /** a mode; what was said of the scope's mode before is over */
  | { readonly kind: "mode"; readonly row: ModeRow }
  /** an alert, unless its code is true of its subject already; `replaces`: what was said then is over without a word */
  | { readonly kind: "alert"; readonly alert: AlertRow; readonly replaces?: boolean }
  /** an alert that is true already has another reason now: who looks is told that one, and nobody is notified */
  | { readonly kind: "alert-reworded"; readonly alert: Pick<AlertRow, "subject" | "code" | "text"> }
  /** something that happened, unless it was reported before */
  | { readonly kind: "message"; readonly message: AlertRow }
  /** nothing is true of the subject any more */
  | { readonly kind: "alerts-over"; readonly subject: string }
  /**
   * what was said of services, and of signers elsewhere, that are configured no more is over; `hosts` are the services that
   * are, `signed` the wallets whose signer is elsewhere
   */
  | {
      readonly kind: "alerts-of-others-outside-over";
      readonly hosts: readonly string[];
      readonly signed: readonly string[];
    }
  /** a strategy wants nothing now: what kept it from trading, and was said until an instant, is over */
  | { readonly kind: "wants-over"; readonly strategyId: string; readonly raisedUntilMs: number }
  /** a run that is due, unless the strategy has one for this slot */
  | { readonly kind: "run-due"; readonly run: Run }
  /** slots without a run; joined to the strategy's last gap where that ended at an instant for the same reason */
  | { readonly kind: "gap"; readonly gap: GapRow; readonly joinsAtMs: number }
  | { readonly kind: "last-slot"; readonly strategyId: string; readonly lastSlotMs: number }
  | { readonly kind: "strategy"; readonly row: StrategyRow }
  /** a strategy's file is there again, and slots up to an instant have their end */
  | { readonly kind: "come-back"; readonly strategyId: string; readonly lastSlotMs: number }
  /** which strategies have a file: all others are gone */
  | { readonly kind: "files"; readonly strategyIds: readonly string[] }
  /** what was said of strategies that are no more is over, but not of their open runs, swaps and fills, nor of modes */
  | { readonly kind: "alerts-of-others-over"; readonly strategyIds: readonly string[] }
  /** a person took note of what became of a strategy's fills */
  | { readonly kind: "alerts-of-fills-over"; readonly strategyId: string }
  /** a request to the daemon, made now */
  | { readonly kind: "request-made"; readonly request: Omit<OperatorRequest, "id" | "madeAtMs"> }
  | { readonly kind: "request-answered"; readonly requestId: number; readonly answer: string }
  /** which lots the sales of a wallet after it take, for accounts */
  | { readonly kind: "lot-order"; readonly order: Omit<LotOrder, "id"> }
  /** an effect is begun: counted before it is performed */
  | { readonly kind: "effect-begun"; readonly effectId: number }
  /** nothing came of its last beginning: it is to be done again, behind whatever is due by now, or at an instant */
  | { readonly kind: "effect-postponed"; readonly effectId: number; readonly untilMs?: number }
  /** a person answered a run that waits: it goes on now */
  | { readonly kind: "hold-answered"; readonly runId: string; readonly answer: HoldAnswer }
  /** how the strategy's last slots came to nothing in a row; undefined: they did not */
  | { readonly kind: "same-ends"; readonly strategyId: string; readonly ends: SameEnds | undefined };

/** What a step needs to know of the rows, besides its run. Instants in milliseconds. */
export interface StepQuestion {
  /** what was sold since these instants counts for the ceilings of a day and of a month */
  readonly daySinceMs: number;
  readonly monthSinceMs: number;
  /** failed runs that ended from an instant up to another count, without those that ended with one of the reasons */
  readonly failures: { readonly sinceMs: number; readonly untilMs: number; readonly except: readonly string[] };
  /** troubles of all strategies, reported once */
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
  /** what the run waits for, or waited for */
  readonly holds: readonly Hold[];
  readonly isBarred: boolean;
  /** all accounts that are halted now */
  readonly halts: readonly LaneHalt[];
  readonly modes: { readonly global: ModeRow | undefined; readonly own: ModeRow | undefined };
  readonly differences: readonly Difference[];
  /** failed runs of the strategy, this one not included while it is open */
  readonly failures: number;
  readonly sameEnds: SameEnds | undefined;
  /** of the strategy, and those of all strategies */
  readonly warnings: readonly TrueWarning[];
  /** what the event's swap was cleared by; undefined before that, and where the event is of none */
  readonly prices: PriceEvidence | undefined;
}

/** What was decided on rows. */
export interface Decided<T> {
  /** written in their order, all of them or none */
  readonly changes: readonly Change[];
  /** the instant of the changes, in milliseconds */
  readonly atMs: number;
  readonly value: T;
}
