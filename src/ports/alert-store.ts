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

/** A channel that people are notified by, as the rows know it: by its name. */
export interface AlertChannel {
  readonly name: string;
  /** the severities of the alerts that it sends; none: it sends messages alone */
  readonly severities: readonly Severity[];
  /** it also sends the end of an alert */
  readonly sendsEnds: boolean;
  /** it also sends messages, whatever their severity; default: true */
  readonly sendsMessages?: boolean;
  /** codes that it sends nothing of; default: none */
  readonly codesOff?: readonly string[];
}

/** Something that waits to be sent by one channel. */
export interface WaitingDelivery {
  /** its own number, in the order of what happened */
  readonly number: number;
  /** that the alert began, or the message; or that the alert is over */
  readonly tells: "begin" | "end";
  readonly alert: AlertRow;
  /** when the alert was over, in Unix milliseconds; undefined while it is true */
  readonly overAtMs: number | undefined;
  /** how often it was tried before */
  readonly attempts: number;
  /** when it may be tried, by the sender's own clock */
  readonly dueAt: number;
}

/** What became of a delivery. */
export interface DeliveryEnd {
  readonly state: "sent" | "given-up";
  readonly outcome: string;
  readonly atMs: number;
}

/**
 * The sender's side of the rows of one channel. Every answer is written down, so a kill at any moment sends again and
 * loses nothing. Instants are by the sender's own clock, which begins anew with each of its lives and which cannot be
 * set.
 */
export interface AlertOutbox {
  /** Makes everything that waits due: what an earlier life put off was put off by another clock. */
  makeAllDue(): Promise<void>;
  /** Makes wait, and due, what is still true and was given up, or was true before the channel was there. */
  waitAgain(): Promise<void>;
  /**
   * Of the oldest of each subject that which may be tried first: what is sent about a subject is sent in its order. Of what
   * may be tried now it is what is critical, and what has to be sent before it; then the oldest.
   * @param onlyCritical nothing but that
   * @param now by the clock of `dueAt`; undefined: the one that may be tried first, critical or not
   */
  next(onlyCritical?: boolean, now?: number): Promise<WaitingDelivery | undefined>;
  /** Counts an attempt, durably, before it is made. */
  beginAttempt(number: number, retryAt: number): Promise<void>;
  /** When a beginning is given up, its end is not sent. */
  finish(number: number, end: DeliveryEnd): Promise<void>;
  noteOutcome(number: number, outcome: string): Promise<void>;
  /** the number of the newest delivery of all channels, zero before the first */
  newestNumber(): Promise<number>;
  /**
   * Gives up deliveries up to a number of what is true no more, and of more than so many the least severe, the oldest
   * first.
   * @returns those that were given up
   */
  giveUp(
    limits: { readonly upToNumber: number; readonly mostWaiting: number },
    atMs: number,
  ): Promise<readonly WaitingDelivery[]>;
}
