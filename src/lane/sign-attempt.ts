import type { Hex } from "../domain/money/address.ts";
import type { BlockTransaction } from "../ports/chain.ts";
import type { AttemptKind, AttemptRow, CancelWish, IntentRow, SigningRow } from "../ports/lane-store.ts";
import type { LaneDecided, LaneRows } from "../ports/lane-unit-of-work.ts";
import type { Fees } from "./fees.ts";
import { firstFees } from "./fees.ts";
import {
  accountOf,
  commit,
  feeCapOf,
  isSaidAgain,
  type Known,
  type LaneParts,
  type LaneTurn,
  nothing,
  passCrashPoint,
  readIntent,
  readToSign,
} from "./lane-context.ts";
import { moveIntent } from "./moves.ts";

/** Gas of an empty self-transfer, with room for chains whose plain transfers cost more than 21,000. */
export const EMPTY_GAS_LIMIT = 60_000n;

/** What an account has, and what nodes suggest as a tip: wei, and wei per gas. */
export interface Means {
  readonly balance: bigint;
  readonly priorityFee: bigint;
}

/** Reads the means of a turn's account. */
export async function readMeans({ deps: { chain }, options: { account } }: LaneTurn): Promise<Means> {
  return { balance: await chain.nativeBalance(account), priorityFee: await chain.priorityFee() };
}

/** What a waiting intent is first signed with. @returns undefined while gas costs more than it may pay, or than there is */
export function affordableFees(turn: LaneTurn, intent: IntentRow, { balance, priorityFee }: Means): Fees | undefined {
  const { baseFeePerGas } = turn.latest;
  const { logger } = turn.deps;
  const cap = feeCapOf(turn, intent);
  const fees = firstFees({ baseFeePerGas, priorityFee }, cap);
  if (fees === undefined) {
    logger.warn(
      { intentId: intent.id, baseFee: baseFeePerGas, cap },
      "gas costs more than the next transaction may pay",
    );
    return undefined;
  }
  const cost = intent.value + intent.gasLimit * fees.maxFeePerGas;
  if (balance >= cost) return fees;
  logger.warn({ intentId: intent.id, balance, cost }, "the account cannot pay for its next transaction");
  return undefined;
}

/** Writes an intent with its nonce down, and what is to be signed for it: its next turn signs that, or drops it. */
export function begunIntent(turn: LaneTurn, intent: IntentRow, fees: Fees): LaneDecided<boolean> {
  return {
    changes: [
      { kind: "intent", intent, detail: `nonce ${intent.nonce} is missing` },
      { kind: "signing", signing: signingOf(turn, intent, { kind: "original", fees }) },
    ],
    atMs: intent.createdAtMs,
    value: true,
  };
}

/** Gives a waiting intent a nonce and writes down what is to be signed. @returns whether it did */
export async function beginIntent(turn: LaneTurn, { id }: IntentRow, fees: Fees): Promise<boolean> {
  const next = await nextNonce(turn);
  if (next === undefined) return false;
  const isBegun = await commit(turn, id, (rows) => {
    const { intent } = rows;
    const isWaiting = intent.state === "planned" && intent.nonce === undefined && rows.wish === undefined;
    // A person may have halted everything while the chain was read, or cancelled this, or accepted what others sent.
    if (!rows.maySign || !isWaiting || !next.isOf(rows)) return nothing(turn, false);
    const { nonce } = next;
    return {
      changes: [
        { kind: "nonce-given", intentId: id, nonce },
        { kind: "signing", signing: signingOf(turn, { ...intent, nonce }, { kind: "original", fees }) },
      ],
      atMs: turn.deps.clock.nowMs(),
      value: true,
    };
  });
  if (isBegun) passCrashPoint(turn.deps, "lane.reserve.after");
  return isBegun;
}

/** A nonce that is certain as long as the rows are those that it was told from. */
interface NextNonce {
  readonly nonce: number;
  isOf(rows: LaneRows): boolean;
}

/**
 * The next nonce comes from the rows, held against the chain. When a finalised block counts transactions that neither the
 * rows know nor a person accepted, and a later one still does, somebody else uses the key: the account is halted. The
 * first nonce of all comes from the chain, where all endpoints have to agree on it.
 * @returns undefined while it is not certain
 */
