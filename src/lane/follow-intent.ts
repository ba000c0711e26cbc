import type { Receipt } from "../ports/chain.ts";
import type { AttemptRow, IntentRow } from "../ports/lane-store.ts";
import { broadcastNewest } from "./broadcast.ts";
import { firstFees, raisedFees } from "./fees.ts";
import { type LaneTurn, maySign, moveIntent, passCrashPoint } from "./lane-context.ts";
import { drop, halt, planAttempt, signPlanned } from "./sign-attempt.ts";

/** How much more than an intent's own cap its cancellation may pay: it must be able to outbid what it replaces. */
const CANCEL_CAP_FACTOR = 2n;

/** Takes an intent that has a nonce one step further. */
export async function followIntent(turn: LaneTurn, intent: IntentRow): Promise<void> {
  const { deps } = turn;
  if (intent.state === "planned") {
    await startOver(turn, intent);
    return;
  }
  const attempts = deps.store.attempts(intent.id);
  const mined = await findMined(turn, attempts);
  if (mined === undefined) await lookForLoss(turn, intent, attempts);
  else await noteMined(turn, intent, mined);
}

/** A nonce was given and nothing signed yet: either now, or never. */
async function startOver(turn: LaneTurn, intent: IntentRow): Promise<void> {
  const { deps, latest } = turn;
  const nowSeconds = Math.max(latest.timestamp, Math.floor(deps.clock.nowMs() / 1_000));
  if (nowSeconds > intent.signBySeconds) {
    drop(deps, intent, `it was to be signed until ${intent.signBySeconds}, now is ${nowSeconds}`);
    return;
  }
  if (!maySign(turn)) return;
  await signPlanned(turn, intent);
  const signed = deps.store.intent(intent.id);
  if (signed?.state === "signed") await broadcastNewest(turn, signed);
}

interface Mined {
  readonly attempt: AttemptRow;
  readonly receipt: Receipt;
}

/** A receipt counts for any attempt of the nonce, and only when its block is canonical. */
async function findMined({ deps }: LaneTurn, attempts: readonly AttemptRow[]): Promise<Mined | undefined> {
  for (const attempt of [...attempts].reverse()) {
    const receipt = await deps.chain.receipt(attempt.hash);
    if (receipt === undefined) continue;
    if ((await deps.chain.blockHash(receipt.blockNumber)) === receipt.blockHash) return { attempt, receipt };
  }
  return undefined;
}

async function noteMined(turn: LaneTurn, intent: IntentRow, mined: Mined): Promise<void> {
  const { deps } = turn;
  const { receipt } = mined;
  const isSame = intent.minedBlockHash === receipt.blockHash && intent.minedAttemptHash === receipt.hash;
  if ((intent.state === "mined" || intent.state === "confirmed") && !isSame) takeBack(turn, intent);
  let current = reread(turn, intent);
  if (current.state === "signed" || current.state === "broadcast") {
    passCrashPoint(deps, "lane.mined.before");
    recordMined(turn, current, mined);
    passCrashPoint(deps, "lane.mined.after");
    current = reread(turn, intent);
  }
  const isCancel = mined.attempt.kind === "cancel";
  const confirmations = turn.latest.number - receipt.blockNumber + 1;
  if (current.state === "mined" && confirmations >= turn.options.confirmations) {
    moveIntent(
      deps,
      current,
      { to: "confirmed", ...(isCancel ? {} : { event: { kind: "confirmed" as const, receipt } }) },
      () => moveAttempt(turn, mined.attempt, receipt.succeeded ? "confirmed" : "reverted"),
    );
    passCrashPoint(deps, "lane.confirmed.after");
    current = reread(turn, intent);
  }
  if (receipt.blockNumber <= turn.finalized.number) recordFinal(turn, current, mined);
}

function recordMined(turn: LaneTurn, intent: IntentRow, mined: Mined): void {
  const { attempt, receipt } = mined;
  moveIntent(
    turn.deps,
    intent,
    {
      to: "mined",
      change: {
        minedBlockNumber: receipt.blockNumber,
        minedBlockHash: receipt.blockHash,
        minedAttemptHash: receipt.hash,
      },
      ...(attempt.kind === "cancel" ? {} : { event: { kind: "mined" as const, hash: receipt.hash, receipt } }),
      detail: `block ${receipt.blockNumber}`,
    },
    () => moveAttempt(turn, attempt, "mined"),
  );
}

function recordFinal(turn: LaneTurn, intent: IntentRow, mined: Mined): void {
  const { deps } = turn;
  const succeeded = mined.receipt.succeeded ? "succeeded" : "reverted";
  const outcome = mined.attempt.kind === "cancel" ? "cancelled" : succeeded;
  passCrashPoint(deps, "lane.final.before");
  moveIntent(
    deps,
    intent,
    { to: "final", change: { outcome }, event: { kind: "final", outcome, receipt: mined.receipt }, detail: outcome },
    () => {
      for (const attempt of deps.store.attempts(intent.id)) {
        if (attempt.hash !== mined.attempt.hash) moveAttempt(turn, attempt, "replaced");
      }
    },
  );
  passCrashPoint(deps, "lane.final.after");
}

