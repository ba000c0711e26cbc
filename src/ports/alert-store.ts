import type { Alert } from "../domain/run/alert.ts";

/** An alert as it is written down: `id` is how a receiver knows one that it has already. */
export interface AlertRow extends Alert {
  readonly id: string;
  readonly strategy: string | undefined;
  readonly runId: string | undefined;
  readonly atMs: number;
}

/** Rows of alerts, written in the transaction that makes them true. */
export interface AlertStore {
  /** Writes an alert down. @returns false when the same code is true of the same subject already: then nothing is new */
  raiseAlert(alert: AlertRow): boolean;
  /** Nothing is true of the subject any more; what was not sent yet is sent all the same. */
  endAlerts(subject: string, atMs: number): void;
}

/** An alert that waits to be sent; `attempts` counts how often that was begun before. */
export interface WaitingAlert extends AlertRow {
  readonly attempts: number;
}

/** The sender's side of the rows. Every answer is written down, so a kill at any moment sends again and loses nothing. */
export interface AlertOutbox {
  /** the alert that may be sent now and waited longest for it */
  nextAlert(nowMs: number): WaitingAlert | undefined;
  /** when the next alert may be sent, undefined when none waits */
  nextAlertMs(): number | undefined;
  /** Counts an attempt, durably, before it is made. */
  beginAttempt(id: string, retryAtMs: number): void;
  finishAlert(
    id: string,
    end: { readonly state: "sent" | "given-up"; readonly outcome: string; readonly atMs: number },
  ): void;
  noteOutcome(id: string, outcome: string): void;
  /**
   * Gives up alerts that were raised before an instant, and the oldest ones beyond a number.
   * @returns those that were given up
   */
  giveUp(limits: { readonly raisedBeforeMs: number; readonly mostWaiting: number }, atMs: number): readonly AlertRow[];
}
