/** A critical alert that is still true. */
export interface TrueAlert {
  readonly code: string;
  readonly subject: string;
  readonly text: string;
  readonly strategy: string | null;
  readonly raisedAtMs: number;
}

/** An alert that is still true. */
export interface OpenAlert extends TrueAlert {
  readonly severity: "info" | "warning" | "critical";
}

/** How many alerts of a kind are true. */
export interface AlertCount extends Pick<OpenAlert, "severity" | "code"> {
  readonly count: number;
}