/** The block is gone from the canonical chain: what was mined is in flight again. */
function takeBack(turn: LaneTurn, intent: IntentRow): void {
  const { deps } = turn;
  const attempt = deps.store.attempts(intent.id).find((candidate) => candidate.hash === intent.minedAttemptHash);
  moveIntent(
    deps,
    intent,
    {
      to: "broadcast",
      change: { minedBlockNumber: undefined, minedBlockHash: undefined, minedAttemptHash: undefined },
      ...(attempt?.kind === "cancel" ? {} : { event: { kind: "reorged" as const } }),
      detail: "its block is no longer canonical",
    },
    () => {
      if (attempt !== undefined) moveAttempt(turn, attempt, "broadcast");
    },
  );
}

/** No receipt. That proves nothing: a reorganisation, a lagging node, a lost broadcast and a foreign nonce look alike. */
async function lookForLoss(turn: LaneTurn, intent: IntentRow, attempts: readonly AttemptRow[]): Promise<void> {
  const { deps } = turn;
  if (intent.minedBlockNumber !== undefined) {
    const canonical = await deps.chain.blockHash(intent.minedBlockNumber);
    if (canonical === undefined || canonical === intent.minedBlockHash) return;
    takeBack(turn, intent);
  }
  const current = reread(turn, intent);
  if (await isNonceTakenByOthers(turn, current, attempts)) return;
  if (maySign(turn)) {
    planReplacement(turn, current, attempts, await deps.chain.priorityFee());
    await signPlanned(turn, current);
  }
  await broadcastNewest(turn, reread(turn, current));
}

/** Only a finalised block that counts the nonce, with no receipt for any of our attempts, proves a foreign transaction. */
async function isNonceTakenByOthers(
  turn: LaneTurn,
  intent: IntentRow,
  attempts: readonly AttemptRow[],
): Promise<boolean> {
  const { deps, options } = turn;
  const nonce = intent.nonce ?? 0;
  if ((await deps.chain.transactionCount(options.account, "latest")) <= nonce) return false;
  const finalCount = await deps.chain.transactionCount(options.account, turn.finalized.number);
  if (finalCount > nonce && (await findMined(turn, attempts)) === undefined) {
    const reason = `nonce ${nonce} was used in a finalised block by a transaction that is not ours`;
    if (deps.store.halt(options.account, options.chainId) === undefined) halt(turn, reason);
  }
  return true;
}

/** Past its deadline an intent is cancelled; unmined for too long it is sent with higher fees, up to the cap. */
function planReplacement(
  turn: LaneTurn,
  intent: IntentRow,
  attempts: readonly AttemptRow[],
  priorityFee: bigint,
): void {
  const { deps, options, latest } = turn;
  const newest = attempts.at(-1);
  if (newest === undefined || deps.store.signings(intent.id).length > attempts.length) return;
  const isCancelling = newest.kind === "cancel";
  const { deadlineSeconds } = intent;
  const isPast = deadlineSeconds !== undefined && latest.timestamp > deadlineSeconds + options.cancelMarginSeconds;
  const isStuck =
    newest.firstBroadcastBlock !== undefined && latest.number - newest.firstBroadcastBlock >= options.bumpAfterBlocks;
  if (isCancelling ? !isStuck : !isPast && !isStuck) return;
  if (!isPast && attempts.length > options.maxReplacements) return;
  const kind = isPast ? "cancel" : "replacement";
  const market = { baseFeePerGas: latest.baseFeePerGas, priorityFee };
  const cap = kind === "cancel" ? intent.maxFeePerGasCap * CANCEL_CAP_FACTOR : intent.maxFeePerGasCap;
  const fees = raisedFees(newest, market, cap);
  if (fees === undefined || firstFees(market, cap) === undefined) return;
  planAttempt(turn, intent, { kind, fees });
}

function moveAttempt(turn: LaneTurn, attempt: AttemptRow, to: AttemptRow["state"]): void {
  const { store, clock } = turn.deps;
  store.updateAttempt(attempt.hash, { state: to });
  store.recordTransition({
    intentId: attempt.intentId,
    attemptHash: attempt.hash,
    from: attempt.state,
    to,
    atMs: clock.nowMs(),
    detail: undefined,
  });
}

function reread(turn: LaneTurn, intent: IntentRow): IntentRow {
  const row = turn.deps.store.intent(intent.id);
  if (row === undefined) throw new Error(`intent ${intent.id} is gone from the database`);
  return row;
}
