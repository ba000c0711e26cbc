import type { BlockTransaction } from "../ports/chain.ts";
import type { AttemptRow, IntentRow } from "../ports/lane-store.ts";
import { findMined } from "./find-mined.ts";
import { findNonceUse } from "./find-nonce-use.ts";
import { type LaneTurn, moveAttempt, moveIntent } from "./lane-context.ts";
import { halt } from "./sign-attempt.ts";

/**
 * The chain counts a transaction at the intent's nonce, and no attempt of it has a receipt. At the tip that proves
 * nothing: receipts come late, and blocks go. In a finalised block the transaction itself is looked up. One of ours is
 * waited for until its receipt comes; otherwise the account is halted. Once a person released it the intent ends only
 * where the block shows a stranger's transaction at its nonce, because then nothing can happen there any more; where the
 * nodes show none, the intent stays open.
 */
export async function judgeTakenNonce(
  turn: LaneTurn,
  intent: IntentRow,
  taken: { attempts: readonly AttemptRow[]; nonce: number; count: number },
): Promise<void> {
  const { deps, options } = turn;
  const { account, chainId } = options;
  const { attempts, nonce, count } = taken;
  if (deps.store.halt(account, chainId) !== undefined) return;
  const finalCount = await deps.chain.transactionCount(account, turn.finalized.number);
  if (finalCount <= nonce || (await findMined(turn, attempts)) !== undefined) return;
  const use = await findNonceUse(turn, nonce);
  if (use !== undefined && attempts.some(({ hash }) => hash === use.hash)) {
    deps.logger.warn(
      { intentId: intent.id, hash: use.hash },
      "a transaction of ours is in a finalised block, and no node has its receipt",
    );
    return;
  }
  const ours = attempts.map(({ hash }) => hash).join(", ");
  const reason = `nonce ${nonce} was used in a finalised block ${userOf(intent, use)} (ours: ${ours})`;
  if (nonce >= deps.store.acceptedCount(account, chainId)) halt(turn, reason, count);
  else if (use !== undefined && !isSameAct(intent, use)) endTaken(turn, intent, { attempts, reason });
  else deps.logger.warn({ intentId: intent.id, reason }, "what became of a transaction cannot be told; it stays open");
}

function userOf(intent: IntentRow, use: BlockTransaction | undefined): string {
  if (use === undefined) return "in which no node shows the transaction: ask an RPC endpoint that keeps older states";
  if (isSameAct(intent, use)) return `by ${use.hash}, which does what ours was to do and is not in the rows`;
  return `by a transaction that is not ours: ${use.hash}`;
}

/** As a replacement of ours would look whose row is gone, after a start from an old copy of the database. */
function isSameAct(intent: IntentRow, use: BlockTransaction): boolean {
  return use.to === intent.to && use.data === intent.data.toLowerCase();
}

function endTaken(
  { deps }: LaneTurn,
  intent: IntentRow,
  taken: { attempts: readonly AttemptRow[]; reason: string },
): void {
  const { attempts, reason } = taken;
  const event = { kind: "final", outcome: "cancelled", reason } as const;
  moveIntent(deps, intent, { to: "final", change: { outcome: "cancelled" }, event, detail: reason }, () => {
    for (const attempt of attempts) moveAttempt(deps, attempt, { to: "dropped", detail: reason });
  });
}
