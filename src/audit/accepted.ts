import type { Address, Hex } from "../domain/money/address.ts";
import type { FindingRow, HaltRow } from "./rows.ts";
import type { Start } from "./since.ts";

/** What a person accepted of that which no row knows: it is told in notes, and is no difference any more. */
export interface Accepted {
  /** nonces of this account below that were used with a person's knowledge; 0: none were accepted */
  countOf(account: Address): number;
  /** who accepted that many, and when */
  byOf(account: Address): string;
  /** how much of a token that left a wallet in a transaction a person knows of, smallest unit */
  outflow(moved: { readonly hash: Hex; readonly wallet: Address; readonly token: Address }): bigint;
  /** how much of a token is gone from a wallet that no log shows, as a person knows, smallest unit */
  lost(holding: { readonly wallet: Address; readonly token: Address }): bigint;
}

/**
 * Reads releases of halted accounts, which accept as many transactions as were counted, and accepted findings. What was
 * found to be gone before an audit begins is gone from the balances that it counts from.
 */
export function readAccepted(rows: {
  readonly halts: readonly HaltRow[];
  readonly findings: readonly FindingRow[];
  readonly start: Start | undefined;
}): Accepted {
  const releases = new Map<Address, HaltRow>();
  for (const halt of rows.halts) {
    const { account, transaction_count: count, released_by: by } = halt;
    if (by !== null && count > (releases.get(account)?.transaction_count ?? 0)) releases.set(account, halt);
  }
  const accepted = rows.findings.filter(({ settled_by: by }) => by !== null && by !== "chain");
  const outflows = outflowsOf(accepted);
  const losses = lossesOf(accepted, (rows.start?.seconds ?? 0) * 1_000);
  return {
    countOf: (account) => releases.get(account)?.transaction_count ?? 0,
    byOf: (account) => {
      const { released_by: by, released_at_ms: atMs } = releases.get(account) ?? {};
      return `${by} on ${new Date(atMs ?? 0).toISOString()}`;
    },
    outflow: ({ hash, wallet, token }) => outflows.get(`${hash} ${wallet} ${token}`) ?? 0n,
    lost: ({ wallet, token }) => losses.get(`${wallet} ${token}`) ?? 0n,
  };
}

function outflowsOf(accepted: readonly FindingRow[]): ReadonlyMap<string, bigint> {
  const outflows = new Map<string, bigint>();
  for (const { wallet, facts } of accepted) {
    const { hash, token = facts.sell, amount = facts.sold } = facts;
    if (hash === undefined || token === undefined) continue;
    const key = `${hash} ${wallet} ${token}`;
    outflows.set(key, (outflows.get(key) ?? 0n) + (amount ?? 0n));
  }
  return outflows;
}

function lossesOf(accepted: readonly FindingRow[], sinceMs: number): ReadonlyMap<string, bigint> {
  const losses = new Map<string, bigint>();
  for (const { kind, wallet, facts, found_at_ms: atMs } of accepted) {
    const { token, now, expected } = facts;
    if (kind !== "cannot-prove" || token === undefined || now === undefined || expected === undefined) continue;
    const key = `${wallet} ${token}`;
    if (atMs >= sinceMs) losses.set(key, (losses.get(key) ?? 0n) + expected - now);
  }
  return losses;
}
