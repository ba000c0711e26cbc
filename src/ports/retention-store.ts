/** Where a pass over old runs has come to. */
export interface RetentionPlace {
  readonly endedAtMs: number;
  readonly runId: string;
}

/** One turn of such a pass. Instants are Unix milliseconds. */
export interface RetentionSlice {
  /** runs that ended before it and signed nothing become gaps */
  readonly unsignedBeforeMs: number;
  /** runs that ended before it, and of which all that was signed is settled and expired before it, are archived */
  readonly signedBeforeMs: number;
  /** what is written now is written at this instant */
  readonly nowMs: number;
  /** the last run that was read; undefined begins with the oldest */
  readonly after: RetentionPlace | undefined;
  /** Asked after each run: false ends the turn. */
  mayGoOn(): boolean;
}

/** A run that should go and cannot: its rows contradict one another, or what they would be kept by cannot be read. */
export interface RefusedRun {
  readonly runId: string;
  readonly why: string;
}

/** What came of a turn. */
export interface RetentionResult {
  /** runs that became gaps */
  readonly pruned: number;
  /** runs whose rows became one */
  readonly archived: number;
  /** runs that stay as they are, although they are old: nothing of them was changed */
  readonly refused: readonly RefusedRun[];
  /** the last run that was read; undefined: no older one is left */
  readonly last: RetentionPlace | undefined;
}

/** What came of closing gaps. */
export interface ClosedGaps {
  readonly closed: number;
  /** why none could be; undefined: nothing kept them */
  readonly refused: string | undefined;
}

/** Gaps that nothing was joined to since an instant; where none is idle since the earlier one, nothing is closed yet. */
export interface IdleGaps {
  readonly sinceMs: number;
  readonly atLeastOneSinceMs: number;
}

/** Removes rows that are no longer needed. Each call is one durable transaction. */
export interface RetentionStore {
  /**
   * Handles some of the oldest runs. One that signed nothing goes with all that belongs to it, and its slot stays as a
   * gap, together with equal ends right before it. Of one that signed the run and its swaps stay, and what else there
   * is becomes one compressed row; what its steps saw is forgotten. What is open, or has anything to be done, stays as
   * it is, and so does whatever the newest of an account or of a right is read from.
   * @returns undefined while a difference is open: it is not known what the wallets did, and a row may be what shows it
   */
  letRunsGo(slice: RetentionSlice): Promise<RetentionResult | undefined>;
  /**
   * Closes some of the gaps: from then on they never change, and one that is changed or deleted all the same is noticed.
   * A day's worth is closed at once.
   */
  closeIdleGaps(idle: IdleGaps): Promise<ClosedGaps>;
}
