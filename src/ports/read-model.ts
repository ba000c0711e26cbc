import type { Address } from "../domain/money/address.ts";
import type { ModeRow } from "../domain/run/operating-mode.ts";
import type { StoredRun } from "../domain/run/replay.ts";
import type { EndedSlots } from "../domain/schedule/ended-slots.ts";
import type { SoldSince } from "../domain/strategy/budget.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import type { BookRows } from "./book-rows.ts";
import type {
  CheckHistory,
  GapHistory,
  HaltHistory,
  IntentHistory,
  RetryHistory,
  RunHistory,
  TransitionHistory,
} from "./history.ts";
import type { Keeping, KeepingQuestion } from "./keeping.ts";
import type { OpenRight } from "./open-right.ts";
import type { Difference, KnownChain } from "./reconciliation-store.ts";
import type { AlertCount, OpenAlert, TrueAlert } from "./true-alerts.ts";
import type { UntakenFiles } from "./untaken-files.ts";

/**
 * What people read: commands, and what the daemon reports about itself over HTTP. Each answer is plain data as of one
 * instant. Another process may be writing meanwhile, and no daemon of this release may have opened the database yet:
 * what an older one does not have is empty.
 */
export interface ReadModel {
  /** Runs with their swaps, newest first. */
  runs(filter: { readonly strategy?: string; readonly limit: number }): Promise<readonly RunHistory[]>;
  /** A run by its id, or by that of one of its swaps. */
  run(id: string): Promise<RunDetails | undefined>;
  /** What a strategy did at its slot nearest before an instant. */
  slotBefore(asked: { readonly strategy: string; readonly atMs: number }): Promise<SlotHistory>;
  /** What is needed to take the steps of a run again. */
  storedRun(id: string): Promise<{
    readonly isThere: boolean;
    /** undefined where its steps are not kept any more, too */
    readonly stored: StoredRun | undefined;
  }>;
  status(asked: StatusQuestion): Promise<StatusRows>;
  counts(): Promise<Counts>;
  /** What is late, and what blocks trading. Reads open rows alone, however long the history is. */
  progress(late: Late): Promise<Progress>;
  /** What the database knows of allowances of these wallets and tokens. */
  approvals(of: { readonly wallets: readonly Address[]; readonly tokens: readonly Address[] }): Promise<ApprovalRows>;
  /**
   * The wallets' own transactions, newest first: all that are open, and so many of those that are over. With them what was
   * signed or allowed for swaps and may still move money, oldest first.
   */
  transactions(limit: number): Promise<{
    readonly rights: readonly OpenRight[];
    readonly intents: readonly IntentHistory[];
    readonly halts: readonly HaltHistory[];
  }>;
  /** The newest fills that have reference prices of their decision, from the newest block down. */
  fills(limit: number): Promise<readonly FillHistory[]>;
  /** All fills that are final, with what own transactions cost: archived ones too, so that it reads the whole history. */
  books(): Promise<BookRows>;
  /** What accounts have on paper; undefined where nothing happens on paper in this database. */
  paper(): Promise<readonly PaperHolding[] | undefined>;
  /**
   * The last link of what is archived and closed; where that is asked for, all links are checked, and it is counted what
   * goes next.
   */
  historyChain(asked: { readonly isChecked: boolean; readonly going?: KeepingQuestion }): Promise<HistoryChain>;
}

/** A fill with the reference prices of its decision: smallest units, dollars scaled by 1e18. */
export interface FillHistory {
  readonly sold: { readonly raw: bigint; readonly decimals: number; readonly usd: bigint };
  readonly bought: { readonly raw: bigint; readonly decimals: number; readonly usd: bigint };
}

/** What an account began with on paper and has now, of one token, in its smallest unit. */
export interface PaperHolding {
  readonly account: Address;
  readonly token: Address;
  readonly began: bigint;
  readonly now: bigint;
}

