import type { Address } from "../../domain/money/address.ts";
import type { Curve } from "./curve.ts";
import type { OpenEdge } from "./edge.ts";
import { type PlannedHop, PORTION_ALL } from "./plan.ts";
import { tokenOrder } from "./refine.ts";

/** A double has fewer digits than a portion: the rest are zeros. */
const PORTION_STEPS = 1e15;
const PORTION_STEP = PORTION_ALL / BigInt(PORTION_STEPS);

/**
 * Writes filled edges as hops in their order of execution: token by token, each only when all that reaches it has
 * arrived. A hop takes its portion of what is then left of its token; the last one of a token takes all.
 */
export function toHops(edges: readonly OpenEdge[], from: Address): readonly PlannedHop[] {
  return tokenOrder(edges, from).flatMap((token) => hopsOf(edges.filter((edge) => edge.tokenIn === token)));
}

function hopsOf(edges: readonly OpenEdge[]): readonly PlannedHop[] {
  const parts = edges.flatMap((edge) =>
    edge.amounts.flatMap((amount, index) => (amount > 0 ? [{ edge, curve: edge.curves[index] as Curve, amount }] : [])),
  );
  let left = parts.reduce((sum, { amount }) => sum + amount, 0);
  const hops: PlannedHop[] = [];
  for (const [place, { edge, curve, amount }] of parts.entries()) {
    // Next to a much larger amount the small ones are lost in the sum: what takes all of it is the last one.
    const takesAll = amount >= left || place === parts.length - 1;
    const portion = takesAll ? PORTION_ALL : BigInt(Math.floor((amount / left) * PORTION_STEPS)) * PORTION_STEP;
    left -= amount;
    if (portion === 0n) continue;
    hops.push({ state: curve.pool, tokenIn: edge.tokenIn, tokenOut: edge.tokenOut, portion });
    if (takesAll) break;
  }
  return hops;
}
