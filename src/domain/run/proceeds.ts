import { describeBoth } from "../money/for-people.ts";
import { resolvePlannedAmount } from "../strategy/planned-amount.ts";
import type { Run, Swap } from "./run.ts";
import { isFilled, isLive } from "./states.ts";

/**
 * What the swap sells by its plan and by what earlier swaps of the run have brought until now, in the smallest unit of the
 * sold token; undefined when that is less than its minimum.
 */
export function plannedSize({ swaps }: Run, { planned }: Swap): bigint | undefined {
  const brought = (position: number): bigint =>
    swaps
      .filter((other) => other.position === position && isFilled(other.state))
      .reduce((sum, other) => sum + (other.fill?.bought ?? 0n), 0n);
  return resolvePlannedAmount(planned, brought);
}

/**
 * The swap whose proceeds this one sells, and which a reorganisation took out of its block: it is not known what it
 * brings.
 */
export function takenBackProceeds({ swaps }: Run, { planned }: Swap): Swap | undefined {
  if (planned.kind !== "proceeds") return undefined;
  return swaps.find(({ position, state }) => planned.of.includes(position) && isLive(state) && !isFilled(state));
}

/**
 * Why a swap that was begun is not signed for the amount that it was sized with: the proceeds that it sells were taken
 * back, or are not what they were. undefined when it may be.
 */
export function proceedsBarred(run: Run, swap: Swap): string | undefined {
  if (swap.planned.kind !== "proceeds") return undefined;
  const takenBack = takenBackProceeds(run, swap);
  if (takenBack !== undefined) return `a reorganisation took back ${takenBack.id}, whose proceeds it sells`;
  const size = plannedSize(run, swap);
  if (size === swap.gross) return undefined;
  const [would, allows] = describeBoth(swap.gross ?? 0n, size ?? 0n, swap.sell);
  return `it would sell ${would}, and what earlier swaps brought allows ${allows}`;
}