/** A run with all that is kept of it. */
export interface RunDetails {
  readonly run: RunHistory;
  /** of the run and its swaps, in their order */
  readonly transitions: readonly TransitionHistory[];
  /** the newest checks of each swap, in the order of the swaps */
  readonly checks: readonly { readonly swap: string; readonly checks: readonly CheckHistory[] }[];
  /** why it asked again, oldest first */
  readonly retries: readonly RetryHistory[];
}

/** What came of a slot. */
export interface SlotHistory {
  /** the strategies that there are, by their ids; where the one that was asked for is not among them, it has no slot */
  readonly strategies: readonly string[];
  /** the run of the nearest slot that has one */
  readonly run: RunDetails | undefined;
  /** the gap that began last */
  readonly gap: GapHistory | undefined;
  readonly alerts: readonly TrueAlert[];
}

/** What is archived and closed, link by link. */
export interface HistoryChain {
  /** undefined in a database of a release that kept none */
  readonly head: HistoryHead | undefined;
  /** what is wrong, one sentence each; empty where nothing was checked */
  readonly problems: readonly string[];
  /** undefined where it was not asked for */
  readonly keeping?: Keeping | undefined;
}

/** The last link of the history: how many links there are, and its hash in hexadecimal. */
export interface HistoryHead {
  readonly links: number;
  readonly head: string;
}

/** How many runs and swaps are in which state, and since when. */
export interface Counts {
  readonly swaps: Readonly<Record<string, number>>;
  readonly strategies: readonly StrategyStatus[];
  /** that trade, or did */
  readonly wallets: readonly string[];
  /** runs that wait for a person's approval */
  readonly waitingForApproval: number;
  /** since when the oldest swap that is unknown has been so, in Unix milliseconds */
  readonly unknownSinceMs: number | undefined;
  /** the time of the newest block with a fill, in Unix milliseconds */
  readonly lastFillMs: number | undefined;
}

/** Since when something is late, in milliseconds. */
export interface Late {
  /** a run whose window was over by then, and of which nothing was cleared to be signed */
  readonly windowBeforeMs: number;
  /** an effect that was due by then */
  readonly dueBeforeMs: number;
}

/** Work that is late, by the id of its row, and what blocks trading. */
export interface Progress {
  /** the run that should have ended first */
  readonly overdueRun: string | undefined;
  /** the effect that should have been performed first */
  readonly overdueEffect: string | undefined;
  /** what the rows do not know of the chain and halts wallets or strategies: what needs a person first */
  readonly openDifference: { readonly text: string; readonly foundAtMs: number } | undefined;
  /** signers elsewhere that do not sign, the longest away first, by what their alerts are about */
  readonly signersAway: readonly { readonly subject: string; readonly text: string; readonly sinceMs: number }[];
  /** modes that are not `active`, by scope */
  readonly modes: readonly { readonly scope: string; readonly mode: string }[];
}

/** To whom allowances were ever granted, and which swap may still use one. */
export interface ApprovalRows {
  /** every contract that was ever granted an allowance, or that something was signed for */
  readonly spenders: readonly Address[];
  /** the swaps that hold the right to a wallet's token now */
  readonly using: readonly SpenderInUse[];
}

/** Who may take a wallet's token now, and for which swap. */
export interface SpenderInUse {
  readonly wallet: Address;
  readonly token: Address;
  readonly spender: Address;
  readonly swap: string;
}

/** What a status is asked for, besides what every status has. */
export interface StatusQuestion {
  /** configured strategies; those that only have rows are shown, too */
  readonly strategyIds: readonly string[];
  readonly wallets: readonly Address[];
  /** since when sales are counted, in milliseconds */
  readonly daySinceMs: number;
  readonly monthSinceMs: number;
  /** from when on the sales of strategies with a budget are counted, in milliseconds; 0: over their life */
  readonly budgets: readonly { readonly strategyId: string; readonly soldSinceMs: readonly number[] }[];
}

