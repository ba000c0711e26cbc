import type { Hex } from "../domain/money/address.ts";
import type { BlockTransaction } from "../ports/chain.ts";
import type { AttemptKind, IntentRow, SigningRow } from "../ports/lane-store.ts";
import type { Fees } from "./fees.ts";
import { firstFees } from "./fees.ts";
import {
  feeCapOf,
  isSaidAgain,
  type LaneDeps,
  type LaneTurn,
  maySign,
  moveIntent,
  passCrashPoint,
} from "./lane-context.ts";

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
export function insertBegun(turn: LaneTurn, intent: IntentRow, fees: Fees): void {
  const { store } = turn.deps;
  store.insertIntent(intent);
  store.recordTransition({
    intentId: intent.id,
    attemptHash: undefined,
    from: undefined,
    to: "planned",
    atMs: intent.createdAtMs,
    detail: `nonce ${intent.nonce} is missing`,
  });
  store.insertSigning(signingOf(turn, intent, { kind: "original", fees }));
}

/** Gives a waiting intent a nonce and writes down what is to be signed. */
export async function beginIntent(turn: LaneTurn, intent: IntentRow, fees: Fees): Promise<void> {
  const { deps } = turn;
  const { store } = deps;
  const next = await nextNonce(turn);
  // A person may have halted everything while the chain was read.
  if (next === undefined || !maySign(turn, intent)) return;
  store.transaction(() => {
    store.updateIntent(intent.id, { nonce: next });
    store.insertSigning(signingOf(turn, { ...intent, nonce: next }, { kind: "original", fees }));
  });
  passCrashPoint(deps, "lane.reserve.after");
}

/**
 * The next nonce comes from the rows, held against the chain. When a finalised block counts transactions that neither the
 * rows know nor a person accepted, and a later one still does, somebody else uses the key: the account is halted. The
 * first nonce of all comes from the chain, where all endpoints have to agree on it.
 * @returns undefined while it is not certain
 */
async function nextNonce(turn: LaneTurn): Promise<number | undefined> {
  const { deps, options, suspicions } = turn;
  const { store, chain, logger } = deps;
  const { account, chainId } = options;
  const highest = store.highestNonce(account, chainId);
  const count = await chain.transactionCount(account, "latest");
  const accepted = store.acceptedCount(account, chainId);
  const what = "the chain counts more transactions than the rows";
  if (highest === undefined) {
    const agreed = await chain.agreed();
    return (await agreed.transactionCount(account, agreed.latest.number)) === count ? count : undefined;
  }
  const next = Math.max(highest + 1, accepted);
  if (count <= next) {
    suspicions.delete(what);
    return next;
  }
  const agreed = await chain.agreed();
  const finalized = await agreed.finalized();
  const final = await agreed.transactionCount(account, finalized.number);
  if (final <= next || !isSaidAgain(turn, what, finalized.number)) {
    logger.warn({ account, count, known: next, final }, `${what}; nothing is signed until finalised blocks tell why`);
    return undefined;
  }
  const reason = `finalised blocks count ${final} transactions of this account, the rows know ${next}`;
  store.transaction(() => halt(turn, `${reason}: somebody else uses its key`, final));
  return undefined;
}

/** Writes down one more version of an intent that is to be signed: with higher fees, or as a cancellation. */
export function planAttempt(turn: LaneTurn, intent: IntentRow, attempt: { kind: AttemptKind; fees: Fees }): void {
  turn.deps.store.transaction(() => turn.deps.store.insertSigning(signingOf(turn, intent, attempt)));
  passCrashPoint(turn.deps, attempt.kind === "cancel" ? "lane.cancel.reserve.after" : "lane.bump.reserve.after");
}

/**
 * Signs what is written down and not signed yet, where that is allowed at this instant, and stores the bytes before anybody
 * else can see them. Signing is deterministic, so that a kill in between gives the same bytes again.
 */
export async function signPlanned(turn: LaneTurn, intent: IntentRow): Promise<void> {
  const { deps, options } = turn;
  const { store, signer, clock } = deps;
  const signing = store.signings(intent.id).at(store.attempts(intent.id).length);
  if (signing === undefined || !maySign(turn, intent)) return;
  const label = labelOf(signing.kind);
  passCrashPoint(deps, `${label}.sign.before`);
  const { raw, hash } = await signer.signTransaction({
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
  const insert = (): void => insertAttempt(deps, signing, { raw, hash, atMs: clock.nowMs() });
  if (intent.state === "planned") moveIntent(deps, intent, { to: "signed", event: { kind: "signed", hash } }, insert);
  else {
    store.transaction(() => {
      insert();
      deps.listener.onIntent({ intentId: intent.id, kind: "replaced", hash });
    });
  }
  passCrashPoint(deps, `${label}.signed.after`);
}

/**
 * Signs the version of an intent that has its nonce in a block and no row here: signing is deterministic, so that bytes of
 * ours become the same again, and their receipt is found then. What nodes show as such is no reason to pay more than the
 * intent may: ours never did.
 * @returns whether something was signed now
 */
export async function signAgain(turn: LaneTurn, intent: IntentRow, use: BlockTransaction): Promise<boolean> {
  const { store } = turn.deps;
  const { fees, value, gasLimit } = use;
  const isOurs = value === intent.value && gasLimit === intent.gasLimit;
  if (!isOurs || fees === undefined || fees.maxFeePerGas > intent.maxFeePerGasCap || !maySign(turn, intent))
    return false;
  const attempts = store.attempts(intent.id);
  if (attempts.some(({ kind, maxFeePerGas }) => kind !== "cancel" && maxFeePerGas === fees.maxFeePerGas)) return false;
  // A kill left the row of a version that was not signed: that one first.
  if (store.signings(intent.id).length === attempts.length) planAttempt(turn, intent, { kind: "replacement", fees });
  await signPlanned(turn, intent);
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
export function dropIfOver({ deps, latest }: LaneTurn, intent: IntentRow): boolean {
  const { signBySeconds } = intent;
  const wish = deps.store.cancelWish(intent.id);
  const isLateHere = Math.floor(deps.clock.nowMs() / 1_000) > signBySeconds;
  if (wish === undefined && latest.timestamp <= signBySeconds) return isLateHere;
  const reason =
    wish === undefined
      ? `it was to be signed until ${signBySeconds}, now is ${latest.timestamp}`
      : `${wish.by} cancelled it`;
  const event = { kind: "dropped", reason, ...(wish === undefined ? {} : { cancelledBy: wish.by }) } as const;
  moveIntent(deps, intent, { to: "dropped", change: { nonce: undefined }, event, detail: reason });
  return true;
}

/** Stops all signing for the account until a person looks; `count` transactions of it are in blocks. */
export function halt(turn: LaneTurn, reason: string, count: number): void {
  const { deps, options } = turn;
  const { account, chainId } = options;
  deps.store.addHalt({ account, chainId, reason, transactionCount: count, atMs: deps.clock.nowMs() });
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

function insertAttempt(deps: LaneDeps, signing: SigningRow, signed: { raw: Hex; hash: Hex; atMs: number }): void {
  const { store } = deps;
  store.insertAttempt({
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
  });
  store.recordTransition({
    intentId: signing.intentId,
    attemptHash: signed.hash,
    from: undefined,
    to: "signed",
    atMs: signed.atMs,
    detail: signing.kind,
  });
}
