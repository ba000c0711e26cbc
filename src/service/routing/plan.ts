import type { Address } from "../../domain/money/address.ts";
import type { Pool, PoolState } from "../pools/pool.ts";

/** The portion that means "all of it": shares of a balance are parts of this. */
export const PORTION_ALL = 10n ** 18n;

/** A leg as the settlement contracts take it: a share of what the executor then holds of `tokenIn`. */
export interface PlannedLeg {
  readonly state: PoolState;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly portion: bigint;
}

/** A leg with the amounts that it moves. */
export interface Leg {
  readonly pool: Pool;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly portion: bigint;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
}

export type Performance =
  | { readonly kind: "filled"; readonly legs: readonly Leg[]; readonly amountOut: bigint; readonly gas: bigint }
  /** a pool on the way cannot take its amount */
  | { readonly kind: "short" }
  /** state is missing: load it, then perform again */
  | { readonly kind: "unread"; readonly load: () => Promise<void> };

/**
 * Computes what the executor will do with these legs, in its own order: each leg takes its portion (rounded down) of the
 * balance of its token at that moment; a pool met again is met as the earlier legs left it.
 */
export function performLegs(
  legs: readonly PlannedLeg[],
  trade: { readonly from: Address; readonly to: Address; readonly amountIn: bigint },
): Performance {
  const balances = new Map<Address, bigint>([[trade.from, trade.amountIn]]);
  const changed = new Map<Address, PoolState>();
  const performed: Leg[] = [];
  let gas = 0n;
  for (const { state, tokenIn, tokenOut, portion } of legs) {
    const { pool } = state;
    const held = balances.get(tokenIn) ?? 0n;
    const amountIn = (held * portion) / PORTION_ALL;
    const quote = (changed.get(pool.address) ?? state).quote(tokenIn, amountIn);
    if (quote.kind !== "filled") return quote;
    balances.set(tokenIn, held - amountIn);
    balances.set(tokenOut, (balances.get(tokenOut) ?? 0n) + quote.amountOut);
    changed.set(pool.address, quote.after);
    performed.push({ pool, tokenIn, tokenOut, portion, amountIn, amountOut: quote.amountOut });
    gas += quote.gas;
  }
  return { kind: "filled", legs: performed, amountOut: balances.get(trade.to) ?? 0n, gas };
}
