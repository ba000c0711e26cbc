import { formatAmount } from "../money/amount.ts";
import type { Token } from "../money/token.ts";
import type { StrategyCommon } from "./common.ts";
import type { Decision, StrategyView } from "./decision.ts";
import type { StrategyKind } from "./kind.ts";
import { isRecord } from "./memory.ts";

/** Dollar-cost averaging: sells a fixed amount at each slot until the budget is used up. */
export interface DcaSpec extends StrategyCommon {
  readonly kind: "dca";
  readonly sell: { readonly token: Token; readonly raw: bigint };
  readonly buy: Token;
  /** total of the sold token over the strategy's life, in its smallest unit */
  readonly budget: { readonly total: bigint } | undefined;
}

/** A DCA strategy remembers nothing: what it spent is counted from the recorded swaps. */
export interface DcaMemory {
  readonly version: 1;
}

/**
 * Sells a fixed amount at each slot. With a budget the last order is what remains of it; fills and reservations both
 * count as spent, so orders never add up to more than the budget. Too little free balance skips the slot.
 */
function decide(spec: DcaSpec, view: StrategyView, memory: DcaMemory): Decision<DcaMemory> {
  const { token } = spec.sell;
  const spent = view.spent.get(token.address) ?? 0n;
  const remaining = spec.budget === undefined ? spec.sell.raw : spec.budget.total - spent;
  if (spec.budget !== undefined && remaining <= 0n) {
    const detail = `spent ${formatAmount({ token, raw: spent })} of ${formatAmount({ token, raw: spec.budget.total })}`;
    return { memory, outcome: { kind: "skip", reason: "budget_spent", detail } };
  }
  const raw = remaining < spec.sell.raw ? remaining : spec.sell.raw;
  const free = view.free.get(token.address) ?? 0n;
  if (free < raw) {
    const detail = `needs ${formatAmount({ token, raw })}, free are ${formatAmount({ token, raw: free })}`;
    return { memory, outcome: { kind: "skip", reason: "insufficient_balance", detail } };
  }
  const swaps = [{ sell: token, buy: spec.buy, amount: { kind: "fixed", raw } }] as const;
  return { memory, outcome: { kind: "swap", swaps } };
}

/** Dollar-cost averaging. */
export const dca: StrategyKind<DcaSpec, DcaMemory> = {
  initialMemory: () => ({ version: 1 }),
  parseMemory: (json) => (isRecord(json) && json.version === 1 ? { version: 1 } : undefined),
  needs: (spec) => ({ tokens: [spec.sell.token, spec.buy], bars: [], flows: false }),
  isExit: () => false,
  decide,
  onRunEnded: (_spec, memory) => ({ memory }),
  onEdited: (_before, _after, memory) => memory,
};
