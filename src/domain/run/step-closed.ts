import { closedNow } from "../strategy/strategy.ts";
import type { Draft } from "./draft.ts";
import type { ClearanceReading } from "./events.ts";
import type { Evidence } from "./evidence.ts";
import { pauseStrategy } from "./pause-strategy.ts";
import { pricesRead } from "./reading-to-facts.ts";
import type { Swap } from "./run.ts";
import { endUnsigned, retryOrEnd } from "./step-quote.ts";

/**
 * Holds the strategy's end and its condition against this moment and its prices: the service may have been away since it was
 * decided, or a person have taken a day to approve it. Where the condition fails it is asked again within the window. What
 * still waits for its approval is not signed anyhow, and ends where nobody gave it; what spends proceeds completes a trade.
 * @returns false where nothing speaks against it
 */
export function isClosed(draft: Draft, swap: Swap, reading: ClearanceReading, evidence: Evidence): boolean {
  if (evidence.holds?.some(({ kind, answer }) => kind === "approval" && answer === undefined)) return false;
  if (swap.planned.kind === "proceeds") return false;
  const { spec, memory, nowMs } = evidence;
  const closed = closedNow(spec, memory, { prices: pricesRead(swap, reading), nowMs });
  if (closed === undefined) return false;
  if (closed.forGood === true) endUnsigned(draft, swap.id, closed);
  else retryOrEnd(draft, swap.id, evidence, closed);
  pauseStrategy(draft, closed.pause);
  return true;
}
