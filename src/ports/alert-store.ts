import type { Alert, Severity } from "../domain/run/alert.ts";

/** An alert as it is written down: `id` is how a receiver knows one that it has already. */
export interface AlertRow extends Alert {
  readonly id: string;
  readonly strategy: string | undefined;
  readonly runId: string | undefined;
  readonly atMs: number;
}

/** An alert that warns people and is true now. */
export interface TrueWarning {
  readonly subject: string;
  readonly code: string;
  readonly severity: Severity;
  readonly strategy: string | undefined;
  readonly raisedAtMs: number;
}

/** Rows of alerts, written in the transaction that makes them true. */
export interface AlertStore {
  /** Warnings that are true of a strategy, or of one of the subjects, now. */
  trueWarnings(strategyId: string, subjects: readonly string[]): readonly TrueWarning[];
  /** Nothing is true of the subject any more; what was not sent yet is sent all the same. */
  endAlerts(subject: string, atMs: number): void;
  /** A person took note of what became of a strategy's fills. */
  endAlertsOfFills(strategyId: string, atMs: number): void;
  /** Ends what was said of strategies that are no more, but not of their open runs, swaps and fills, nor of their modes. */
  endAlertsOfOthers(strategyIds: readonly string[], atMs: number): void;
}

/** An alert that waits to be sent; `attempts` counts how often that was begun before. */
export interface WaitingAlert extends AlertRow {
  readonly attempts: number;
}

/**
 * The sender's side of the rows. Every answer is written down, so a kill at any moment sends again and loses nothing.
 * Instants are by the sender's own clock, which begins anew with each of its lives and which nobody sets.
 */
export interface AlertOutbox {
  /** Makes everything that waits due: what an earlier life put off was put off by another clock. */
  makeAllDue(): void;
  /**
   * Makes wait, and due, what is still true and was given up, or had nowhere to go when it was raised.
   * @param minimum the least severity that is sent
   */
  waitAgain(minimum: Severity): void;
  /** the alert that may be sent now and waited longest for it */
  nextAlert(now: number): WaitingAlert | undefined;
  /** when the next alert may be sent, undefined when none waits */
  nextAlertMs(): number | undefined;
  /** Counts an attempt, durably, before it is made. */
  beginAttempt(id: string, retryAt: number): void;
  finishAlert(
    id: string,
    end: { readonly state: "sent" | "given-up"; readonly outcome: string; readonly atMs: number },
  ): void;
  noteOutcome(id: string, outcome: string): void;
  /** the number of the newest alert, zero before the first */
  newestNumber(): number;
  /**
   * Gives up alerts up to a number that are true no more, and of more than so many the least severe, the oldest first.
   * @returns those that were given up
   */
  giveUp(limits: { readonly upToNumber: number; readonly mostWaiting: number }, atMs: number): readonly AlertRow[];
}
