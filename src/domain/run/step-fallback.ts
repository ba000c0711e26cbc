import { smaller } from "../money/bigint.ts";
import type { Draft } from "./draft.ts";
import type { Evidence } from "./evidence.ts";
import { LATEST_MS } from "./retry.ts";
import { type Swap, windowEndOf } from "./run.ts";
import { tryAgain } from "./step-quote.ts";

/** Reason of a run that a reorganisation reopened. */
const REOPENED = "reorganised";

/**
 * No private endpoint brought a swap, or its approval, into a block, and an empty transaction has that nonce for good:
 * where the owner allows it the place is tried once more, with an order of its own that everybody may see and that may
 * lose less. It has as long as a swap has: to know that the private one can never happen took the chain its time.
 */
export function tryPublicly(draft: Draft, { id }: Swap, evidence: Evidence): void {
  const ended = draft.swap(id);
  // Where a reorganisation took back what was counted as filled, a person is notified; the strategy has gone on since.
  if (draft.run().state !== "executing" || draft.run().reason === REOPENED) return;
  if (evidence.fallback === undefined || ended.fallback !== undefined) return;
  const { limits, retryForSeconds } = evidence.spec;
  const endedMs = windowEndOf(draft.run(), ended);
  if (evidence.nowMs > endedMs + LATEST_MS) return;
  const windowEndsMs = Math.max(endedMs, evidence.nowMs + retryForSeconds * 1_000);
  const fallback = { slippage: smaller(limits.slippage, evidence.fallback.slippage) };
  const detail = "no private endpoint brought it into a block, and its nonce is used by an empty transaction";
  tryAgain(draft, ended, evidence, { reason: "cancelled", detail, anew: { fallback, windowEndsMs } });
}
