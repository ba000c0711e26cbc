import type { Logger } from "../../ports/logger.ts";
import { type Refusal, refuse } from "../errors/errors.ts";
import { waitFor } from "../time-limit.ts";

/**
 * What the check of an order comes to, or a refusal when the node keeps it waiting. Nothing is written before a check is
 * over, and one that is late is not gone on with: the order is certainly not taken.
 * @param withinMs milliseconds
 */
export async function inTimeOrUntaken<T>(check: Promise<T>, withinMs: number, logger: Logger): Promise<T | Refusal> {
  const done = await waitFor(check, withinMs);
  if (done !== undefined) return done.value;
  check.catch((error: unknown) => logger.warn({ error }, "an order that was refused as late could not be checked"));
  return refuse("CHAIN_UNREACHABLE", { detail: "the node has not answered for too long; the order was not taken" });
}
