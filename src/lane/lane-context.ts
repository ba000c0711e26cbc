import type { Address } from "../domain/money/address.ts";
import { smaller } from "../domain/money/bigint.ts";
import type { AgreedReads, BlockHead, LaneChain, Receipt } from "../ports/chain.ts";
import type { Clock } from "../ports/clock.ts";
import type { LaneRowStore } from "../ports/lane-row-store.ts";
import type { AttemptRow, AttemptState, IntentRow, IntentState } from "../ports/lane-store.ts";
import type { Logger } from "../ports/logger.ts";
import type { Signer } from "../ports/signer.ts";
import type { LaneEvent, LaneListener } from "./lane-event.ts";
import { assertAttemptTransition, assertIntentTransition } from "./transitions.ts";

/** How a lane behaves. Counts of blocks; every one of them bounds something. */
export interface LaneOptions {
  readonly account: Address;
  readonly chainId: number;
  /** head - block + 1 */
  readonly confirmations: number;
  /** blocks after its first broadcast without being mined, until it is replaced with higher fees */
  readonly bumpAfterBlocks: number;
  readonly rebroadcastAfterBlocks: number;
  readonly maxReplacements: number;
  /** cancellations of one transaction: the first, and those that replace it with higher fees */
  readonly maxCancellations: number;
  /** chain time after an intent's deadline until its nonce is taken by a cancellation */
  readonly cancelMarginSeconds: number;
  /**
   * false: nothing is signed for this intent and nothing of it is sent for the first time; it is still watched. Default:
   * always true
   */
  readonly signing?: (intentId: string) => boolean;
  /** the most that is offered per gas, wei, whatever an intent may have been planned with; not for cancellations. Default: none */
  readonly maxFeePerGas?: () => bigint;
  /**
   * asked before an intent gets its nonce, and never after; false: not now, and what waits behind it goes first. Default:
   * always true
   */
  readonly isWorthSending?: (intent: IntentRow) => Promise<boolean>;
  /**
   * whether the receipt of a success shows what its transaction did; false: a node left logs out of it, and it is not
   * confirmed by that, before its block is final. Default: always true
   */
  readonly isShown?: (intent: IntentRow, receipt: Receipt) => boolean;
}

/** What a lane works with. */
export interface LaneDeps {
  readonly store: LaneRowStore;
  readonly chain: LaneChain;
  readonly signer: Signer;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly listener: LaneListener;
  /** named places where a test may stop the process; absent in production */
  readonly crashPoint?: (label: string) => void;
}

/** Options, dependencies, and the chain as it was read at the beginning of a turn. */
export interface LaneTurn {
  readonly options: LaneOptions;
  readonly deps: LaneDeps;
  readonly latest: BlockHead;
  /** of one endpoint; of all that answer where it lies above a block with something of ours in it */
  readonly finalized: BlockHead;
  /** reads of all endpoints that answer, and the newest block that they all call final; asked when it is first needed */
  agreement(): Promise<{ readonly reads: AgreedReads; readonly finalized: BlockHead }>;
  /** what nodes said that would halt the account, by the finalised block at which it was first said */
  readonly suspicions: Map<string, number>;
}

/**
 * Whether nodes say something that would halt the account at a later finalised block again. What they say once, or no
 * longer, halts nobody: a node may answer for another chain, from an old state, or from nowhere.
 */
export function isSaidAgain({ suspicions }: LaneTurn, what: string, atFinalized: number): boolean {
  const firstAt = suspicions.get(what) ?? Number.POSITIVE_INFINITY;
  // What was said at a block above this one was said of a false one: the chain may never come so far.
  if (firstAt > atFinalized) suspicions.set(what, atFinalized);
  return atFinalized > firstAt;
}

/** Passes a named place. */
export function passCrashPoint(deps: LaneDeps, label: string): void {
  deps.crashPoint?.(label);
}

/** Whether the lane may sign and send for an intent now. */
export function maySign({ options, deps }: LaneTurn, intent: IntentRow): boolean {
  if (deps.store.halt(options.account, options.chainId) !== undefined) return false;
  return options.signing?.(intent.id) ?? true;
}

/** The most that an intent may pay per gas now: its own cap, or a lower one of today. */
export function feeCapOf({ options }: LaneTurn, { maxFeePerGasCap }: IntentRow): bigint {
  return smaller(maxFeePerGasCap, options.maxFeePerGas?.() ?? maxFeePerGasCap);
}

/** Whether an intent is an order past its deadline, by the chain or by us: what it does can only revert, and costs gas. */
export function isTooLate({ deps, latest }: LaneTurn, { deadlineSeconds }: IntentRow): boolean {
  if (deadlineSeconds === undefined) return false;
  return Math.max(latest.timestamp, Math.floor(deps.clock.nowMs() / 1_000)) >= deadlineSeconds;
}

type IntentChange = Parameters<LaneRowStore["updateIntent"]>[1];

/**
 * Moves an intent: its row, the transition and what the listener writes are one transaction. `event` is left out where
 * nobody outside may see the move.
 */
export function moveIntent(
  deps: LaneDeps,
  intent: IntentRow,
  move: { to: IntentState; change?: IntentChange; event?: Omit<LaneEvent, "intentId">; detail?: string },
  alongside: () => void = () => undefined,
): void {
  assertIntentTransition(intent.state, move.to);
  deps.store.transaction(() => {
    alongside();
    deps.store.updateIntent(intent.id, { ...move.change, state: move.to });
    deps.store.recordTransition({
      intentId: intent.id,
      attemptHash: undefined,
      from: intent.state,
      to: move.to,
      atMs: deps.clock.nowMs(),
      detail: move.detail,
    });
    if (move.event !== undefined) deps.listener.onIntent({ intentId: intent.id, ...move.event });
    if (move.to !== "signed") deps.listener.onRefused?.(intent.id, undefined);
  });
}

/** Moves one attempt; to be called inside the transaction of what it belongs to. */
export function moveAttempt(
  deps: LaneDeps,
  attempt: AttemptRow,
  move: { to: AttemptState; change?: Parameters<LaneRowStore["updateAttempt"]>[1]; detail?: string },
): void {
  const { store, clock } = deps;
  // The caller may have read it before an earlier move of the same turn.
  const from = store.attempts(attempt.intentId).find(({ hash }) => hash === attempt.hash)?.state ?? attempt.state;
  assertAttemptTransition(from, move.to);
  store.updateAttempt(attempt.hash, { ...move.change, state: move.to });
  store.recordTransition({
    intentId: attempt.intentId,
    attemptHash: attempt.hash,
    from,
    to: move.to,
    atMs: clock.nowMs(),
    detail: move.detail,
  });
}

/** The row as it is now. @throws Error when it is gone: a broken invariant */
export function reread(turn: LaneTurn, intent: IntentRow): IntentRow {
  const row = turn.deps.store.intent(intent.id);
  if (row === undefined) throw new Error(`intent ${intent.id} is gone from the database`);
  return row;
}
