import { formatUnits } from "../domain/money/amount.ts";
import type { BroadcastOutcome } from "../ports/chain.ts";
import type { AttemptRow, IntentRow } from "../ports/lane-store.ts";
import type { LaneDecided, LaneRows } from "../ports/lane-unit-of-work.ts";
import {
  commit,
  isTooLate,
  type Known,
  type LaneTurn,
  nothing,
  passCrashPoint,
  readIntent,
  textOf,
} from "./lane-context.ts";
import { attemptIn, moveAttempt, moveIntent } from "./moves.ts";
import { labelOf } from "./sign-attempt.ts";

/**
 * Sends the newest attempt to the nodes: for the first time, or the same bytes again when it should have been mined by
 * now. Nothing that a node answers proves that the bytes are in no pool, and nothing that it refuses them with is
 * believed: it is asked again, and the chain's own nonces and receipts decide.
 */
export async function broadcastNewest(turn: LaneTurn, id: string): Promise<void> {
  const { deps } = turn;
  const newest = (await readIntent(turn, id)).attempts.at(-1);
  if (newest === undefined || !isDue(turn, newest)) return;
  const attempt = await noteSending(turn, id);
  if (attempt === undefined) return;
  const label = labelOf(attempt.kind);
  passCrashPoint(deps, `${label}.broadcast.before`);
  const outcome = await deps.chain.broadcast(attempt);
  passCrashPoint(deps, `${label}.broadcast.after`);
  await noteOutcome(turn, attempt, outcome);
}

/** Writes down that the newest attempt is sent, where that is due and allowed now. @returns what is sent */
async function noteSending(turn: LaneTurn, id: string): Promise<AttemptRow | undefined> {
  const { deps, latest } = turn;
  return await commit(turn, id, (rows): LaneDecided<AttemptRow | undefined> => {
    const attempt = rows.attempts.at(-1);
    if (attempt === undefined || !isDue(turn, attempt)) return nothing(turn, undefined);
    // Whatever kept its bytes back, they are never sent again: a cancellation closes their nonce.
    if (attempt.kind !== "cancel" && isTooLate(turn, rows.intent)) return nothing(turn, undefined);
    if (attempt.lastBroadcastBlock === undefined && !rows.maySign) return nothing(turn, undefined);
    const atMs = deps.clock.nowMs();
    const sending = {
      firstBroadcastBlock: attempt.firstBroadcastBlock ?? latest.number,
      lastBroadcastAtMs: atMs,
      lastBroadcastBlock: latest.number,
    };
    return { changes: [{ kind: "attempt-sent", hash: attempt.hash, sending }], atMs, value: attempt };
  });
}

/**
 * A block of a broadcast that lies above the newest one is of a false head, or a rollup took it back: blocks would be
 * counted from there once the chain has come so far, and it never may. They are counted from the newest one instead.
 */
export async function lowerBlocks(turn: LaneTurn, { intent, attempts }: Known<LaneRows>): Promise<void> {
  const { latest, deps } = turn;
  if (attempts.every((attempt) => blockOf(attempt) <= latest.number)) return;
  const lowered = await commit(turn, intent.id, (rows) => {
    const above = rows.attempts.filter((attempt) => blockOf(attempt) > latest.number);
    const changes = above.map(({ hash, firstBroadcastBlock: first = latest.number }) => {
      const firstBroadcastBlock = Math.min(first, latest.number);
      return {
        kind: "attempt-sent",
        hash,
        sending: { firstBroadcastBlock, lastBroadcastBlock: latest.number },
      } as const;
    });
    return { changes, atMs: deps.clock.nowMs(), value: above };
  });
  for (const attempt of lowered) {
    deps.logger.warn(
      { intentId: intent.id, hash: attempt.hash, noted: blockOf(attempt), newest: latest.number },
      "sent at a block that is not there: blocks count from the newest one",
    );
  }
}

/** The highest block at which an attempt was sent; 0 when it never was. */
function blockOf({ firstBroadcastBlock: first, lastBroadcastBlock: last }: AttemptRow): number {
  return first === undefined || last === undefined ? 0 : Math.max(first, last);
}

/** What no node has taken yet is sent again with each block; what one has, only after some blocks. */
function isDue({ latest, options }: LaneTurn, attempt: AttemptRow): boolean {
  if (attempt.lastBroadcastBlock === undefined) return true;
  const blocks = latest.number - attempt.lastBroadcastBlock;
  return blocks >= (attempt.state === "signed" ? 1 : options.rebroadcastAfterBlocks);
}

async function noteOutcome(turn: LaneTurn, attempt: AttemptRow, outcome: BroadcastOutcome): Promise<void> {
  const { intentId, hash, visibility } = attempt;
  if (outcome.kind !== "accepted" && outcome.kind !== "known") {
    const detail = "detail" in outcome ? outcome.detail : undefined;
    turn.deps.logger.warn(
      { intentId, hash, visibility, outcome: outcome.kind, detail },
      "a node did not take a transaction; the chain decides what became of it",
    );
    await noteRefusal(turn, intentId, {
      words: detail ?? outcome.kind,
      isUnpaid: outcome.kind === "insufficient-funds",
    });
    if (visibility === "private") await noteKept(turn, intentId);
    return;
  }
  await commit(turn, intentId, (rows): LaneDecided<unknown> => {
    const attempt = attemptIn(rows, hash);
    if (attempt.state !== "signed") return nothing(turn, undefined);
    const taken = moveAttempt(attempt, "broadcast", outcome.kind);
    if (rows.intent.state !== "signed") return { ...nothing(turn, undefined), changes: [taken] };
    const move = { to: "broadcast", event: { kind: "broadcast", hash } } as const;
    return moveIntent(turn, rows, { move, alongside: [taken] });
  });
  if (visibility === "private") await noteKept(turn, intentId);
}

