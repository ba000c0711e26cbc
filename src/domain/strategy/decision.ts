import type { Address } from "../money/address.ts";
import type { Ppm } from "../money/fraction.ts";
import type { ReferencePrice } from "../money/price.ts";
import type { Token } from "../money/token.ts";

/** What a strategy sees when it decides. One snapshot: all of it belongs together. */
export interface StrategyView {
  /** the scheduled instant, Unix milliseconds */
  readonly slotMs: number;
  readonly nowMs: number;
  /** free balance by token address: balance less the reservations of other open swaps and the gas reserve */
  readonly free: ReadonlyMap<Address, bigint>;
  /** reference prices by token address; a token without one is unpriced */
  readonly prices: ReadonlyMap<Address, ReferencePrice>;
  /** sold by this strategy so far: measured fills plus reservations, in the sold token's smallest unit, by token */
  readonly spent: ReadonlyMap<Address, bigint>;
}

/**
 * How much a planned swap sells: a fixed amount, or a share of what earlier swaps of the same run brought, up to a
 * maximum. `resolvePlannedAmount` of planned-amount.ts does the arithmetic.
 */
export type PlannedAmount =
  | { readonly kind: "fixed"; readonly raw: bigint }
  | {
      /** `share` of (measured proceeds of the swaps at these positions plus `base`), never more than `max` */
      readonly kind: "proceeds";
      readonly of: readonly number[];
      /** what may be spent besides the proceeds; negative when proceeds must first fill a hole in the sold token */
      readonly base: bigint;
      /** swaps that draw on the same proceeds have shares that sum to at most one whole, so none takes another's part */
      readonly share: Ppm;
      readonly max: bigint;
      /** not worth doing below this */
      readonly min: bigint;
    };

/** One swap of a run, in the order of execution. */
export interface PlannedSwap {
  readonly sell: Token;
  readonly buy: Token;
  readonly amount: PlannedAmount;
}

/** Why a strategy trades nothing at a slot. The words are stable: users filter by them. */
export type SkipReason =
  | "budget_spent"
  | "insufficient_balance"
  | "within_bands"
  | "below_minimum_trade"
  | "unpriceable"
  | "not_triggered"
  | "not_armed"
  | "cooling_down"
  | "already_fired";

/**
 * A decision: the strategy's memory after it, and either swaps or a reason for none.
 * The memory is committed with the decision, so a kill can never separate them.
 */
export interface Decision<Memory> {
  readonly memory: Memory;
  readonly outcome:
    | { readonly kind: "swap"; readonly swaps: readonly PlannedSwap[] }
    | { readonly kind: "skip"; readonly reason: SkipReason; readonly detail: string };
}