/** How the daemon is. */
export interface StatusRows {
  readonly strategies: readonly StrategyStatus[];
  /** swaps by state */
  readonly swaps: Readonly<Record<string, number>>;
  readonly modes: readonly ModeStatus[];
  /** accounts that sign nothing until a person releases them */
  readonly halts: readonly HaltHistory[];
  /** alerts that wait to be sent, or were never taken and are still true, the newest first */
  readonly unsentAlerts: readonly UnsentAlert[];
  /** channels as the newest start found them, by name */
  readonly channels: readonly ChannelStatus[];
  /** critical alerts that are true now, oldest first */
  readonly trueAlerts: readonly TrueAlert[];
  /** all that is true now, what is critical first, then oldest first; at most a hundred */
  readonly openAlerts: readonly OpenAlert[];
  /** how much of each kind is true now, without an end */
  readonly alertCounts: readonly AlertCount[];
  readonly gaps: readonly GapHistory[];
  /** what the wall clock last did, in words; undefined where none of the last events is of it */
  readonly lastClockJump: { readonly text: string; readonly atMs: number } | undefined;
  /** the mode with which the newest life began; undefined once it wrote that it stopped, as a killed one never does */
  readonly startedMode: string | undefined;
  readonly lastEvent: { readonly kind: string; readonly detail: string; readonly atMs: number } | undefined;
  /** undefined while no daemon of this release has opened the database: its sums are not kept yet */
  readonly standing: StandingRows | undefined;
}

/** Where strategies and wallets stand. Amounts in smallest units. */
export interface StandingRows {
  /** the last handled slot of each strategy that has a row, in milliseconds */
  readonly lastSlots: ReadonlyMap<string, number>;
  /** later ones that have their end or run already; few strategies have any */
  readonly endedAhead: ReadonlyMap<string, readonly EndedSlots[]>;
  /** sold by each strategy over its life, reserved included, by token */
  readonly sold: ReadonlyMap<string, ReadonlyMap<Address, bigint>>;
  readonly modes: readonly ModeRow[];
  readonly differences: readonly Difference[];
  /** the edition of each strategy that was loaded last; it may be missing where no difference is open */
  readonly specs: ReadonlyMap<string, StrategySpec>;
  /** what was not taken over of the files by the daemon that wrote the rows, if it still runs; undefined where all was */
  readonly untaken: UntakenFiles | undefined;
  /** dollars (1e-18) that were sold since two instants, and all that are reserved */
  readonly soldUsd: { readonly day: bigint; readonly month: bigint };
  /** what strategies sold since the instants that were asked for, in their order */
  readonly soldSince: ReadonlyMap<string, readonly SoldSince[]>;
  /** how far the chain was checked against the rows, by wallet */
  readonly known: ReadonlyMap<Address, KnownChain>;
  /** when the daemon was last known to be at work; undefined before its first life */
  readonly lastAliveMs: number | undefined;
}

/** A mode that is not `active`. */
export interface ModeStatus {
  readonly scope: string;
  readonly mode: string;
  readonly setBy: string;
  readonly reason: string;
  readonly atMs: number;
}

/** A strategy, and how many of its runs are in which state. */
export interface StrategyStatus {
  readonly id: string;
  readonly kind: string;
  readonly lastSlotMs: number;
  readonly runs: Readonly<Record<string, number>>;
  readonly memory: string;
}

/** An alert, or its end, that a channel has not taken; one that was given up is tried on while it is true. */
export interface UnsentAlert {
  readonly channel: string;
  readonly tells: "begin" | "end";
  readonly code: string;
  readonly subject: string;
  readonly state: "waiting" | "given-up";
  readonly attempts: number;
  /** what came of the last attempt */
  readonly outcome: string | null;
  readonly raisedAtMs: number;
}

/** A channel and what waits for it. */
export interface ChannelStatus {
  readonly name: string;
  /** it did not take something that waits since */
  readonly isBehind: boolean;
  readonly waiting: number;
  /** when the oldest of what waits was raised; null where nothing waits */
  readonly sinceMs: number | null;
  /** what came of the last attempt at something that was not taken */
  readonly outcome: string | null;
}
