import type { Hex } from "../domain/money/address.ts";
import { SigningError } from "../domain/signing-error.ts";
import type { BlockTransaction } from "../ports/chain.ts";
import type { AttemptKind, AttemptRow, IntentRow, SigningRow, Visibility } from "../ports/lane-store.ts";
import type { LaneDecided, LaneRows } from "../ports/lane-unit-of-work.ts";
import { dropped } from "./drop-intent.ts";
import type { Fees } from "./fees.ts";
import {
  commit,
  isTooDear,
  isTooLate,
  type Known,
  type LaneParts,
  type LaneTurn,
  nothing,
  passCrashPoint,
  readIntent,
  readToSign,
} from "./lane-context.ts";
import { moveIntent } from "./moves.ts";
import { replacementVisibility } from "./visibility.ts";

/** A version of an intent that is to be signed. */
export interface PlannedAttempt {
  readonly kind: AttemptKind;
  readonly fees: Fees;
  readonly visibility: Visibility;
  /** of one that stands in a block already. Default: the intent's, or that of a cancellation */
  readonly gasLimit?: bigint;
}

/**
 * Writes down one more version of an intent that is to be signed, with higher fees or as a cancellation, where it may be.
 * @returns whether it did
 */
export async function planAttempt(
  turn: LaneTurn,
  id: string,
  due: (rows: Known<LaneRows>) => PlannedAttempt | undefined,
): Promise<boolean> {
  const kind = await commit(turn, id, (rows): LaneDecided<AttemptKind | undefined> => {
    // A person may have halted everything while the node answered.
    const attempt = rows.maySign ? due(rows) : undefined;
    if (attempt === undefined) return nothing(turn, undefined);
    const signing = signingOf(turn, rows.intent, attempt);
    return { changes: [{ kind: "signing", signing }], atMs: signing.atMs, value: attempt.kind };
  });
  if (kind === undefined) return false;
  passCrashPoint(turn.deps, kind === "cancel" ? "lane.cancel.reserve.after" : "lane.bump.reserve.after");
  return true;
}

/**
 * Signs what is written down and not signed yet, where that is allowed at this instant, and stores the bytes before
 * anyone else can see them. After a kill in between it is signed again: other bytes, maybe, with the same nonce and the
 * same content, of which the first were stored nowhere and sent to nobody. Where a person cancelled it while the key was
 * used, and was answered that nothing of it was signed, the bytes are dropped instead: they never left. Without an answer
 * of the signer nothing is stored, and the next turn asks again, for as long as the row may be signed: none above the
 * ceiling of now, and one with higher fees not beyond a person's cancellation, nor beyond its deadline, unless it is in a
 * final block already.
 */
export async function signPlanned(turn: LaneTurn, id: string, isInBlock = false): Promise<void> {
  const { deps } = turn;
  const rows = await readToSign(turn, id);
  const signing = unsignedOf(rows);
  if (signing === undefined || !rows.maySign || isGivenUp(rows)) return;
  const isWanted = (now: Known<LaneRows>): boolean => isInBlock || !isOver(turn, now, signing);
  if (!isWanted(rows)) return;
  const label = labelOf(signing.kind);
  passCrashPoint(deps, `${label}.sign.before`);
  const signed = await signatureOf(turn, signing);
  if (signed === undefined) return;
  passCrashPoint(deps, `${label}.signed.before`);
  const attempt = attemptOf(signing, { ...signed, atMs: deps.clock.nowMs() });
  await commit(turn, id, (now): LaneDecided<unknown> => {
    if (!isWanted(now)) return nothing(turn, undefined);
    return isGivenUp(now) ? dropped(turn, now) : stored(turn, now, attempt);
  });
  passCrashPoint(deps, `${label}.signed.after`);
}

/**
 * Whether a version may not be signed any more: its fees are above what may be paid now, or it is one with higher fees that
 * came too late for its signature: what takes its place is a cancellation.
 */
function isOver(turn: LaneTurn, { intent, cancelRequest }: Known<LaneRows>, signing: SigningRow): boolean {
  if (isTooDear(turn, intent, signing)) return true;
  return signing.kind === "replacement" && (cancelRequest !== undefined || isTooLate(turn, intent));
}

/** What a transaction in a block may pay; of one with a plain gas price only where there are its bytes: ours have none. */
function feesOf({ fees, gasPrice, raw }: BlockTransaction): Fees | undefined {
  if (fees !== undefined || gasPrice === undefined || raw === undefined) return fees;
  return { maxFeePerGas: gasPrice, maxPriorityFeePerGas: gasPrice };
}

