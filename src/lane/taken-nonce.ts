import type { BlockTransaction } from "../ports/chain.ts";
import type { IntentRow } from "../ports/lane-store.ts";
import { findMined } from "./find-mined.ts";
import { findNonceUse } from "./find-nonce-use.ts";
import { haltAccount } from "./halt-account.ts";
import { commit, isSaidAgain, type LaneTurn, nothing, readIntent, textOf } from "./lane-context.ts";
import { moveAttempt, moveIntent } from "./moves.ts";
import { takeUp } from "./sign-attempt.ts";

/**
 * The chain counts a transaction at the intent's nonce, and no attempt of it has a receipt. At the tip that proves
 * nothing: receipts come late, and blocks go; and one node's word is none. In a finalised block, by the agreement of all
 * endpoints that answer, the transaction itself is looked up. One of ours is waited for until its receipt comes; otherwise
 * the account is halted when a later finalised block still says so. Once a person released it the intent ends where the
 * block shows a stranger's transaction at its nonce, because then nothing can happen there any more. One that does the
 * same is taken up with its fees: where its signature is this account's it came from a database that is gone, or a person
 * sent it with the same key, and its receipt counts. Otherwise, and where the nodes show no transaction, the intent stays
 * open, and a person is told what it waits for.
 */
export async function judgeTakenNonce(turn: LaneTurn, { id }: IntentRow, nonce: number): Promise<void> {
  const { deps, options } = turn;
  const { account } = options;
  const { intent, attempts, halt: before } = await readIntent(turn, id);
  if (before !== undefined) return;
  const agreed = await deps.chain.agreed();
  const finalized = await agreed.finalized();
  const count = await agreed.transactionCount(account, finalized.number);
  if (count <= nonce || (await findMined(turn, attempts)) !== undefined) return;
  const use = await findNonceUse(agreed, { account, nonce, finalized: finalized.number });
  if (use !== undefined && attempts.some(({ hash }) => hash === use.hash)) {
    deps.logger.warn(
      { intentId: intent.id, hash: use.hash },
      "a transaction of ours is in a finalised block, and no node has its receipt",
    );
    await noteUnshown(turn, intent, finalized.number);
    return;
  }
  const ours = attempts.map(({ hash }) => hash).join(", ");
  const reason = `nonce ${nonce} was used in a finalised block ${userOf(intent, use)} (ours: ${ours})`;
  if (!isSaidAgain(turn, takenNonce(nonce), finalized.number)) {
    deps.logger.warn({ intentId: intent.id, reason }, "a later finalised block is to say the same before it counts");
  } else if (nonce >= (await readIntent(turn, id)).acceptedCount) {
    await haltAccount(turn, { reason, count: () => count, isTrueOf: ({ acceptedCount }) => nonce >= acceptedCount });
  } else if (use !== undefined && !isSameAct(intent, use)) await endTaken(turn, intent, reason);
  else if (use !== undefined && (await takeUp(turn, intent, use))) {
    deps.logger.warn({ intentId: intent.id, hash: use.hash }, "taken up: what has this nonce does the same");
  } else await noteOpen(turn, intent, { reason, use });
}

/** A person is notified of a transaction of ours in a final block whose receipt nodes keep no more: it can have no end. */
export async function noteUnshown(turn: LaneTurn, intent: IntentRow, atFinalized: number): Promise<void> {
  if (!isSaidAgain(turn, `${intent.id} is not shown`, atFinalized)) return;
  const waits = intent.state === "confirmed" ? "" : ", and nothing else of the account is sent before that";
  const detail =
    `${textOf(intent)} is in a final block, and the nodes do not show its receipt: how it ended is not known${waits}. ` +
    "Add an RPC endpoint that keeps older receipts to network.rpc, as an archive node";
  await commit(turn, intent.id, () => ({ ...nothing(turn, undefined), refusal: { intentId: intent.id, detail } }));
}

/** The name of the suspicion that another program used a nonce. */
export function takenNonce(nonce: number): string {
  return `nonce ${nonce} is taken`;
}

function userOf(intent: IntentRow, use: BlockTransaction | undefined): string {
  if (use === undefined) return "in which no node shows the transaction: ask an RPC endpoint that keeps older states";
  if (isSameAct(intent, use)) return `by ${use.hash}, which does what ours was to do and is not in the rows`;
  return `by a transaction that is not ours: ${use.hash}`;
}

/** What a replacement of ours looks like whose row is gone, after a start from an old copy of the database. */
function isSameAct(intent: IntentRow, use: BlockTransaction): boolean {
  return use.to === intent.to && use.data === intent.data.toLowerCase();
}

/** All of the account waits for it, and the alert about its halt is over: nothing else would say so. */
async function noteOpen(
  turn: LaneTurn,
  { id, purpose, account }: IntentRow,
  { reason, use }: { readonly reason: string; readonly use: BlockTransaction | undefined },
): Promise<void> {
  const ends =
    use === undefined
      ? "ends once one does: add an archive node to network.rpc"
      : "is taken up once a node shows that one with its signature, its fees and the same value, and the account may sign";
  const detail = `${purpose} ${id} of ${account} stays open, and nothing else of that account is sent: ${reason}. It ${ends}`;
  turn.deps.logger.warn({ intentId: id, reason }, "what became of a transaction is not known; it stays open");
  await commit(turn, id, () => ({ ...nothing(turn, undefined), refusal: { intentId: id, detail } }));
}

async function endTaken(turn: LaneTurn, { id }: IntentRow, reason: string): Promise<void> {
  await commit(turn, id, (rows) => {
    const event = { kind: "final", outcome: "cancelled", reason } as const;
    const move = { to: "final", fields: { outcome: "cancelled" }, event, detail: reason } as const;
    return moveIntent(turn, rows, {
      move,
      alongside: rows.attempts.map((attempt) => moveAttempt(attempt, "dropped", reason)),
    });
  });
}
