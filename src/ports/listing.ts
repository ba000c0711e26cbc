import type { Address, Hex } from "../domain/money/address.ts";
import type { HoldKind } from "../domain/run/hold.ts";
import type { PriceBar } from "../domain/strategy/decision.ts";
import type { RunHistory, SwapHistory, TransitionHistory } from "./history.ts";
import type { StatusRows } from "./read-model.ts";
import type { OpenAlert } from "./true-alerts.ts";

/**
 * Long lists as people page through them, newest first: each question has a bound, and goes on behind a row that was shown.
 * Another process may be writing meanwhile.
 */
export interface Listing {
  /** Runs with their swaps, from the newest slot down. */
  runs(asked: {
    readonly strategy?: string | undefined;
    readonly before?: RunPlace | undefined;
    readonly limit: number;
  }): Promise<readonly RunHistory[]>;
  /** Fills, from the newest block down. */
  fills(asked: {
    readonly strategy?: string | undefined;
    /** Unix milliseconds */
    readonly sinceMs?: number | undefined;
    readonly before?: FillPlace | undefined;
    readonly limit: number;
  }): Promise<readonly ListedFill[]>;
  /** What each fill moved, from the newest block down: without what is archived, and so many thousands are quick. */
  movements(limit: number): Promise<readonly Movement[]>;
  /** The recorded prices of a token by the hour, oldest first. */
  priceBars(token: Address, sinceMs: number): Promise<readonly PriceBar[]>;
  /** Reference prices that the newest swaps were judged by, oldest first. */
  pricesSeen(token: Address, swaps: number): Promise<readonly SeenPrice[]>;
  alerts(asked: {
    readonly state: "open" | "past" | "all";
    /** behind the one with this number */
    readonly before?: number | undefined;
    readonly limit: number;
  }): Promise<readonly ListedAlert[]>;
  /** What operators asked for. */
  requests(asked: { readonly before?: number | undefined; readonly limit: number }): Promise<readonly ListedRequest[]>;
  request(id: number): Promise<ListedRequest | undefined>;
  /** What is true and in force now: the part of a status that people are told of as it changes. */
  states(): Promise<Pick<StatusRows, "openAlerts" | "modes">>;
  /** Open runs that wait for a person, or until he had time to refuse. */
  waiting(nowMs: number): Promise<readonly WaitingRun[]>;
  /** What the owners of Safes are asked for and have not decided. */
  proposals(): Promise<readonly ListedProposal[]>;
  /** What audits found that people made, newest first, and the newest one that looked at everything. */
  audits(
    limit: number,
  ): Promise<{ readonly newest: readonly RecordedAudit[]; readonly whole: RecordedAudit | undefined }>;
  /** Moves of runs and swaps behind one of them, oldest first. */
  transitionsAfter(id: number, limit: number): Promise<readonly ListedTransition[]>;
  /** One move; undefined where it is not there, or archived. */
  transition(id: number): Promise<ListedTransition | undefined>;
  newestTransition(): Promise<ListedTransition | undefined>;
}

/** Where a run stands among all: after those of later slots. */
export interface RunPlace {
  readonly slotMs: number;
  readonly id: string;
}

/** Where a fill stands among all: after those of later blocks. */
export interface FillPlace {
  readonly block: number;
  readonly id: string;
}

/** A fill with what it belongs to. */
export interface ListedFill {
  readonly run: string;
  readonly strategy: string;
  readonly block: number;
  readonly swap: SwapHistory;
}

/** What a fill took from and brought to accounts, in smallest units. */
export interface Movement {
  readonly block: number;
  /** Unix seconds; null in rows of before it was kept */
  readonly atSeconds: number | null;
  readonly wallet: Address;
  readonly recipient: Address;
  readonly sell: Address;
  readonly sold: bigint;
  readonly buy: Address;
  readonly bought: bigint;
}

/** A price in dollars (1e-18) at an instant, Unix milliseconds. */
export interface SeenPrice {
  readonly atMs: number;
  readonly usd: bigint;
}

/** An alert, or a message, whether it is still true or not. */
export interface ListedAlert extends OpenAlert {
  readonly number: number;
  readonly run: string | null;
  readonly overAtMs: number | null;
}

/** What an operator asked for, and the answer as soon as there is one. */
export interface ListedRequest {
  readonly id: number;
  readonly command: string;
  readonly arguments: Readonly<Record<string, string>>;
  readonly madeBy: string;
  readonly madeAtMs: number;
  readonly answer: string | null;
}

/** A run that waits. */
export interface WaitingRun {
  readonly run: string;
  readonly swap: string;
  readonly strategy: string;
  readonly kind: HoldKind;
  readonly sinceMs: number;
  readonly untilMs: number;
  /** what people are told of it, with what is sold for what; null where nothing is told any more */
  readonly text: string | null;
}

/** A proposal to the owners of a Safe. */
export interface ListedProposal {
  readonly swap: string;
  readonly run: string;
  readonly strategy: string;
  readonly state: string;
  readonly safe: Address;
  /** the Safe's own */
  readonly nonce: bigint;
  /** what the owners sign; undefined before it was written down */
  readonly hash: Hex | undefined;
  /** Unix seconds */
  readonly deadlineSeconds: number | null;
}

/** What an audit found, as it is kept. */
export interface RecordedAudit {
  readonly madeBy: string;
  /** when it ended, Unix milliseconds */
  readonly atMs: number;
  /** the block, or the instant, where it was asked to begin; both null: it looked at everything */
  readonly fromBlock: number | null;
  readonly fromMs: number | null;
  /** the newest block that it looked at */
  readonly toBlock: number;
  readonly differences: number;
  /** the first of them */
  readonly findings: readonly { readonly code: string; readonly subject: string; readonly message: string }[];
  /** how much it looked at, in words */
  readonly lookedAt: string;
}

/** A move with its number, which grows, and what it belongs to. */
export interface ListedTransition extends TransitionHistory {
  readonly number: number;
  readonly run: string;
  readonly strategy: string | null;
}