/** A person is notified of what was sent privately and no block has for so long: nothing shows what became of it. */
async function noteKept(turn: LaneTurn, id: string): Promise<void> {
  await commit(turn, id, ({ intent, attempts }) => {
    const since = attempts[0]?.firstBroadcastBlock;
    const isTaken = attempts.some(({ state }) => state !== "signed");
    const isLong = since !== undefined && turn.latest.number - since >= turn.options.cancelPubliclyAfterBlocks;
    if (!isTaken || !isLong) return nothing(turn, undefined);
    const goesOn = attempts.some(({ kind }) => kind === "cancel")
      ? "so was its cancellation, in whose place everybody is shown an empty transaction where no block has that either. Check network.submit"
      : `it is sent to them again and to nobody else. Check network.submit; or cancel it: swapd tx cancel ${id}`;
    const detail = `${textOf(intent)} was sent to the endpoints for private sending at block ${since}, and no block has it; ${goesOn}`;
    return { ...nothing(turn, undefined), refusal: { intentId: id, detail } };
  });
}

/**
 * A person is notified of what nodes took and no block has, once higher fees were due and none were offered, because they
 * are used up or may not rise: nothing else says that all of the account waits. An order is cancelled past its deadline.
 */
export async function noteInNoBlock(turn: LaneTurn, before: Known<LaneRows>): Promise<void> {
  if (textInNoBlock(turn, before) === undefined) return;
  const { id } = before.intent;
  await commit(turn, id, (rows) => {
    const detail = textInNoBlock(turn, rows);
    return { ...nothing(turn, undefined), ...(detail === undefined ? {} : { refusal: { intentId: id, detail } }) };
  });
}

/** @returns undefined where it is not so */
function textInNoBlock({ latest, options }: LaneTurn, { intent, attempts }: Known<LaneRows>): string | undefined {
  const newest = attempts.at(-1);
  const since = newest?.firstBroadcastBlock;
  if (newest === undefined || since === undefined || newest.visibility === "private") return undefined;
  const isCancel = newest.kind === "cancel";
  if (intent.deadlineSeconds !== undefined && !isCancel) return undefined;
  const isTaken = attempts.some(({ state }) => state !== "signed");
  // One count until higher fees were due, and as long again: they follow at once where they may.
  if (!isTaken || latest.number - since < 2 * options.bumpAfterBlocks) return undefined;
  const [offer, base] = [newest.maxFeePerGas, latest.baseFeePerGas].map((wei) => `${formatUnits(wei, 9)} gwei`);
  const done = isCancel ? "" : `, or give its nonce to an empty transaction: swapd tx cancel ${intent.id}`;
  return (
    `${isCancel ? "the cancellation of " : ""}${textOf(intent)} was sent at block ${since}, no block has it, and its fees are ` +
    `not raised: it offers at most ${offer} per gas, and the base fee is ${base}. It is sent again, and all else of ` +
    `the account waits for it: wait until gas is cheaper${done}`
  );
}

/** What a node refuses a transaction with; `isUnpaid`: the account has not the coin for it. */
interface Refused {
  readonly words: string;
  readonly isUnpaid: boolean;
}

/**
 * A person is notified of what no node has taken for so long; the lane goes on trying. What a node took once may still be
 * mined, unless the account cannot pay for it any more.
 */
async function noteRefusal(turn: LaneTurn, id: string, refused: Refused): Promise<void> {
  await commit(turn, id, ({ intent, attempts }) => {
    const untaken = attempts.slice(attempts.findLastIndex(({ state }) => state !== "signed") + 1);
    const since = (untaken[0] ?? attempts[0])?.firstBroadcastBlock;
    const mayBeMined = untaken.length < attempts.length && !refused.isUnpaid;
    const isLong = since !== undefined && turn.latest.number - since >= turn.options.bumpAfterBlocks;
    if (mayBeMined || !isLong) return nothing(turn, undefined);
    const isPrivate = attempts.at(-1)?.visibility === "private";
    const refusal = { intentId: id, detail: refusedText(intent, { ...refused, since, isPrivate }) };
    return { ...nothing(turn, undefined), refusal };
  });
}

function refusedText(
  intent: IntentRow,
  { since, words, isPrivate, isUnpaid }: Refused & { readonly since: number; readonly isPrivate: boolean },
): string {
  if (isUnpaid) {
    return (
      `${intent.account} cannot pay for the gas of ${textOf(intent)}, which nodes refuse since block ${since} (${words}), ` +
      "and sends nothing else before that: send it the network's coin; it is sent again with each block"
    );
  }
  const [who, which] = isPrivate
    ? ["endpoint for private sending", "network.submit serves"]
    : ["node", "the RPC endpoints serve"];
  return (
    `no ${who} takes ${textOf(intent)} since block ${since}, it is sent again with each ` +
    `block: ${words}. Check that ${which} the right chain, and the account's pending transactions: ` +
    "another program may use its key"
  );
}
