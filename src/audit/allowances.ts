import { type Address, NATIVE_TOKEN } from "../domain/money/address.ts";
import { amountText, type NamedToken } from "./amount-text.ts";
import type { ChainReader } from "./chain-reader.ts";
import type { Movements } from "./movements.ts";
import { type Difference, difference, type OpenAllowance } from "./report.ts";
import { endedUnfilled } from "./rows.ts";
import type { Snapshot } from "./snapshot.ts";
import type { WatchList } from "./watch-list.ts";

interface Grant {
  readonly token: Address;
  readonly wallet: Address;
  readonly spender: Address;
}

/**
 * Once nothing of a wallet and token is open, nobody may spend that token for the wallet. Everybody is asked about who
 * was ever allowed to, by the database's word or by the chain's; whom else owners of a Safe let spend is theirs. An
 * allowance counts as left when it is there at the tip and now: a swap that lands in between uses it up.
 */
export async function checkAllowances(
  chain: ChainReader,
  sources: {
    snapshot: Snapshot;
    movements: Movements;
    watch: WatchList;
    safes: ReadonlySet<Address>;
    tip: number;
  },
): Promise<{ differences: Difference[]; open: OpenAllowance[]; notes: string[]; count: number }> {
  const { snapshot, movements, watch, safes } = sources;
  const recorded = recordedGrants(snapshot);
  const granted = new Set(snapshot.grants.map(keyOf));
  const seen = movements.approvals
    .filter(({ owner }) => watch.wallets.has(owner) && !safes.has(owner))
    .map(({ token, owner, spender }) => ({ token, wallet: owner, spender }));
  const grants = [...new Map([...recorded.values(), ...seen].map((grant) => [keyOf(grant), grant])).values()];
  const atTip = await chain.allowances(grants, sources.tip);
  const left = grants.filter((_, index) => atTip[index] !== 0n);
  const amounts = await chain.allowances(left, "latest");
  const notes: string[] = [];
  const differences: Difference[] = [];
  const open: OpenAllowance[] = [];
  for (const [index, grant] of left.entries()) {
    const amount = amounts[index];
    if (amount === 0n) continue;
    const token = watch.tokenOf(grant.token);
    if (amount === undefined) {
      const { wallet, spender } = grant;
      notes.push(
        `What ${spender} may spend of ${token.symbol} of ${wallet} was not checked: the token does not say it.`,
      );
      continue;
    }
    const isRecorded = recorded.has(keyOf(grant));
    if (isRecorded && !granted.has(keyOf(grant))) differences.push(withoutGrant(grant, { amount, token }));
    if (isRecorded && isInUse(grant, snapshot)) open.push({ ...grant, ...token, amount: String(amount) });
    else differences.push(leftover(grant, { amount, isRecorded, token }));
  }
  return { differences, open, notes, count: grants.length - notes.length };
}

function recordedGrants({ grants, capabilities }: Snapshot): Map<string, Grant> {
  const recorded = [...grants, ...capabilities]
    .filter(({ token }) => token !== NATIVE_TOKEN)
    .map(({ token, wallet, spender }) => ({ token, wallet, spender }));
  return new Map(recorded.map((grant) => [keyOf(grant), grant]));
}

function keyOf({ token, wallet, spender }: Grant): string {
  return `${wallet} ${token} ${spender}`;
}

/** Something of this wallet and token goes on: a swap, a live right, or the approval or revocation itself. */
function isInUse({ wallet, token }: Grant, { swaps, capabilities, intents }: Snapshot): boolean {
  for (const swap of swaps.values()) {
    const isOver = endedUnfilled(swap) || swap.state === "final";
    if (swap.wallet === wallet && swap.sell_token === token && !isOver) return true;
  }
  for (const right of capabilities) if (right.live && right.wallet === wallet && right.token === token) return true;
  for (const { account, to_address, state } of intents.values()) {
    if (account === wallet && to_address === token && state !== "final" && state !== "dropped") return true;
  }
  return false;
}

/** What is revoked is found by the grants, not by the rights. */
function withoutGrant({ wallet, token, spender }: Grant, found: { amount: bigint; token: NamedToken }): Difference {
  const { amount } = found;
  const { symbol } = found.token;
  const message = `${spender} may spend ${amountText(amount, found.token)} of ${wallet}, and its grant is not recorded: nothing revokes it.`;
  return difference("GRANT_MISSING", `${wallet} ${symbol} ${spender}`, message, { wallet, token, spender, amount });
}

function leftover(grant: Grant, found: { amount: bigint; isRecorded: boolean; token: NamedToken }): Difference {
  const { wallet, token, spender } = grant;
  const { amount, isRecorded } = found;
  const subject = `${wallet} ${found.token.symbol} ${spender}`;
  const shown = amountText(amount, found.token);
  const fields = { wallet, token, spender, amount };
  if (!isRecorded) {
    const message = `${spender} may spend ${shown} of ${wallet}, and no grant of that is recorded.`;
    return difference("ALLOWANCE_UNEXPLAINED", subject, message, fields);
  }
  const message = `${spender} may still spend ${shown} of ${wallet}, and no swap of these is open: revoke it.`;
  return difference("ALLOWANCE_LEFT", subject, message, fields);
}
