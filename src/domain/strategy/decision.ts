import type { Address } from "../money/address.ts";
import type { Ppm } from "../money/fraction.ts";
import type { ReferencePrice, UsdPrice } from "../money/price.ts";
import type { Token } from "../money/token.ts";
import type { BudgetView } from "./budget.ts";

/** Reference prices of one hour. A bar without samples does not exist: no price was read in that hour. */
export interface PriceBar {
  /** beginning of the hour, Unix milliseconds */
  readonly hourMs: number;
  readonly high: UsdPrice;
  readonly low: UsdPrice;
  readonly close: UsdPrice;
  readonly samples: number;
}

/** An address besides the strategy's wallet, and the tokens whose balances there it has to see. */
export interface WatchedHolder {
  readonly address: Address;
  readonly tokens: readonly Token[];
}

/** What a strategy has to see to decide. */
export interface ViewNeeds {
  /** whose balance and reference price are read */
  readonly tokens: readonly Token[];
  /** whose prices of the past are needed, and how far back */
  readonly bars: readonly { readonly token: Token; readonly seconds: number }[];
  /** whether money that came from outside is distinguished from what our own swaps brought */
  readonly flows: boolean;
  /** whose balances are read besides, in the same block; absent: nobody's */
  readonly external?: readonly WatchedHolder[] | undefined;
  /** from when on scheduled instants are counted, Unix milliseconds; undefined counts none */
  readonly instantsAfterMs?: number | undefined;
}

/** What a strategy sees when it decides. One snapshot: all of it belongs together. */
export interface StrategyView {
  /** the scheduled instant, Unix milliseconds */
  readonly slotMs: number;
  /** how many scheduled instants this run stands for: more than one when missed slots were accumulated */
  readonly slots: number;
  readonly nowMs: number;
  /** free balance by token address: balance less the reservations of other open swaps and the gas reserve */
  readonly free: ReadonlyMap<Address, bigint>;
  /** wei of the free coins that the gas of its next swap may cost; absent in views of older releases */
  readonly ownGas?: bigint | undefined;
  /** the wallet's whole balance by token address, nothing taken off */
  readonly balances: ReadonlyMap<Address, bigint>;
  /** scheduled instants after the asked one up to and including this slot, whether they got a run or not */
  readonly instants: number;
  /** reference prices by token address; a token without one is unpriced */
  readonly prices: ReadonlyMap<Address, ReferencePrice>;
  /** sold by this strategy so far: measured fills plus reservations, in the sold token's smallest unit, by token */
  readonly spent: ReadonlyMap<Address, bigint>;
  /** of that, what a person accepted as sold by it, which no run of it knows; absent where there is none */
  readonly accepted?: ReadonlyMap<Address, bigint> | undefined;
  /** bought by this strategy so far: measured fills, in the bought token's smallest unit, by token */
  readonly bought: ReadonlyMap<Address, bigint>;
  /**
   * Balance less what all our recorded swaps brought net, by token: it changes only when money comes from or goes to the
   * outside. May be negative. A token with an open swap has no entry, because its balance is on the move.
   */
  readonly outside: ReadonlyMap<Address, bigint>;
  /** bars that were asked for, oldest first, by token address; hours without a reading are missing */
  readonly bars: ReadonlyMap<Address, readonly PriceBar[]>;
  /** what was sold within each bound of its budget; absent without a budget, and in rows of before there were periods */
  readonly budget?: BudgetView | undefined;
  /** what the addresses that were asked for hold together, by token; absent where none was */
  readonly external?: ReadonlyMap<Address, bigint> | undefined;
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

/** A rate of exchange in smallest units: so much bought for so much sold. */
export interface Rate {
  readonly bought: bigint;
  readonly sold: bigint;
}

/** One swap of a run, in the order of execution. */
export interface PlannedSwap {
  readonly sell: Token;
  readonly buy: Token;
  readonly amount: PlannedAmount;
  /** the worst rate, all fees included, at which this swap may be signed; undefined leaves it to the limits */
  readonly floor?: Rate | undefined;
  /** how long this swap may be tried from the moment its turn comes; undefined takes the run's window */
  readonly retryForSeconds?: number | undefined;
}

/** Why a strategy trades nothing at a slot. The words are stable: users filter by them. */
export type SkipReason =
  | "budget_spent"
  | "budget_period_spent"
  | "insufficient_balance"
  | "within_bands"
  | "below_minimum_trade"
  | "unpriceable"
  | "not_triggered"
  | "not_armed"
  | "cooling_down"
  | "already_fired"
  | "not_started"
  | "ended"
  | "price_gate"
  | "price_limit"
  | "price_abort"
  | "max_sell_exceeded"
  | "confirming"
  | "backing_off"
  | "turnover_spent"
  | "on_path"
  | "not_activated"
  | "below_mark";

/** A strategy stops itself until a person resumes it: it has reached its end, or cannot go on alone. */
export interface StrategyPause {
  /** `unsold`: its time is over with something left, as after a downtime */
  readonly code: "completed" | "unsold" | "insufficient_balance" | "legs_incomplete" | "drawdown" | "price_abort";
  readonly detail: string;
}

/**
 * A decision: the strategy's memory after it, and what to do at this slot. The memory is committed with the decision, so
 * a kill can never separate them.
 * - `swap`: these swaps, in this order;
 * - `skip`: nothing, and the slot is over;
 * - `defer`: nothing now; the question is asked again inside the slot's window, and then skipped with the reason.
 */
export interface Decision<Memory> {
  readonly memory: Memory;
  readonly outcome:
    | {
        readonly kind: "swap";
        readonly swaps: readonly PlannedSwap[];
        /** why it is as much as it is, where that is not plain from the settings */
        readonly detail?: string | undefined;
      }
    | { readonly kind: "skip"; readonly reason: SkipReason; readonly detail: string }
    | {
        readonly kind: "defer";
        readonly reason: SkipReason;
        readonly detail: string;
        /** when it wants to be asked again, Unix milliseconds; undefined after the usual wait */
        readonly untilMs?: number | undefined;
      };
  /** set when the strategy shall start no further run after this one */
  readonly pause?: StrategyPause | undefined;
}
