import type { IntentRow } from "../ports/lane-store.ts";
import { begunFiller } from "./begin-intent.ts";
import { firstFees } from "./fees.ts";
import { accountOf, cancelCapOf, commit, isTooLate, type LaneTurn, nothing } from "./lane-context.ts";

const GAP = "nonce is missing: ";
/** So long may what fills a gap wait for its signature: after that the gap may be closed already. */
const SIGN_WITHIN_SECONDS = 120;

/** The chain waits for no nonce below one of ours any more. */
export function forgetGaps({ suspicions }: LaneTurn): void {
  for (const what of [...suspicions.keys()]) if (what.startsWith(GAP)) suspicions.delete(what);
}

/**
 * The chain waits for a nonce below an intent's: what used it, when the intent got its own, was taken back by a
 * reorganisation, and until it is used again nothing of ours can be mined. That is believed once the block in which it
 * was first seen is final, and all endpoints count no more there and at their newest block; until then its sender has
 * the time to send it again. Bytes of ours that succeeded there, or cancelled it, are what the rows say: they are sent
 * again. Where nothing of ours was ever given the nonce, an empty transaction to ourselves takes it: it moves nothing,
 * and what it races with, should that come back, is not ours. In all else a person has to act, also where what had it
 * is archived.
 */
export async function closeGap(
  turn: LaneTurn,
  intent: IntentRow,
  { nonce, missing }: { nonce: number; missing: number },
): Promise<void> {
  const { deps, options, latest } = turn;
  const { account } = options;
  const isBetween = (other: IntentRow): boolean =>
    other.nonce !== undefined && other.nonce >= missing && other.nonce < nonce;
  // Those are followed by themselves, and so is what already fills the gap.
  if ((await deps.store.open(accountOf(options))).intents.some(isBetween)) return;
  if (!(await isBelieved(turn, missing))) return;
  // What is done now is not done again before that much time has passed once more.
  turn.suspicions.set(`${GAP}${missing}`, latest.number);
  const done = (await resend(turn, missing)) ?? (await fill(turn, intent, missing));
  const what = `${intent.purpose} ${intent.id} of ${account} (nonce ${nonce})`;
  const detail =
    `${what} cannot be mined: the chain waits for nonce ${missing}, and what had used it was taken back by a ` +
    `reorganisation. ${done}`;
  deps.logger.warn({ intentId: intent.id, nonce, missing }, detail);
  await commit(turn, intent.id, () => ({ ...nothing(turn, undefined), refusal: { intentId: intent.id, detail } }));
}

async function isBelieved(turn: LaneTurn, missing: number): Promise<boolean> {
  const { deps, options, suspicions, latest } = turn;
  const since = suspicions.get(`${GAP}${missing}`) ?? Number.POSITIVE_INFINITY;
  // Of a block above the newest one it was a false one: the chain may never come so far.
  if (since > latest.number) suspicions.set(`${GAP}${missing}`, latest.number);
  if (turn.finalized.number < since) return false;
  const agreed = await deps.chain.agreed();
  const finalized = await agreed.finalized();
  if (finalized.number < since) return false;
  const final = await agreed.transactionCount(options.account, finalized.number);
  return final <= missing && (await agreed.transactionCount(options.account, agreed.latest.number)) === missing;
}

/** @returns what was done; undefined where nothing of ours had the nonce */
async function resend(turn: LaneTurn, missing: number): Promise<string | undefined> {
  const { deps, options } = turn;
  const { store, chain } = deps;
  const {
    intent: owner,
    attempts,
    isArchived,
  } = await store.read({ ...accountOf(options), intent: { nonce: missing } });
  if (isArchived) return `What had it is archived: send an empty transaction of that account with nonce ${missing}`;
  if (owner === undefined) return undefined;
  const mined = attempts.find(({ hash }) => hash === owner.minedAttemptHash);
  // What reverted may succeed now, and its money was given to others; an order past its deadline can only revert.
  if (mined === undefined || owner.outcome === "reverted" || isTooLate(turn, owner))
    return `It was ${owner.id}, which ended ${owner.outcome}: send an empty transaction of that account with nonce ${missing}`;
  await chain.broadcast(mined);
  return `It was ${mined.hash} of ${owner.id}, which is sent again`;
}

async function fill(turn: LaneTurn, intent: IntentRow, missing: number): Promise<string> {
  const { deps, options, latest } = turn;
  const { account, chainId } = options;
  const cap = cancelCapOf(turn, intent);
  const fees = firstFees({ baseFeePerGas: latest.baseFeePerGas, priorityFee: await deps.chain.priorityFee() }, cap);
  const row: IntentRow = {
    // The rows let one of this name be in flight together with another transaction.
    id: `gap.${account}.${missing}.${latest.number}`,
    ...{ account, chainId, purpose: "revoke", to: account, data: "0x", value: 0n, gasLimit: options.emptyGasLimit },
    maxFeePerGasCap: cap,
    signBySeconds: Math.max(latest.timestamp, Math.floor(deps.clock.nowMs() / 1_000)) + SIGN_WITHIN_SECONDS,
    ...{ deadlineSeconds: undefined, state: "planned", nonce: missing, outcome: undefined },
    ...{ minedBlockNumber: undefined, minedBlockHash: undefined, minedAttemptHash: undefined },
    createdAtMs: deps.clock.nowMs(),
  };
  const { intent: same } = await deps.store.read({ ...accountOf(options), intent: { id: row.id } });
  const isFilled =
    fees !== undefined &&
    same === undefined &&
    (await commit(turn, intent.id, ({ maySign }) => (maySign ? begunFiller(turn, row, fees) : nothing(turn, false))));
  if (!isFilled)
    return `Nothing may be signed for it now: send an empty transaction of that account with nonce ${missing}`;
  return `No row knows that one: an empty transaction to itself takes nonce ${missing}`;
}
