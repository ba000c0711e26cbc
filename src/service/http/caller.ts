import type { Refusal } from "../errors/errors.ts";

/** Who asked. */
export interface Caller {
  /** what it is counted by: its key, or its address */
  readonly name: string;
  readonly isKeyed: boolean;
  /** Whether the answer is not waited for any more. */
  isGone(): boolean;
  /**
   * Counts a request that costs more than others as so many, of which one is counted already.
   * @returns why it is not done, if the caller has not so much left in this second
   */
  charge(weight: number): Refusal | undefined;
}
