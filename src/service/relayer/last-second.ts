import type { Quote } from "../quotes/quote.ts";

/** Two blocks of the slowest network, and of a short lifetime a part only. */
const BEFORE_DEADLINE_SECONDS = 24;
const SHARE_OF_LIFETIME = 10;

/**
 * Until when the transaction of a gasless swap is signed for the first time, in Unix seconds. One that is mined after the
 * order's deadline reverts, at the relayer's expense and against the standing of an owner who did nothing.
 */
export function lastSecondToSign({ order, createdAtMs }: Pick<Quote, "order" | "createdAtMs">): number {
  const deadline = Number(order.deadline);
  const lifetime = Math.max(0, deadline - Math.floor(createdAtMs / 1_000));
  return deadline - Math.min(BEFORE_DEADLINE_SECONDS, Math.floor(lifetime / SHARE_OF_LIFETIME));
}
