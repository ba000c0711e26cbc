import type { Address, Hex } from "../../domain/money/address.ts";
import { larger, smaller } from "../../domain/money/bigint.ts";
import { BETWEEN_GAS } from "../gas/hop-gas.ts";
import { kindOf } from "../pools/kinds.ts";
import { feePipsOf, identityOf, type Pool, type PoolState } from "../pools/pool.ts";
import type { SearchBudget, Steps } from "./steps.ts";

/** The portion that means "all of it": shares of a balance are parts of this. */
export const PORTION_ALL = 10n ** 18n;

/** A hop as the settlement contracts take it: a share of what the executor then holds of `tokenIn`. */
export interface PlannedHop {
  readonly state: PoolState;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly portion: bigint;
}

/** A hop with the amounts that it moves. */
export interface Hop {
  readonly pool: Pool;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly portion: bigint;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  /** what of the amount the swap pays, in parts per million; absent: the pool's own fee */
  readonly feePips?: number | undefined;
}

export type Performance =
  | {
      readonly kind: "filled";
      readonly hops: readonly Hop[];
      readonly amountOut: bigint;
      /** of the hops and the tokens between them */
      readonly gas: bigint;
      /** what each hop adds */
      readonly hopGas: readonly bigint[];
    }
  /** a pool on the way cannot take its amount, or what it would take of it is not known */
  | { readonly kind: "short" }
  /** state is missing: load it, then perform again; `key` tells what is read from everything else */
  | { readonly kind: "unread"; readonly key: string; readonly load: () => Promise<void> };

/** What a read of more of a pool in one direction is known by: who waits for it waits for the same one. */
export function readKey(pool: Pool, tokenIn: Address): string {
  return `${identityOf(pool)}${tokenIn}`;
}

/**
 * Computes what the executor will do with these hops, in its own order: each hop takes its portion (rounded down) of the
 * balance of its token at that moment; a pool met again is met as the earlier hops left it, if its fee is known then.
 */
export function* performHops(
  hops: readonly PlannedHop[],
  trade: { readonly from: Address; readonly to: Address; readonly amountIn: bigint },
  budget: SearchBudget,
): Steps<Performance> {
  const balances = new Map<Address, bigint>([[trade.from, trade.amountIn]]);
  const changed = new Map<Hex, PoolState>();
  const performed: Hop[] = [];
  const hopGas: bigint[] = [];
  for (const { state, tokenIn, tokenOut, portion } of hops) {
    if (budget.isOver()) yield;
    const { pool } = state;
    const identity = identityOf(pool);
    if (changed.has(identity) && kindOf(pool).feeMoves === true) return { kind: "short" };
    const held = balances.get(tokenIn) ?? 0n;
    const amountIn = (held * portion) / PORTION_ALL;
    const quote = (changed.get(identity) ?? state).quote(tokenIn, amountIn);
    if (quote.kind === "unread") return { kind: "unread", key: readKey(pool, tokenIn), load: quote.load };
    if (quote.kind === "short") return quote;
    balances.set(tokenIn, held - amountIn);
    balances.set(tokenOut, (balances.get(tokenOut) ?? 0n) + quote.amountOut);
    changed.set(identity, quote.after);
    const feePips = feePipsOf(state, tokenIn);
    performed.push({ pool, tokenIn, tokenOut, portion, amountIn, amountOut: quote.amountOut, feePips });
    hopGas.push(quote.gas);
  }
  const between = Math.max(0, balances.size - 2);
  const gas = hopGas.reduce((sum, one) => sum + one, BigInt(between) * BETWEEN_GAS);
  return { kind: "filled", hops: performed, amountOut: balances.get(trade.to) ?? 0n, gas, hopGas };
}

const ONE_PIPS = 1_000_000n;

/** Amounts at spot prices are computed this much finer, so that rounding stays out of them. */
const SPOT_SCALE = 10n ** 18n;

/**
 * A thousandth of a trade moves the price of a market by less than a hundredth. Rounding takes a unit of what the market
 * pays, and a unit of what it gets, fee taken off.
 */
const SMALL_PART = 1_000n;
const SMALL_MOVE = { numerator: 101n, denominator: 100n };

/**
 * What these hops would bring at the prices before the trade, pool fees counted: the output of the same route for an
 * infinitely small trade, as if it were this large. Where a pool has nothing to sell at its price, which anybody may have
 * left there, the first of what it sells counts.
 */
export function spotOutput(
  hops: readonly PlannedHop[],
  trade: { readonly from: Address; readonly to: Address; readonly amountIn: bigint },
): bigint {
  const balances = new Map<Address, bigint>([[trade.from, trade.amountIn * SPOT_SCALE]]);
  for (const { state, tokenIn, tokenOut, portion } of hops) {
    const held = balances.get(tokenIn) ?? 0n;
    const amountIn = (held * portion) / PORTION_ALL;
    const amountOut = hopAtSpot(state, tokenIn, amountIn);
    balances.set(tokenIn, held - amountIn);
    balances.set(tokenOut, (balances.get(tokenOut) ?? 0n) + amountOut);
  }
  return (balances.get(trade.to) ?? 0n) / SPOT_SCALE;
}

/** Amounts are as fine as those at spot. */
function hopAtSpot(state: PoolState, tokenIn: Address, amountIn: bigint): bigint {
  const { numerator, denominator } = state.spot(tokenIn);
  const kept = ONE_PIPS - BigInt(feePipsOf(state, tokenIn));
  const atSpot = (amountIn * numerator * kept) / (denominator * ONE_PIPS);
  const part = larger(1n, amountIn / (SPOT_SCALE * SMALL_PART));
  const leastTaken = part * kept - ONE_PIPS;
  const quote = state.quote(tokenIn, part);
  if (quote.kind !== "filled" || leastTaken <= 0n) return atSpot;
  const paid = (quote.amountOut + 1n) * SMALL_MOVE.numerator;
  return smaller(atSpot, (amountIn * kept * paid) / (leastTaken * SMALL_MOVE.denominator));
}
