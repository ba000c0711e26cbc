import type { Token } from "../domain/money/token.ts";

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

/** A token that gives no answer is named, so that the node is not blamed, and says nothing against what else is there. */
export function tokenRefuses(what: string, { symbol }: Token, reason: string): Finding {
  const whatToDo = `the token refuses, not the node, and what trades ${symbol} waits for it: check its address, or pause that`;
  return { what, found: `not known of ${symbol}: ${reason}`, whatToDo };
}
