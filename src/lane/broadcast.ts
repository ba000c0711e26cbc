import type { BroadcastOutcome } from "../ports/chain.ts";
import type { AttemptRow, IntentRow } from "../ports/lane-store.ts";
import { type LaneTurn, maySign, moveAttempt, moveIntent, passCrashPoint } from "./lane-context.ts";
import { halt, labelOf } from "./sign-attempt.ts";

/**
 * Sends the newest attempt to the nodes: for the first time, or the same bytes again when it should have been mined by
 * now. Nothing that a node answers proves that the bytes are in no pool.
 */
export async function broadcastNewest(turn: LaneTurn, intent: IntentRow): Promise<void> {
  const { deps, latest } = turn;
  const attempt = deps.store.attempts(intent.id).at(-1);
  if (attempt === undefined || !isDue(turn, attempt)) return;
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
    haltOnEvidence(turn, sent);
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

/** What a person must look at before anything else is signed. The intent stays open: the chain decides about it. */
function haltOnEvidence(turn: LaneTurn, sent: Sent): void {
  const { store } = turn.deps;
  const { account, chainId } = turn.options;
  const reason = haltReason(sent);
  if (reason === undefined || store.halt(account, chainId) !== undefined) return;
  // No transaction was counted that a release could accept: it accepts no more than before.
  store.transaction(() => halt(turn, reason, store.acceptedCount(account, chainId)));
}

function haltReason({ intent, attempt, outcome }: Sent): string | undefined {
  const { hash, nonce, kind } = attempt;
  if (outcome.kind === "malformed") {
    return (
      `no node takes transaction ${hash} (nonce ${nonce}, ${intent.purpose} ${intent.id}): ${outcome.detail}. Check ` +
      "that the RPC endpoints serve the right chain, and the transaction's gas and fees; it stays open until the chain decides"
    );
  }
  // Ours is the only transaction that the rows have at this nonce: the one that the pool prefers is a stranger's.
  if (outcome.kind !== "replacement-underpriced" || kind !== "original") return undefined;
  return (
    `a node's pool holds another transaction at nonce ${nonce} than ours (${hash}): somebody else uses the account's ` +
    "key. Look up the account's pending transactions and stop whoever sends them; ours stays open until the chain decides"
  );
}
