/** Where a pass over old runs has come to. */
export interface RetentionPlace {
  readonly endedAtMs: number;
  readonly runId: string;
}

/** One turn of such a pass. Instants are Unix milliseconds. */
export interface RetentionTurn {
  /** runs that ended before it and signed nothing become gaps */
  readonly unsignedBeforeMs: number;
  /** what is written now is written at this instant */
  readonly nowMs: number;
  /** the last run that was looked at; undefined begins with the oldest */
  readonly after: RetentionPlace | undefined;
  /** Asked after each run: false ends the turn. */
  mayGoOn(): boolean;
}

/** What came of a turn. */
export interface RetentionResult {
  /** runs that became gaps */
  readonly pruned: number;
  /** the last run that was looked at; undefined: no older one is left */
  readonly last: RetentionPlace | undefined;
}

/** Rows that nobody needs any more. */
export interface RetentionStore {
  /**
   * Looks at some of the oldest runs, in one transaction. One that signed nothing goes with all that belongs to it, and its
   * slot stays as a gap, together with equal ends right before it. What is open, or has anything to be done, stays.
   */
  letGo(turn: RetentionTurn): RetentionResult;
}
