import type { Address } from "../domain/money/address.ts";
import { larger, smaller } from "../domain/money/bigint.ts";
import type { AgreedReads, BlockHead, LaneChain, Receipt } from "../ports/chain.ts";
import type { Clock } from "../ports/clock.ts";
import type { IntentRow, LaneAccount, SigningRow, Visibility } from "../ports/lane-store.ts";
import type { LaneDecided, LaneRows, LaneStore, SigningRows } from "../ports/lane-unit-of-work.ts";
import type { Logger } from "../ports/logger.ts";
import type { Signer } from "../ports/signer.ts";

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
  /** to whom transactions are shown that begin now. Default: to everybody */
  readonly visibility?: Visibility;
  /** blocks after a private cancellation was first sent without being mined, until one is shown to everybody */
  readonly cancelPubliclyAfterBlocks: number;
  /**
   * blocks after a private transaction was first sent without being mined, until an empty one is shown to everybody, so
   * that something else may be tried. Default: it waits for its deadline
   */
  readonly fallbackAfterBlocks?: number | undefined;
  /** asked before an intent gets its nonce: to whom it is shown, where that is not `visibility` */
  readonly visibilityOf?: (intent: IntentRow) => Promise<Visibility | undefined>;
  /** chain time after an intent's deadline until its nonce is taken by a cancellation */
  readonly cancelMarginSeconds: number;
  /** gas limit of the empty transactions that take a nonce */
  readonly emptyGasLimit: bigint;
  /** the most that is offered per gas, wei, whatever an intent may have been planned with; twice as much for cancellations. Default: none */
  readonly maxFeePerGas?: () => bigint;
  /**
   * asked before an intent gets its nonce, and never after; false: not now, and what waits behind it goes first. Default:
   * always true
   */
  readonly isWorthSending?: (intent: IntentRow) => Promise<boolean>;
  /**
   * asked once of each transaction that an earlier life left unsigned: why it is not begun any more. Default: all of them are
   */
  readonly outdated?: (intent: IntentRow) => Promise<string | undefined>;
  /**
   * whether the receipt of a success shows what its transaction did; false: a node left logs out of it, and it is not
   * confirmed by that, before its block is final. Default: always true
   */
  readonly isShown?: (intent: IntentRow, receipt: Receipt) => Promise<boolean>;
}

/** What a lane works with. */
export interface LaneDeps {
  readonly store: LaneStore;
  readonly chain: LaneChain;
  readonly signer: Signer;
  readonly clock: Clock;
  readonly logger: Logger;
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
 * longer, halts no account: a node may answer for another chain, from an old state, or from nowhere.
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

/** What a lane works with, whatever its chain says. */
export type LaneParts = Pick<LaneTurn, "options" | "deps">;

/** The account that a lane moves. */
export function accountOf({ account, chainId }: LaneAccount): LaneAccount {
  return { account, chainId };
}

/** Rows of an intent that is there. */
export type Known<Rows extends LaneRows> = Rows & { readonly intent: IntentRow };

/** An intent as it is now. @throws Error when it is gone: a broken invariant */
export async function readIntent({ options, deps }: LaneParts, id: string): Promise<Known<LaneRows>> {
  return known(id, await deps.store.read({ ...accountOf(options), intent: { id } }));
}

/** The same, and whether the lane may sign and send for it. @throws Error when it is gone: a broken invariant */
export async function readToSign({ options, deps }: LaneParts, id: string): Promise<Known<SigningRows>> {
  return known(id, await deps.store.readToSign({ ...accountOf(options), intent: { id } }));
}

/**
 * Decides on an intent as it is now, and writes what that comes to: nothing comes in between.
 * @throws Error when it is gone: a broken invariant
 */
export async function commit<T>(
  { options, deps }: LaneParts,
  id: string,
  decide: (rows: Known<SigningRows>) => LaneDecided<T>,
): Promise<T> {
  const question = { ...accountOf(options), intent: { id } };
  return await deps.store.commit({ question, decide: (rows) => decide(known(id, rows)) });
}

function known<Rows extends LaneRows>(id: string, rows: Rows): Known<Rows> {
  const { intent } = rows;
  if (intent === undefined) throw new Error(`intent ${id} is gone from the database`);
  return { ...rows, intent };
}

/** Decides that nothing is written. */
export function nothing<T>({ deps }: LaneParts, value: T): LaneDecided<T> {
  return { changes: [], atMs: deps.clock.nowMs(), value };
}

/** The most that an intent may pay per gas now: its own cap, or a lower one of today. */
export function feeCapOf({ options }: LaneTurn, { maxFeePerGasCap }: IntentRow): bigint {
  return smaller(maxFeePerGasCap, options.maxFeePerGas?.() ?? maxFeePerGasCap);
}

/**
 * Whether a version that waits for its signature offers more than its intent may pay now: the owner may have lowered the
 * ceiling since it was written down. What is empty only takes a nonce, and has a ceiling of its own.
 */
export function isTooDear(turn: LaneTurn, intent: IntentRow, { to, data, value, maxFeePerGas }: SigningRow): boolean {
  const isEmpty = to === turn.options.account && data === "0x" && value === 0n;
  return !isEmpty && maxFeePerGas > feeCapOf(turn, intent);
}

/** How much more than the transaction that it replaces a cancellation may pay: it must be able to outbid that. */
const CANCEL_CAP_FACTOR = 2n;

/**
 * The most that a cancellation may pay per gas: it moves nothing, and everything waits for its nonce, so that it is not
 * bound by what its intent is worth.
 */
export function cancelCapOf({ options }: LaneTurn, { maxFeePerGasCap }: IntentRow): bigint {
  return CANCEL_CAP_FACTOR * larger(maxFeePerGasCap, options.maxFeePerGas?.() ?? maxFeePerGasCap);
}

/** Whether an intent is an order past its deadline, by the chain or by us: what it does can only revert, and costs gas. */
export function isTooLate({ deps, latest }: LaneTurn, { deadlineSeconds }: IntentRow): boolean {
  if (deadlineSeconds === undefined) return false;
  return Math.max(latest.timestamp, Math.floor(deps.clock.nowMs() / 1_000)) >= deadlineSeconds;
}

/** What a person is told that a transaction is. */
export function textOf({ id, purpose, account, nonce }: IntentRow): string {
  return `${purpose} ${id} of ${account} (nonce ${nonce})`;
}