/** The bytes of a version; undefined while the signer gives none. */
async function signatureOf(
  { deps, options }: LaneTurn,
  signing: SigningRow,
): Promise<{ readonly raw: Hex; readonly hash: Hex } | undefined> {
  const { nonce, to, data, value, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = signing;
  const content = { nonce, to, data, value, gasLimit, maxFeePerGas, maxPriorityFeePerGas };
  try {
    return await deps.signer.signTransaction({ chainId: options.chainId, ...content });
  } catch (error) {
    if (!(error instanceof SigningError)) throw error;
    const { code, message } = error;
    const isNews = code !== "pending" && code !== "held back";
    if (isNews)
      deps.logger.warn({ intentId: signing.intentId, code, error: message }, "a transaction is not signed yet");
    return undefined;
  }
}

/** The version that is to be signed next: the newest that is written down, where it is not signed yet. */
export function unsignedOf({ signings, attempts }: LaneRows): SigningRow | undefined {
  const newest = signings.at(-1);
  const isSigned =
    newest !== undefined && attempts.some((attempt) => attempt.kind === newest.kind && hasFees(attempt, newest));
  return isSigned ? undefined : newest;
}

function hasFees(row: Fees, { maxFeePerGas, maxPriorityFeePerGas }: Fees): boolean {
  return row.maxFeePerGas === maxFeePerGas && row.maxPriorityFeePerGas === maxPriorityFeePerGas;
}

/** Whether a person cancelled it before there were any bytes of it. */
function isGivenUp({ intent, cancelRequest }: Known<LaneRows>): boolean {
  return intent.state === "planned" && cancelRequest !== undefined;
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
 * Takes the version of an intent up that has its nonce in a block and no row here. Its bytes are those of the block, where
 * a node shows their signature: it is this account's, whoever used its key, nothing is signed for them, and their receipt
 * is found then. Where none is shown they are signed again, which finds them where signing is deterministic. What nodes
 * show is no reason to sign for more than the intent may pay, or another gas limit: ours never did.
 * @returns whether its bytes are stored now
 */
export async function takeUp(turn: LaneTurn, { id }: IntentRow, use: BlockTransaction): Promise<boolean> {
  const rows = await readToSign(turn, id);
  const { value, gasLimit, raw, hash } = use;
  const fees = feesOf(use);
  if (value !== rows.intent.value || fees === undefined || !rows.maySign) return false;
  const version = { kind: "replacement", fees, visibility: replacementVisibility(rows), gasLimit } as const;
  if (raw !== undefined) return await storeShown(turn, id, { version, raw, hash });
  if (!maySignAgain(rows, fees, gasLimit)) return false;
  // Another version that still waits for its signature can come into no block any more. A cancellation that does may have
  // the fees of this one, and is never what does the same.
  const waiting = unsignedOf(rows);
  if (waiting === undefined || waiting.kind === "cancel" || !hasFees(waiting, fees)) {
    await planAttempt(turn, id, () => version);
  }
  await signPlanned(turn, id, true);
  return (await readIntent(turn, id)).attempts.some((attempt) => attempt.hash === hash);
}

/** Row and bytes at once: what a person paid may be more than ours may, and no row of it may ever wait for a signature. */
async function storeShown(
  turn: LaneTurn,
  id: string,
  { version, raw, hash }: { readonly version: PlannedAttempt; readonly raw: Hex; readonly hash: Hex },
): Promise<boolean> {
  return await commit(turn, id, (rows): LaneDecided<boolean> => {
    const signing = signingOf(turn, rows.intent, version);
    const decided = stored(turn, rows, attemptOf(signing, { raw, hash, atMs: signing.atMs }));
    return { ...decided, changes: [{ kind: "signing", signing }, ...decided.changes], value: true };
  });
}

/** Whether it may be a version of ours that is signed once more, and is none that was signed already. */
function maySignAgain({ intent, attempts }: Known<LaneRows>, { maxFeePerGas }: Fees, gasLimit: bigint): boolean {
  if (gasLimit !== intent.gasLimit || maxFeePerGas > intent.maxFeePerGasCap) return false;
  return !attempts.some((attempt) => attempt.kind !== "cancel" && attempt.maxFeePerGas === maxFeePerGas);
}

/** Crash labels of a kind of attempt. */
export function labelOf(kind: AttemptKind): string {
  if (kind === "original") return "lane";
  return kind === "cancel" ? "lane.cancel" : "lane.bump";
}

/** What is written down before a version of an intent is signed. @throws Error without a nonce: a broken invariant */
export function signingOf(turn: LaneTurn, intent: IntentRow, attempt: PlannedAttempt): SigningRow {
  const { kind, fees, visibility } = attempt;
  if (intent.nonce === undefined) throw new Error(`intent ${intent.id} is to be signed without a nonce`);
  const isCancel = kind === "cancel";
  return {
    intentId: intent.id,
    kind,
    nonce: intent.nonce,
    to: isCancel ? turn.options.account : intent.to,
    data: isCancel ? "0x" : intent.data,
    value: isCancel ? 0n : intent.value,
    gasLimit: attempt.gasLimit ?? (isCancel ? turn.options.emptyGasLimit : intent.gasLimit),
    ...fees,
    visibility,
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
    visibility: signing.visibility,
    state: "signed",
    signedAtMs: signed.atMs,
    firstBroadcastBlock: undefined,
    lastBroadcastAtMs: undefined,
    lastBroadcastBlock: undefined,
  };
}
