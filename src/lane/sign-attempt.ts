import type { Hex } from "../domain/money/address.ts";
import type { BlockTransaction } from "../ports/chain.ts";
import type { AttemptKind, AttemptRow, IntentRow, SigningRow, Visibility } from "../ports/lane-store.ts";
import type { LaneDecided, LaneRows } from "../ports/lane-unit-of-work.ts";
import { dropped } from "./drop-intent.ts";
import type { Fees } from "./fees.ts";
import {
  commit,
  type Known,
  type LaneParts,
  type LaneTurn,
  nothing,
  passCrashPoint,
  readToSign,
} from "./lane-context.ts";
import { moveIntent } from "./moves.ts";
import { replacementVisibility } from "./visibility.ts";

/** Gas of an empty self-transfer, with room for chains whose plain transfers cost more than 21,000. */
export const EMPTY_GAS_LIMIT = 60_000n;

/** A version of an intent that is to be signed. */
export interface PlannedAttempt {
  readonly kind: AttemptKind;
  readonly fees: Fees;
  readonly visibility: Visibility;
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
    // What is written down and not signed comes first; and a person may have halted everything while the node answered.
    const attempt = isUnsigned(rows) || !rows.maySign ? undefined : due(rows);
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
 * anyone else can see them. Signing is deterministic, so that a kill in between gives the same bytes again. Where a
 * person cancelled it while the key was used, and was answered that nothing of it was signed, the bytes are dropped
 * instead: they never left.
 */
export async function signPlanned(turn: LaneTurn, id: string): Promise<void> {
  const { deps, options } = turn;
  const rows = await readToSign(turn, id);
  const signing = rows.signings.at(rows.attempts.length);
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

/** Whether a version is written down and not signed yet. */
export function isUnsigned({ signings, attempts }: LaneRows): boolean {
  return signings.length > attempts.length;
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
 * Signs the version of an intent that has its nonce in a block and no row here: signing is deterministic, so that bytes of
 * ours become the same again, and their receipt is found then. What nodes show as such is no reason to pay more than the
 * intent may: ours never did.
 * @returns whether something was signed now
 */
export async function signAgain(turn: LaneTurn, { id }: IntentRow, use: BlockTransaction): Promise<boolean> {
  const rows = await readToSign(turn, id);
  const { intent, attempts, maySign } = rows;
  const { fees, value, gasLimit } = use;
  const isOurs = value === intent.value && gasLimit === intent.gasLimit;
  if (!isOurs || fees === undefined || fees.maxFeePerGas > intent.maxFeePerGasCap || !maySign) return false;
  if (attempts.some(({ kind, maxFeePerGas }) => kind !== "cancel" && maxFeePerGas === fees.maxFeePerGas)) return false;
  // A kill left the row of a version that was not signed: that one first.
  if (!isUnsigned(rows)) {
    const visibility = replacementVisibility(rows);
    await planAttempt(turn, id, () => ({ kind: "replacement", fees, visibility }));
  }
  await signPlanned(turn, id);
  return true;
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
    gasLimit: isCancel ? EMPTY_GAS_LIMIT : intent.gasLimit,
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
