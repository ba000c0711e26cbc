import type { DrawdownState } from "../domain/guard/drawdown.ts";
import type { Address } from "../domain/money/address.ts";
import type { UsdPrice } from "../domain/money/price.ts";
import type { ModeRow } from "../domain/run/operating-mode.ts";
import type { Swap } from "../domain/run/run.ts";
import type { SwapState } from "../domain/run/states.ts";
import type { CalendarPeriod } from "../domain/schedule/calendar-period.ts";
import type { TrueWarning } from "./alert-store.ts";

/** Balances that the audit counts from. */
export interface BaselineRow {
  readonly wallet: Address;
  readonly token: Address;
  readonly symbol: string;
  readonly decimals: number;
  readonly blockNumber: number;
  readonly blockTimeSeconds: number;
  readonly balance: bigint;
}

/** Something that is not over, with the wallet it needs; a run that has not decided yet has no swap. */
export interface OpenWork {
  readonly runId: string;
  readonly strategy: string;
  readonly swapId: string | undefined;
  readonly state: string;
  readonly wallet: Address | undefined;
}

/** What the background watches ask of the rows. Instants in milliseconds. */
export interface WatchQuestions {
  /** What a start is checked against. */
  readonly beginning: {
    readonly asked: object;
    readonly rows: {
      /** undefined before the first start */
      readonly identity: { readonly network: string; readonly chainId: number } | undefined;
      /** what is open; a run without a swap with its strategy's wallet, where that has a row */
      readonly work: readonly OpenWork[];
      readonly baselines: readonly Pick<BaselineRow, "wallet" | "token">[];
    };
  };
  /** @param asked.swapIds swaps whose states are wanted */
  readonly downtime: {
    readonly asked: { readonly swapIds: readonly string[] };
    readonly rows: {
      /** when the daemon was last known to be at work; undefined before its first life */
      readonly lastAliveMs: number | undefined;
      /** swaps that were signed and of which it is not known yet whether they were done */
      readonly unsettled: readonly string[];
      readonly states: ReadonlyMap<string, SwapState>;
    };
  };
  /** What a clock that ran ahead has left: effects that wait for a time to come, and sales after an instant. */
  readonly "left-ahead": {
    readonly asked: { readonly nowMs: number; readonly salesAfterMs: number };
    readonly rows: {
      /** whether `effects-hastened` would find any */
      readonly isAnyEffectAhead: boolean;
      readonly count: number;
      /** the latest instant at which one was seen to be; 0 without any */
      readonly latestMs: number;
    };
  };
  /** What the value of all wallets together is judged with. */
  readonly drawdown: {
    readonly asked: {
      readonly wallets: readonly Address[];
      readonly tokens: readonly Address[];
      /** swaps that are open and had moved nothing in the block of the balances */
      readonly unmoved: readonly string[];
    };
    readonly rows: {
      /** as `LedgerStore.ledgerVersion` says it of all wallets */
      readonly version: number;
      /** undefined before the first sample */
      readonly state: DrawdownState | undefined;
      /** the mode of everything */
      readonly mode: ModeRow | undefined;
      /**
       * what all swaps brought these wallets of a token, and what of theirs went to others, less what they sold of it;
       * undefined while another swap that moves it is open
       */
      readonly nets: ReadonlyMap<Address, bigint | undefined>;
      /** proposals to Safes that no execution was seen of */
      readonly proposed: readonly Pick<Swap, "id" | "wallet">[];
    };
  };
  /** From which update on a bot is asked, and since when it is known; undefined where it was never heard. */
  readonly "chat-offset": {
    readonly asked: { readonly bot: string };
    readonly rows: { readonly nextUpdate: number; readonly atMs: number } | undefined;
  };
  /** What happened since the last digest of a period. */
  readonly digest: {
    readonly asked: { readonly period: CalendarPeriod; readonly nowMs: number };
    readonly rows: {
      /** undefined before the first one: then nothing happened yet */
      readonly last: DigestMark | undefined;
      /** what is counted with this one */
      readonly next: Omit<DigestMark, "untilMs">;
      /** swaps that were filled for the first time, in their order */
      readonly fills: readonly DigestFill[];
      /** transactions that were confirmed for the first time, whatever they were for, and what they cost in wei */
      readonly gas: { readonly transactions: number; readonly cost: bigint };
      /** runs that ended without a trade */
      readonly ends: readonly Counted[];
      /** slots that had no run */
      readonly gaps: readonly Counted[];
      readonly warnings: readonly TrueWarning[];
      readonly head: { readonly links: number; readonly head: string } | undefined;
    };
  };
}

/** What a digest says of one fill: a week of many strategies has more of them than their runs have room. */
export interface DigestFill extends Pick<Swap, "sell" | "buy" | "mode"> {
  readonly strategyId: string;
  readonly sold: bigint;
  readonly bought: bigint;
  readonly swapFee: bigint;
}

/** How far the digests of a period have come. */
export interface DigestMark {
  /** the first instant that is not in them, by the calendar */
  readonly untilMs: number;
  /** the newest move that is in them */
  readonly lastTransition: number;
  /** the newest move of a transaction that is in them; undefined in rows of before it was kept */
  readonly lastLaneTransition: number | undefined;
  /** how many slots of each gap are in them */
  readonly gaps: Readonly<Record<string, number>>;
}

/** How often something had this reason. */
export interface Counted {
  readonly reason: string;
  readonly count: number;
}

/** What the background watches write. Instants in milliseconds. */
export type WatchChange =
  | { readonly kind: "identity"; readonly network: string; readonly chainId: number }
  /** a balance that the audit counts from, unless there is one */
  | { readonly kind: "baseline"; readonly baseline: BaselineRow }
  /** the daemon is at work */
  | { readonly kind: "alive" }
  | { readonly kind: "daemon-event"; readonly event: string; readonly detail: string }
  /** effects that a clock which ran ahead of now let wait are due */
  | { readonly kind: "effects-hastened" }
  /** sales that were seen to be after an instant count from now on, in whole milliseconds */
  | { readonly kind: "sales-settled-anew"; readonly afterMs: number }
  /** reference prices of now count into the bars of their hour; dollars scaled by 1e18 */
  | { readonly kind: "price-sample"; readonly token: Address; readonly usd: UsdPrice }
  /** bars of hours that were over before what is kept begins are dropped, and those of hours to come */
  | { readonly kind: "price-bars-kept"; readonly token: Address; readonly sinceMs: number }
  | { readonly kind: "drawdown"; readonly state: DrawdownState }
  | { readonly kind: "digest-written"; readonly period: CalendarPeriod; readonly mark: DigestMark }
  /** of other periods it is forgotten how far they came: nobody asks for them any more */
  | { readonly kind: "digests-kept"; readonly periods: readonly CalendarPeriod[] }
  | { readonly kind: "chat-heard"; readonly bot: string; readonly nextUpdate: number };
