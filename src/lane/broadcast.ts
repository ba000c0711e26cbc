import type { BroadcastOutcome } from "../ports/chain.ts";
import type { AttemptRow, IntentRow } from "../ports/lane-store.ts";
import { type LaneTurn, maySign, moveAttempt, moveIntent, passCrashPoint } from "./lane-context.ts";
import { labelOf } from "./sign-attempt.ts";

/**
 * Sends the newest attempt to the nodes: for the first time, or the same bytes again when it should have been mined by
 * now. Nothing that a node answers proves that the bytes are in no pool.
 */
export async function broadcastNewest(turn: LaneTurn, intent: IntentRow): Promise<void> {
  const { deps, latest, options } = turn;
  const attempt = deps.store.attempts(intent.id).at(-1);
  if (attempt === undefined || !isDue(turn, attempt)) return;
  if (attempt.lastBroadcastBlock === undefined && !maySign({ options, deps })) return;
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

/** What no node has taken yet is sent again with each block; what one has, only after some blocks. */
function isDue({ latest, options }: LaneTurn, attempt: AttemptRow): boolean {
  if (attempt.lastBroadcastBlock === undefined) return true;
  const blocks = latest.number - attempt.lastBroadcastBlock;
  return blocks >= (attempt.state === "signed" ? 1 : options.rebroadcastAfterBlocks);
}

function note(turn: LaneTurn, sent: { intent: IntentRow; attempt: AttemptRow; outcome: BroadcastOutcome }): void {
  const { deps } = turn;
  const { intent, attempt, outcome } = sent;
  if (outcome.kind !== "accepted" && outcome.kind !== "known") {
    const detail = "detail" in outcome ? outcome.detail : undefined;
    deps.logger.warn(
      { intentId: intent.id, hash: attempt.hash, outcome: outcome.kind, detail },
      "a node did not take a transaction; the chain decides what became of it",
    );
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
