import { larger, smaller } from "../money/bigint.ts";
import type { StrategyView } from "./decision.ts";
import { type RebalanceMemory, rawIn, withRaw } from "./rebalance-memory.ts";
import { type Mix, rawOf } from "./rebalance-mix.ts";
import type { RebalanceSpec } from "./rebalance-spec.ts";

/**
 * Notes deposits: what a balance rises by beyond what our own swaps did to it. A token's first check only says where it
 * stands, and so does a withdrawal. Of new money only what stands above its token's target waits to be put to work; the
 * rest has its place already.
 */
export function noteDeposits(
  spec: RebalanceSpec,
  view: StrategyView,
  memory: RebalanceMemory,
  mix: Mix,
): RebalanceMemory {
  if (spec.onDeposit === "ignore") return { ...memory, outside: {}, fresh: {} };
  const outside: Record<string, string> = { ...memory.outside };
  let fresh: RebalanceMemory["fresh"] = {};
  for (const { token, gap } of mix.positions) {
    const { address } = token;
    const now = view.outside.get(address);
    const before = memory.outside[address];
    const risen = now === undefined || before === undefined ? 0n : now - BigInt(before);
    if (now !== undefined) outside[address] = now.toString();
    const waiting = rawIn(memory.fresh, address) + larger(risen, 0n);
    const surplus = gap > 0n ? rawOf(mix, token, gap) : 0n;
    fresh = withRaw(fresh, address, smaller(waiting, surplus));
  }
  return { ...memory, outside, fresh };
}
