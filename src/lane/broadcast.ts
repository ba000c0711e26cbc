import type { BroadcastOutcome } from "../ports/chain.ts";
import type { AttemptRow, IntentRow } from "../ports/lane-store.ts";
import { isTooLate, type LaneTurn, maySign, moveAttempt, moveIntent, passCrashPoint } from "./lane-context.ts";
import { labelOf } from "./sign-attempt.ts";

/**
 * Sends the newest attempt to the nodes: for the first time, or the same bytes again when it should have been mined by
 * now. Nothing that a node answers proves that the bytes are in no pool, and nothing that it refuses them with is
 * believed: it is asked again, and the chain's own nonces and receipts decide.
 */
export async function broadcastNewest(turn: LaneTurn, intent: IntentRow): Promise<void> {
  const { deps, latest } = turn;
  const attempt = deps.store.attempts(intent.id).at(-1);
  if (attempt === undefined || !isDue(turn, attempt)) return;
  // Whatever kept its bytes back, they are never sent again: a cancellation closes their nonce.
  if (attempt.kind !== "cancel" && isTooLate(turn, intent)) return;
  if (attempt.lastBroadcastBlock === undefined && !maySign(turn, intent)) return;
  deps.store.transaction(() =>
    deps.store.updateAttempt(attempt.hash, {
      firstBroadcastBlock: attempt.firstBroadcastBlock ?? latest.number,
      lastBroadcastAtMs: deps.clock.nowMs(),
      lastBroadcastBlock: latest.number,
    }),
  );
  const label = labelOf(attempt.kind);
  passCrashPoint(deps, `${label}.broadcast.before`);
  const outcome = await deps.chain.broadcast(attempt.raw);
  passCrashPoint(deps, `${label}.broadcast.after`);
  note(turn, { intent, attempt, outcome });
}

/**
 * A block of a broadcast that lies above the newest one is of a false head, or a rollup took it back: blocks would be
 * counted from there once the chain has come so far, and it never may. They are counted from the newest one instead.
 */
export function lowerBlocks({ deps: { store, logger }, latest }: LaneTurn, { id }: IntentRow): void {
  for (const { hash, firstBroadcastBlock: first, lastBroadcastBlock: last } of store.attempts(id)) {
    if (first === undefined || last === undefined || Math.max(first, last) <= latest.number) continue;
    const blocks = { noted: Math.max(first, last), newest: latest.number };
    logger.warn(
      { intentId: id, hash, ...blocks },
      "sent at a block that is not there: blocks count from the newest one",
    );
    const lowered = { firstBroadcastBlock: Math.min(first, latest.number), lastBroadcastBlock: latest.number };
    store.transaction(() => store.updateAttempt(hash, lowered));
  }
}

/** What no node has taken yet is sent again with each block; what one has, only after some blocks. */
function isDue({ latest, options }: LaneTurn, attempt: AttemptRow): boolean {
  if (attempt.lastBroadcastBlock === undefined) return true;
  const blocks = latest.number - attempt.lastBroadcastBlock;
  return blocks >= (attempt.state === "signed" ? 1 : options.rebroadcastAfterBlocks);
}

interface Sent {
  readonly intent: IntentRow;
  readonly attempt: AttemptRow;
  readonly outcome: BroadcastOutcome;
}

function note(turn: LaneTurn, sent: Sent): void {
  const { deps } = turn;
  const { intent, attempt, outcome } = sent;
  if (outcome.kind !== "accepted" && outcome.kind !== "known") {
    const detail = "detail" in outcome ? outcome.detail : undefined;
    deps.logger.warn(
      { intentId: intent.id, hash: attempt.hash, outcome: outcome.kind, detail },
      "a node did not take a transaction; the chain decides what became of it",
    );
    noteRefusal(turn, intent, detail ?? outcome.kind);
    return;
  }
  if (attempt.state !== "signed") return;
  const taken = (): void => moveAttempt(deps, attempt, { to: "broadcast", detail: outcome.kind });
  if (intent.state !== "signed") {
    deps.store.transaction(taken);
    return;
  }
  moveIntent(deps, intent, { to: "broadcast", event: { kind: "broadcast", hash: attempt.hash } }, taken);
}

/** A person hears of what no node has ever taken for so long; the lane goes on asking. */
function noteRefusal({ deps, options, latest }: LaneTurn, intent: IntentRow, words: string): void {
  const attempts = deps.store.attempts(intent.id);
  const since = attempts[0]?.firstBroadcastBlock;
  if (since === undefined || latest.number - since < options.bumpAfterBlocks) return;
  if (attempts.some(({ state }) => state !== "signed")) return;
  const what = `${intent.purpose} ${intent.id} of ${options.account} (nonce ${intent.nonce})`;
  const detail =
    `no node takes ${what} since block ${since}, it is sent again with each block: ${words}. Check that the RPC ` +
    "endpoints serve the right chain, and the account's pending transactions: another program may use its key";
  deps.store.transaction(() => deps.listener.onRefused?.(intent.id, detail));
}
