/** Instants by which rows go, in milliseconds, and how they are told from those that stay. */
export interface KeepingQuestion {
  readonly unsignedBeforeMs: number;
  readonly signedBeforeMs: number;
}

/** Runs that are over and neither a gap nor archived, by what becomes of them. Instants in milliseconds. */
export interface Keeping {
  /** when the database was made; undefined before its first life */
  readonly madeAtMs: number | undefined;
  /** that signed nothing: each becomes a part of a gap */
  readonly unsigned: KeptRuns;
  /** that signed: each is archived */
  readonly signed: KeptRuns;
}

/** How many runs there are, how many of them are old enough to go, and when the oldest ended that is not. */
export interface KeptRuns {
  readonly count: number;
  readonly old: number;
  readonly nextEndedAtMs: number | undefined;
}