async function nextNonce(turn: LaneTurn): Promise<NextNonce | undefined> {
  const { deps, options, suspicions } = turn;
  const { store, chain, logger } = deps;
  const { account } = options;
  const count = await chain.transactionCount(account, "latest");
  const { highestNonce: highest, acceptedCount: accepted } = await store.read(accountOf(options));
  const isOf = (rows: LaneRows): boolean => rows.highestNonce === highest && rows.acceptedCount === accepted;
  const what = "the chain counts more transactions than the rows";
  if (highest === undefined) {
    const agreed = await chain.agreed();
    const isAgreed = (await agreed.transactionCount(account, agreed.latest.number)) === count;
    return isAgreed ? { nonce: count, isOf } : undefined;
  }
  const next = Math.max(highest + 1, accepted);
  if (count <= next) {
    suspicions.delete(what);
    return { nonce: next, isOf };
  }
  const agreed = await chain.agreed();
  const finalized = await agreed.finalized();
  const final = await agreed.transactionCount(account, finalized.number);
  if (final <= next || !isSaidAgain(turn, what, finalized.number)) {
    logger.warn({ account, count, known: next, final }, `${what}; nothing is signed until finalised blocks tell why`);
    return undefined;
  }
  const reason = `finalised blocks count ${final} transactions of this account, the rows know ${next}`;
  await halt(turn, { reason: `${reason}: somebody else uses its key`, count: () => final, isTrueOf: isOf });
  return undefined;
}

/** Writes down one more version of an intent that is to be signed, with higher fees or as a cancellation, where it may be. */
export async function planAttempt(
  turn: LaneTurn,
  id: string,
  due: (rows: Known<LaneRows>) => { readonly kind: AttemptKind; readonly fees: Fees } | undefined,
): Promise<void> {
  const kind = await commit(turn, id, (rows): LaneDecided<AttemptKind | undefined> => {
    // What is written down and not signed comes first; and a person may have halted everything while the node answered.
    const attempt = rows.signings.length > rows.attempts.length || !rows.maySign ? undefined : due(rows);
    if (attempt === undefined) return nothing(turn, undefined);
    const signing = signingOf(turn, rows.intent, attempt);
    return { changes: [{ kind: "signing", signing }], atMs: signing.atMs, value: attempt.kind };
  });
  if (kind === undefined) return;
  passCrashPoint(turn.deps, kind === "cancel" ? "lane.cancel.reserve.after" : "lane.bump.reserve.after");
}

/**
 * Signs what is written down and not signed yet, where that is allowed at this instant, and stores the bytes before anybody
 * else can see them. Signing is deterministic, so that a kill in between gives the same bytes again. Where a person
 * cancelled it while the key was used, and heard that nothing of it was signed, the bytes are forgotten instead: they
 * never left.
 */
export async function signPlanned(turn: LaneTurn, id: string): Promise<void> {
  const { deps, options } = turn;
  if (unsignedOf(await readIntent(turn, id)) === undefined) return;
  const rows = await readToSign(turn, id);
  const signing = unsignedOf(rows);
  if (signing === undefined || !rows.maySign || isGivenUp(rows)) return;
  const label = labelOf(signing.kind);
  passCrashPoint(deps, `${label}.sign.before`);
  const { raw, hash } = await deps.signer.signTransaction({
    chainId: options.chainId,
    nonce: signing.nonce,
    to: signing.to,
    data: signing.data,
    value: signing.value,
    gasLimit: signing.gasLimit,
    maxFeePerGas: signing.maxFeePerGas,
    maxPriorityFeePerGas: signing.maxPriorityFeePerGas,
  });
  passCrashPoint(deps, `${label}.signed.before`);
  const attempt = attemptOf(signing, { raw, hash, atMs: deps.clock.nowMs() });
  await commit(turn, id, (now) => (isGivenUp(now) ? dropped(turn, now) : stored(turn, now, attempt)));
  passCrashPoint(deps, `${label}.signed.after`);
}

/** What is written down and not signed yet. */
function unsignedOf({ signings, attempts }: LaneRows): SigningRow | undefined {
  return signings.at(attempts.length);
}

/** Whether a person cancelled it before there were any bytes of it. */
function isGivenUp({ intent, wish }: Known<LaneRows>): boolean {
  return intent.state === "planned" && wish !== undefined;
}

function stored(parts: LaneParts, rows: Known<LaneRows>, attempt: AttemptRow): LaneDecided<unknown> {
  const { id, state } = rows.intent;
  const { hash } = attempt;
  const added = { kind: "attempt", attempt } as const;
  if (state === "planned") {
    return moveIntent(parts, rows, { move: { to: "signed", event: { kind: "signed", hash } }, alongside: [added] });
  }
  const event = { intentId: id, kind: "replaced", hash } as const;
  return { changes: [added], atMs: attempt.signedAtMs, value: undefined, event };
}

/**
 * Signs the version of an intent that has its nonce in a block and no row here: signing is deterministic, so that bytes of
 * ours become the same again, and their receipt is found then. What nodes show as such is no reason to pay more than the
 * intent may: ours never did.
 * @returns whether something was signed now
 */
