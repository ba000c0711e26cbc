/** One thing that was looked up for `swapd check`. `whatToDo` is set when it is not in order. */
export interface Finding {
  readonly what: string;
  readonly found: string;
  readonly whatToDo: string | undefined;
  /** true: it works, and not as well as it could */
  readonly isWarning?: boolean;
  /** what to type where one command mends it */
  readonly command?: string;
}
