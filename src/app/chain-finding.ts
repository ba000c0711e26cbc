/** One thing that was looked up on the chain. `whatToDo` is set when it is not in order. */
export interface ChainFinding {
  readonly what: string;
  readonly found: string;
  readonly whatToDo: string | undefined;
  /** true: it works, and not as well as it could */
  readonly isWarning?: boolean;
}
