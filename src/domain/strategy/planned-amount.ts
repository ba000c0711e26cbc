import { shareDown } from "../money/fraction.ts";
import type { PlannedAmount } from "./decision.ts";

/**
 * How much a planned swap sells now, in the sold token's smallest unit, rounded down.
 * @param proceedsOf what the swap at a position of the run brought, as measured; zero for one that brought nothing
 * @returns undefined when it comes out below the swap's minimum: then the swap is left out
 */
export function resolvePlannedAmount(
  planned: PlannedAmount,
  proceedsOf: (position: number) => bigint,
): bigint | undefined {
  if (planned.kind === "fixed") return planned.raw;
  const available = planned.of.reduce((sum, position) => sum + proceedsOf(position), planned.base);
  if (available <= 0n) return undefined;
  const ours = shareDown(available, planned.share);
  const raw = ours < planned.max ? ours : planned.max;
  return raw < planned.min || raw === 0n ? undefined : raw;
}
