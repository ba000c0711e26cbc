import type { Address, Hex } from "../domain/money/address.ts";
import type { FindingRow, HaltRow } from "./rows.ts";

/** What a person accepted of that which no row knows: it is told in notes, and is no difference any more. */
export interface Accepted {
  /** nonces of this account below that were used with a person's knowledge; 0: none were accepted */
  countOf(account: Address): number;
  /** who accepted that many, and when */
  byOf(account: Address): string;
  /** how much of a token that left a wallet in a transaction a person knows of, smallest unit */
  outflow(moved: { readonly hash: Hex; readonly wallet: Address; readonly token: Address }): bigint;
}

/** Reads releases of halted accounts, which accept as many transactions as were counted, and accepted findings. */
export function readAccepted(rows: {
  readonly halts: readonly HaltRow[];
  readonly findings: readonly FindingRow[];
}): Accepted {
  const releases = new Map<Address, HaltRow>();
  for (const halt of rows.halts) {
    const { account, transaction_count: count, released_by: by } = halt;
    if (by !== null && count > (releases.get(account)?.transaction_count ?? 0)) releases.set(account, halt);
  }
  const outflows = new Map<string, bigint>();
  for (const { wallet, facts, settled_by: by } of rows.findings) {
    const { hash, token = facts.sell, amount = facts.sold } = facts;
    if (by === null || by === "chain" || hash === undefined || token === undefined) continue;
    const key = `${hash} ${wallet} ${token}`;
    outflows.set(key, (outflows.get(key) ?? 0n) + (amount ?? 0n));
  }
  return {
    countOf: (account) => releases.get(account)?.transaction_count ?? 0,
    byOf: (account) => {
      const { released_by: by, released_at_ms: atMs } = releases.get(account) ?? {};
      return `${by} on ${new Date(atMs ?? 0).toISOString()}`;
    },
    outflow: ({ hash, wallet, token }) => outflows.get(`${hash} ${wallet} ${token}`) ?? 0n,
  };
}