export async function signAgain(turn: LaneTurn, { id }: IntentRow, use: BlockTransaction): Promise<boolean> {
  const { intent, attempts, signings, maySign } = await readToSign(turn, id);
  const { fees, value, gasLimit } = use;
  const isOurs = value === intent.value && gasLimit === intent.gasLimit;
  if (!isOurs || fees === undefined || fees.maxFeePerGas > intent.maxFeePerGasCap || !maySign) return false;
  if (attempts.some(({ kind, maxFeePerGas }) => kind !== "cancel" && maxFeePerGas === fees.maxFeePerGas)) return false;
  // A kill left the row of a version that was not signed: that one first.
  if (signings.length === attempts.length) await planAttempt(turn, id, () => ({ kind: "replacement", fees }));
  await signPlanned(turn, id);
  return true;
}

/** Crash labels of a kind of attempt. */
export function labelOf(kind: AttemptKind): string {
  if (kind === "original") return "lane";
  return kind === "cancel" ? "lane.cancel" : "lane.bump";
}

/**
 * Ends an intent of which nothing was signed, when a person cancelled it or its time is over by the chain; its nonce, if it
 * had one, is free again. A clock of ours that runs ahead ends nothing: it only keeps the intent from being signed.
 * @returns whether it is over, by the chain or by us
 */
export async function dropIfOver(
  turn: LaneTurn,
  { id, signBySeconds }: IntentRow,
  wish: CancelWish | undefined,
): Promise<boolean> {
  const { deps, latest } = turn;
  const isLateHere = Math.floor(deps.clock.nowMs() / 1_000) > signBySeconds;
  if (wish === undefined && latest.timestamp <= signBySeconds) return isLateHere;
  await commit(turn, id, (rows) => dropped(turn, rows));
  return true;
}

function dropped(turn: LaneTurn, rows: Known<LaneRows>): LaneDecided<IntentRow> {
  const { wish, intent } = rows;
  const reason =
    wish === undefined
      ? `it was to be signed until ${intent.signBySeconds}, now is ${turn.latest.timestamp}`
      : `${wish.by} cancelled it`;
  const event = { kind: "dropped", reason, ...(wish === undefined ? {} : { cancelledBy: wish.by }) } as const;
  return moveIntent(turn, rows, { move: { to: "dropped", fields: { nonce: undefined }, event, detail: reason } });
}

/**
 * Stops all signing for an account that is not halted until a person looks.
 * @param why.count so many transactions of it are in blocks
 * @param why.isTrueOf whether it is so by the rows of that instant: a person may have accepted it meanwhile
 */
export async function halt(
  { options, deps }: LaneParts,
  why: { readonly reason: string; count(rows: LaneRows): number; isTrueOf(rows: LaneRows): boolean },
): Promise<void> {
  const question = accountOf(options);
  const { account } = question;
  const { reason } = why;
  const isHalted = await deps.store.commit({
    question,
    decide: (rows): LaneDecided<boolean> => {
      if (rows.halt !== undefined || !why.isTrueOf(rows)) return nothing({ options, deps }, false);
      const atMs = deps.clock.nowMs();
      const change = { ...question, reason, transactionCount: why.count(rows), atMs };
      return { changes: [{ kind: "account-halted", halt: change }], atMs, value: true };
    },
  });
  if (!isHalted) return;
  deps.logger.error({ account, reason }, "the account is halted: nothing is signed until a person releases it");
}

function signingOf(turn: LaneTurn, intent: IntentRow, attempt: { kind: AttemptKind; fees: Fees }): SigningRow {
  const { kind, fees } = attempt;
  if (intent.nonce === undefined) throw new Error(`intent ${intent.id} is to be signed without a nonce`);
  const isCancel = kind === "cancel";
  return {
    intentId: intent.id,
    kind,
    nonce: intent.nonce,
    to: isCancel ? turn.options.account : intent.to,
    data: isCancel ? "0x" : intent.data,
    value: isCancel ? 0n : intent.value,
    gasLimit: isCancel ? EMPTY_GAS_LIMIT : intent.gasLimit,
    ...fees,
    atMs: turn.deps.clock.nowMs(),
  };
}

function attemptOf(signing: SigningRow, signed: { raw: Hex; hash: Hex; atMs: number }): AttemptRow {
  return {
    hash: signed.hash,
    intentId: signing.intentId,
    kind: signing.kind,
    raw: signed.raw,
    nonce: signing.nonce,
    maxFeePerGas: signing.maxFeePerGas,
    maxPriorityFeePerGas: signing.maxPriorityFeePerGas,
    state: "signed",
    signedAtMs: signed.atMs,
    firstBroadcastBlock: undefined,
    lastBroadcastAtMs: undefined,
    lastBroadcastBlock: undefined,
  };
}
