import { smaller } from "./bigint.ts";

/** How soon a transaction is wanted in a block. */
export type Urgency = "slow" | "normal" | "fast";

/** What is paid on top of the base fee, of what nodes suggest. */
export interface TipRule {
  readonly urgency: Urgency;
  /** wei per gas; undefined: no most */
  readonly maxPriorityFee: bigint | undefined;
}

/** In halves of what nodes suggest. */
const HALVES: Readonly<Record<Urgency, bigint>> = { slow: 1n, normal: 2n, fast: 4n };

/** What is paid on top of the base fee, rounded up: half of one wei would be none. */
export function tipOf({ urgency, maxPriorityFee }: TipRule, suggested: bigint): bigint {
  const wanted = (suggested * HALVES[urgency] + 1n) / 2n;
  return maxPriorityFee === undefined ? wanted : smaller(wanted, maxPriorityFee);
}
