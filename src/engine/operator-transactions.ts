import { parseAddress } from "../domain/money/address.ts";
import { type CancelAnswer, decideCancel } from "../lane/cancel-intent.ts";
import type { EngineContext } from "./engine-context.ts";
import { submitRevocation } from "./janitor.ts";
import { signingMarker, signingRows } from "./lane-store.ts";
import { mayRevoke } from "./modes.ts";

/**
 * Takes an allowance back because a person wants it. The lane sends it like every other transaction, under the owner's
 * ceiling for gas. Allowances of any spender may go: that only ever takes rights away.
 */
export function revokeAllowance(context: EngineContext, asked: Readonly<Record<string, string>>): string {
  const { settings, deps } = context;
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
  if (!mayRevoke(deps.store, { wallet, token })) return "refused: nothing is signed while it is halted; resume first";
  const id = submitRevocation(context, { wallet, token, spender });
  if (id === undefined) {
    return `refused: a swap or a revocation of ${known.symbol} in ${wallet} is open; ask again when it has ended`;
  }
  return `the allowance of ${known.symbol} for ${spender} is being revoked by ${id}; follow it with: swapd tx list`;
}

/** Cancels an open transaction of one of the wallets because a person wants it. */
export function cancelTransaction(context: EngineContext, id: string, by: string): string {
  const { store, laneStore, lanes, clock } = context.deps;
  const account = laneStore.intent(id)?.account;
  if (account === undefined || !lanes.has(account)) {
    return `refused: no transaction ${JSON.stringify(id)}; see: swapd tx list`;
  }
  const question = { account, chainId: context.settings.chainId, intent: { id } };
  const rows = signingRows(store.answer({ kind: "lane-signing", ...question }), signingMarker(context, question));
  const { changes, atMs, value } = decideCancel(rows, { by, atMs: clock.nowMs() });
  store.write(changes, atMs);
  return cancelText(id, value);
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
    case "barred":
      return `refused: ${id} was signed, and a cancellation must be signed too; nothing is while it is halted`;
    case "not here":
      return `refused: ${id} is no transaction of this daemon's chain`;
  }
}
