import type { Address, Hex } from "../domain/money/address.ts";
import type { RunEvent } from "../domain/run/events.ts";
import type { TradedBeside } from "../domain/run/measure-fill.ts";
import type { Run, Swap } from "../domain/run/run.ts";
import type { SoldSince } from "../domain/strategy/budget.ts";
import type { PriceBar } from "../domain/strategy/decision.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import type { StepQuestion, StepRows } from "./changes.ts";
import type { StrategyRow } from "./daemon-rows.ts";
import type { KnownChain } from "./reconciliation-store.ts";

/** What the mode of a strategy follows from. `spec` is its edition in the rows; undefined where it has no row. */
export type ModeRows = Pick<StepRows, "modes" | "differences"> & { readonly spec: StrategySpec | undefined };

/** What signing for a swap, and handing it over, goes by at one instant. */
export interface SigningRows extends ModeRows, Pick<StepRows, "halts" | "isBarred"> {
  /** the run as it is now; undefined where it has no row */
  readonly run: Run | undefined;
  /** canonical JSON of the typed data that was written down to be signed, by its digest */
  readonly typedData: ReadonlyMap<Hex, string>;
}

/** What a view is begun with, before the chain is read. */
export interface ViewStart {
  readonly strategy: StrategyRow;
  /** of the wallet, as in {@link ViewRows} */
  readonly ledgerVersion: number;
  /** see `newest-block` */
  readonly newestBlock: number;
}

/** What the rows add to what the chain shows of a strategy's wallet. Amounts in smallest units, by token. */
export interface ViewRows {
  /**
   * Changes whenever a reservation, a fill or a release of a swap is written that the wallet pays for or receives: a
   * reading of its balances older than a change is stale.
   */
  readonly ledgerVersion: number;
  /** what open swaps of the wallet reserve */
  readonly reserved: ReadonlyMap<Address, bigint>;
  /**
   * what all swaps brought the wallet, those of other wallets too, less what its own sold; without an entry while a swap
   * that moves its balance is open
   */
  readonly net: ReadonlyMap<Address, bigint>;
  /** sold by the strategy over its life, reserved included */
  readonly sold: ReadonlyMap<Address, bigint>;
  /** of that, what a person accepted as sold by it, which no run of it knows; absent where nobody can */
  readonly accepted?: ReadonlyMap<Address, bigint> | undefined;
  /** bought by the strategy over its life, as measured */
  readonly bought: ReadonlyMap<Address, bigint>;
  /** oldest first */
  readonly bars: ReadonlyMap<Address, readonly PriceBar[]>;
  /** what the strategy sold since the instants that were asked for, in their order */
  readonly soldSince: readonly SoldSince[];
  /** its runs that sold something */
  readonly tradedRuns: number;
}

/** What is asked while effects are performed, and by commands that look ahead. */
export interface ViewQuestions {
  /** A strategy as it stands. */
  readonly strategy: {
    readonly asked: { readonly strategyId: string };
    readonly rows: ModeRows & { readonly strategy: StrategyRow | undefined };
  };
  /** @throws Error where the strategy has no row. `wallet` is the one that it trades for; undefined: by its edition in the rows */
  readonly "view-start": {
    readonly asked: { readonly strategyId: string; readonly wallet: Address | undefined };
    readonly rows: ViewStart;
  };
  /** `bars` are asked for from the hour of an instant on. */
  readonly view: {
    readonly asked: {
      readonly strategyId: string;
      readonly wallet: Address;
      readonly tokens: readonly Address[];
      readonly bars: readonly { readonly token: Address; readonly sinceMs: number }[];
      /** from when on what it sold is asked for; 0: over its life */
      readonly soldSinceMs: readonly number[];
    };
    readonly rows: ViewRows;
  };
  /** What was sold since two instants, in dollars (1e-18), by when it was seen to be, and all that is reserved. */
  readonly "sold-usd": {
    readonly asked: { readonly daySinceMs: number; readonly monthSinceMs: number };
    readonly rows: { readonly day: bigint; readonly month: bigint };
  };
  /**
   * The newest block in which a fill or an own transaction of one of the wallets, or a fill of another wallet's swap that
   * delivers to it, was seen and is not taken back; 0 without any.
   */
  readonly "newest-block": { readonly asked: { readonly wallets: readonly Address[] }; readonly rows: number };
  /** What was traded before a swap of a wallet. */
  readonly traded: {
    readonly asked: { readonly wallet: Address; readonly sell: Address; readonly buy: Address };
    readonly rows: {
      /** the last swap that could take the sold token and came to its end: what was read before it did is old */
      readonly lastFreed: string | undefined;
      /** whether a confirmed swap ever brought the wallet the bought token */
      readonly hasBought: boolean;
    };
  };
  /** How transfers out of a wallet are explained, besides by a swap. `keys` are the names that they are accepted by. */
  readonly outflows: {
    readonly asked: {
      readonly swap: { readonly id: string; readonly wallet: Address; readonly token: Address };
      readonly hashes: readonly Hex[];
      readonly keys: readonly string[];
    };
    readonly rows: {
      /** fills of other swaps of the wallet that sell the same token, and our own transactions */
      readonly ofOthers: ReadonlySet<Hex>;
      /** those that were found, and settled by a person */
      readonly accepted: ReadonlySet<string>;
      /** up to which block checks report no outflows of the wallet, because they were there before the first one */
      readonly unreportedTo: number | undefined;
    };
  };
  /**
   * Other swaps that a transaction fills, or may have filled since no fill of them is known, and that share a side with this
   * one: they deliver the bought token to the same recipient, or one of the two sells what the other buys.
   */
  readonly beside: {
    readonly asked: { readonly swapId: string; readonly hash: Hex; readonly sides: TradedBeside };
    readonly rows: readonly Swap[];
  };
  /** How far the chain was checked against the rows of a wallet. */
  readonly "known-chain": { readonly asked: { readonly wallet: Address }; readonly rows: KnownChain | undefined };
  readonly signing: {
    readonly asked: { readonly runId: string; readonly strategyId: string; readonly digests: readonly Hex[] };
    readonly rows: SigningRows;
  };
  /** What a step of a run is decided on that is in no row: a runs dry one. */
  readonly "dry-run-step": {
    readonly asked: { readonly run: Run; readonly event: RunEvent; readonly of: StepQuestion };
    readonly rows: StepRows;
  };
}
