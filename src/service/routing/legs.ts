import type { Address } from "../../domain/money/address.ts";
import type { PoolState } from "../pools/pool.ts";
import type { Edge } from "./edge.ts";
import { type PlannedLeg, PORTION_ALL } from "./plan.ts";
import type { Flow } from "./split.ts";

/**
 * Writes a flow as legs in their order of execution: token by token, each only when all that reaches it has arrived.
 * A leg takes its portion of what is then left of its token; the last one of a token takes all.
 */
export function toLegs(flow: Flow, from: Address): readonly PlannedLeg[] {
  const legs: PlannedLeg[] = [];
  const waiting = new Set(flow.keys());
  let token: Address | undefined = from;
  while (token !== undefined) {
    const edges = [...waiting].filter((edge) => edge.tokenIn === token);
    legs.push(...legsOf(edges, flow));
    for (const edge of edges) waiting.delete(edge);
    token = [...waiting].find((edge) => ![...waiting].some((other) => other.tokenOut === edge.tokenIn))?.tokenIn;
  }
  if (waiting.size > 0) throw new Error("the flow of a route runs in a circle");
  return legs;
}

function legsOf(edges: readonly Edge[], flow: Flow): readonly PlannedLeg[] {
  const parts = edges.flatMap((edge) =>
    [...(flow.get(edge) ?? [])].map(([index, amount]) => ({ edge, index, amount })),
  );
  let left = parts.reduce((sum, { amount }) => sum + amount, 0n);
  return parts.map(({ edge, index, amount }, place) => {
    const portion = place === parts.length - 1 ? PORTION_ALL : (amount * PORTION_ALL) / left;
    left -= amount;
    const state = edge.start[index] as PoolState;
    return { state, tokenIn: edge.tokenIn, tokenOut: edge.tokenOut, portion };
  });
}
