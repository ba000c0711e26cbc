import type { AttemptRow, IntentRow } from "../ports/lane-store.ts";
import { findMined } from "./find-mined.ts";
import { type LaneTurn, moveAttempt, moveIntent } from "./lane-context.ts";
import { halt } from "./sign-attempt.ts";

/**
 * The chain counts a transaction at the intent's nonce, and no attempt of it has a receipt. At the tip that proves
 * nothing: receipts come late, and blocks go. In a finalised block it is the transaction of somebody else: the account
 * is halted. Once a person accepted that transaction the intent ends, because nothing can happen at its nonce any more.
 */
export async function judgeTakenNonce(
  turn: LaneTurn,
  intent: IntentRow,
  taken: { attempts: readonly AttemptRow[]; nonce: number; count: number },
): Promise<void> {
  const { deps, options } = turn;
  const { account, chainId } = options;
  const { attempts, nonce, count } = taken;
  const finalCount = await deps.chain.transactionCount(account, turn.finalized.number);
  if (finalCount <= nonce || (await findMined(turn, attempts)) !== undefined) return;
  const hashes = attempts.map(({ hash }) => hash).join(", ");
  const reason = `nonce ${nonce} was used in a finalised block by a transaction that is not ours (ours: ${hashes})`;
  if (nonce < deps.store.acceptedCount(account, chainId)) endTaken(turn, intent, { attempts, reason });
  else if (deps.store.halt(account, chainId) === undefined) halt(turn, reason, count);
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
