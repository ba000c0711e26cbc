import { parseAddress } from "../domain/money/address.ts";
import { type CancelAnswer, decideCancel } from "../lane/cancel-intent.ts";
import type { Change } from "../ports/changes.ts";
import type { LaneSigningQuestion, LaneSigningRows, SigningTerms } from "../ports/lane-questions.ts";
import type { Grant, GrantRows } from "../ports/reconciliation-questions.ts";
import type { EngineContext } from "./engine-context.ts";
import { decideRevocation } from "./janitor.ts";
import { signingMarker, signingRows } from "./lane-store.ts";
import { mayTakeBack } from "./modes.ts";

/** What came of a request, for the operator, and what follows from it. */
export interface Outcome {
  readonly answer: string;
  readonly changes: readonly Change[];
}

/** A revocation that a person wants and that may be decided on. */
interface AskedRevocation {
  readonly grant: Grant;
  readonly symbol: string;
}

/**
 * The allowance that a person wants to be taken back. Allowances of any spender may go: that only ever takes rights away.
 * @returns why not, where it is refused whatever the rows say
 */
export function revocationAsked(
  { settings, deps }: EngineContext,
  asked: Readonly<Record<string, string>>,
): AskedRevocation | string {
  const wallet = parseAddress(asked.wallet ?? "");
  const token = parseAddress(asked.token ?? "");
  const spender = parseAddress(asked.spender ?? "");
  if (wallet === undefined || token === undefined || spender === undefined) {
    return "refused: a revocation needs the addresses of wallet, token and spender";
  }
  if (!settings.live) return "refused: this is a dry run, which signs nothing";
  if (!deps.lanes.has(wallet)) return `refused: ${wallet} is no wallet of this daemon`;
  const known = settings.tokens.find(({ address }) => address === token);
  if (known === undefined) return `refused: ${token} is none of the configured tokens`;
  return { grant: { wallet, token, spender }, symbol: known.symbol };
}

/** The lane sends it like every other transaction, under the owner's ceiling for gas. */
export function decideRevocationAsked(
  context: EngineContext,
  { grant, symbol }: AskedRevocation,
  rows: GrantRows,
): Outcome {
  if (!mayTakeBack(rows, grant)) {
    return { answer: "refused: nothing is signed while it is halted; resume first", changes: [] };
  }
  const { value: id, changes } = decideRevocation(context, grant, { rows });
  if (id === undefined) {
    const busy = `a swap or a revocation of ${symbol} in ${grant.wallet} is open`;
    return { answer: `refused: ${busy}; ask again when it has ended`, changes };
  }
  const answer = `the allowance of ${symbol} for ${grant.spender} is being revoked by ${id}; follow it with: swapd tx list`;
  return { answer, changes };
}

/** A transaction that a person wants to be cancelled: one of a wallet of this daemon. */
type AskedCancellation = LaneSigningQuestion & { readonly intent: { readonly id: string } };

/** The open transaction that a person wants to be cancelled. @returns why not, where no wallet has one of this name */
export async function cancellationAsked(
  { settings, deps }: EngineContext,
  intentId: string,
): Promise<AskedCancellation | string> {
  const account = await deps.store.read({ kind: "intent-account", intentId });
  if (account === undefined || !deps.lanes.has(account)) {
    return `refused: no transaction ${JSON.stringify(intentId)}; see: swapd tx list`;
  }
  return { account, chainId: settings.chainId, intent: { id: intentId }, withDatabase: !settings.live };
}

/** Decides on a person's request to cancel an open transaction. */
export function decideCancellation(
  context: EngineContext,
  {
    asked,
    rows,
    by,
  }: {
    readonly asked: AskedCancellation;
    readonly rows: LaneSigningRows<SigningTerms>;
    readonly by: string;
  },
): Outcome {
  const atMs = context.deps.clock.nowMs();
  const { changes, value } = decideCancel(signingRows(rows, signingMarker(context, asked)), { by, atMs });
  return { answer: cancelText(asked.intent.id, value), changes };
}

function cancelText(id: string, answer: CancelAnswer): string {
  switch (answer.kind) {
    case "dropping":
      return `${id} is dropped: nothing of it was signed`;
    case "cancelling":
      return `${id} is being cancelled at nonce ${answer.nonce}; the chain decides which transaction lands: swapd tx list`;
    case "asked before":
      return `${answer.by} asked for that already; the chain decides which transaction lands: swapd tx list`;
    case "too late":
      return `refused: ${id} is ${answer.state}, so there is nothing left to cancel`;
    case "nonce used":
      return `refused: nonce ${answer.nonce} is used already, by what a person accepted, and no block takes a cancellation; ${id} ends once a node shows that transaction: swapd status`;
    case "barred":
      return `refused: ${id} was signed, and a cancellation must be signed too; nothing is while it is halted`;
    case "not here":
      return `refused: ${id} is no transaction of this daemon's chain`;
  }
}
