import { type Address, toAddress } from "../../../domain/money/address.ts";
import type { FinalBlock } from "../../../ports/reconciliation-store.ts";
import { BUSY_SWAPS, DELIVERING_SWAPS, OPEN_INTENTS, UNSETTLED_SWAPS } from "../index-conditions.ts";
import type { Statements } from "../statements.ts";
import type { LedgerRows, LedgerStore } from "./ledger-store.ts";
import { soldBySince } from "./sold-by-time.ts";
import { receivedOf, salesAhead, settleAnew, soldUsdSince, totalsOf, tradedRuns } from "./total-rows.ts";

/** A swap in one of these states may take the wallet's token at any moment, or is about to be allowed to. */
const BUSY_STATES = "('cleared', 'approving', 'signed', 'submitted', 'mined', 'unknown')";

interface Sale {
  token: string;
  amount: string;
}

/** Sums over the ledger, and who holds which token of which wallet. Amounts are summed as bigint, never by SQL. */
export function createLedgerRows(sql: Statements, version: LedgerStore["ledgerVersion"]): LedgerRows & LedgerStore {
  return {
    ledgerVersion: version,
    reserved: (wallet, token, exceptSwapId = "") =>
      sum(
        sql.all<{ amount: string }>(
          "SELECT amount FROM ledger WHERE state = 'reserved' AND wallet = ? AND token = ? AND swap_id <> ?",
          wallet,
          token,
          exceptSwapId,
        ),
      ),
    soldBy: (strategyId) => withAccepted(sql, byToken(totalsOf(sql, "sold", strategyId)), strategyId),
    acceptedBy: (strategyId) => withAccepted(sql, new Map(), strategyId),
    soldBySince: (strategyId, sinceMs, exceptSwapId = "") => soldBySince(sql, strategyId, { sinceMs, exceptSwapId }),
    tradedRuns: (strategyId) => tradedRuns(sql, strategyId),
    boughtBy: (strategyId) => byToken(totalsOf(sql, "bought", strategyId)),
    netOfSwaps: (wallet, token, unmoved = []) => netOfSwaps(sql, { wallet, token, unmoved: JSON.stringify(unmoved) }),
    newestBlock: (wallet) => newestBlock(sql, wallet),
    hasBought: (wallet, token) => receivedOf(sql, token).some((row) => row.wallet === wallet && row.amount !== 0n),
    soldUsdSince: (sinceMs, exceptSwapId) => soldUsdSince(sql, sinceMs, exceptSwapId),
    salesAhead: (afterMs) => salesAhead(sql, afterMs),
    settleAnew: (times) => settleAnew(sql, times),
    isTokenBusy: (wallet, token, exceptSwapId) => isTokenBusy(sql, { wallet, token, exceptSwapId }),
    isAllowanceNewer: (wallet, token, thanBlock) => sql.get(CHANGED_SINCE, wallet, thanBlock, token) !== undefined,
    isWalletBusy: (wallet, exceptSwapId) => isWalletBusy(sql, wallet, exceptSwapId),
    lastFreed: (wallet, token) =>
      sql.get<{ swap_id: string }>(
        "SELECT swap_id FROM capabilities WHERE wallet = ? AND token = ? AND live = 0 ORDER BY rowid DESC LIMIT 1",
        wallet,
        token,
      )?.swap_id,
    isNonceOfOther: (wallet, nonce, exceptSwapId) =>
      sql.get(
        "SELECT 1 FROM swaps WHERE wallet = ? AND nonce = ? AND id <> ?",
        wallet,
        nonce.toString(),
        exceptSwapId,
      ) !== undefined,
    failuresBetween: (strategyId, { sinceMs, untilMs }, except) =>
      sql.get<{ count: number }>(
        `SELECT count(*) AS count FROM runs WHERE strategy = ? AND state = 'failed' AND ended_at_ms >= ? AND ended_at_ms <= ?
           AND coalesce(reason, '') NOT IN (SELECT value FROM json_each(?))`,
        strategyId,
        sinceMs,
        untilMs,
        JSON.stringify(except),
      )?.count ?? 0,
    idleGrants: () => idleGrants(sql),
    grantors: (wallet, token) => grantors(sql, wallet, token),
    isAllowanceOpen: (wallet, token, final) => isAllowanceOpen(sql, { wallet, token }, final),
    forgetGrant: ({ wallet, token, spender }, final) => {
      if (isAllowanceOpen(sql, { wallet, token }, final)) return;
      sql.run(
        `DELETE FROM grants WHERE wallet = ? AND token = ? AND spender = ? AND coalesce(seen_block, 0) <= ? AND NOT EXISTS
           (SELECT 1 FROM swaps INDEXED BY swaps_open WHERE swaps.wallet = grants.wallet AND sell_token = token
             AND ${UNSETTLED_SWAPS} AND state = 'confirmed')`,
        wallet,
        token,
        spender,
        final.number,
      );
    },
  };
}

/** Calls of a token itself: approvals and revocations. */
const CHANGED_SINCE =
  "SELECT 1 FROM lane_intents WHERE account = ? AND mined_block_number > ? AND to_address = ? AND purpose <> 'swap'";

function isAllowanceOpen(
  sql: Statements,
  { wallet, token }: { wallet: Address; token: Address },
  final: FinalBlock,
): boolean {
  const unsettled = sql.get(
    `SELECT 1 FROM lane_intents
     WHERE account = ? AND to_address = ? AND purpose IN ('approve', 'revoke') AND ${OPEN_INTENTS}`,
    wallet,
    token,
  );
  const newer = sql.get(
    `SELECT 1 FROM lane_intents INDEXED BY lane_intents_mined_of
     WHERE account = ? AND mined_block_number > ? AND to_address = ? AND purpose IN ('approve', 'revoke')`,
    wallet,
    final.number,
    token,
  );
  // A signature can be brought to the token by its holder until its last second.
  const permit = sql.get(
    `SELECT 1 FROM signatures INDEXED BY signatures_permits
     WHERE kind = 'permit' AND valid_until_seconds >= ? AND signature IS NOT NULL
       AND swap_id IN (SELECT id FROM swaps WHERE id = swap_id AND wallet = ? AND sell_token = ?)`,
    final.timestamp,
    wallet,
    token,
  );
  return unsettled !== undefined || newer !== undefined || permit !== undefined;
}

/** Fills that a person accepted count as the strategy's own, so that it does not sell above its budget. */
function withAccepted(
  sql: Statements,
  sold: ReadonlyMap<Address, bigint>,
  strategyId: string,
): ReadonlyMap<Address, bigint> {
  const accepted = sql.all<Sale>("SELECT token, amount FROM accepted_sales WHERE strategy = ?", strategyId);
  if (accepted.length === 0) return sold;
  const totals = new Map(sold);
  for (const { token, amount } of accepted) {
    const address = toAddress(token);
    totals.set(address, (totals.get(address) ?? 0n) + BigInt(amount));
  }
  return totals;
}

function byToken(totals: ReadonlyMap<string, bigint>): ReadonlyMap<Address, bigint> {
  return new Map(
    [...totals].filter(([, amount]) => amount !== 0n).map(([token, amount]) => [toAddress(token), amount]),
  );
}

function netOfSwaps(
  sql: Statements,
  { wallet, token, unmoved }: { readonly wallet: Address; readonly token: Address; readonly unmoved: string },
): bigint | undefined {
  const open = sql.get(
    `SELECT 1 FROM swaps WHERE wallet = ? AND (sell_token = ? OR buy_token = ?)
       AND ${BUSY_SWAPS} AND state IN ${BUSY_STATES} AND id NOT IN (SELECT value FROM json_each(?))`,
    wallet,
    token,
    token,
    unmoved,
  );
  if (open !== undefined) return undefined;
  const delivering = sql.get(
    `SELECT 1 FROM swaps WHERE recipient = ? AND buy_token = ? AND ${DELIVERING_SWAPS}
       AND id NOT IN (SELECT value FROM json_each(?))`,
    wallet,
    token,
    unmoved,
  );
  if (delivering !== undefined) return undefined;
  const received = totalsOf(sql, "received", wallet).get(token) ?? 0n;
  return received - (totalsOf(sql, "paid", wallet).get(token) ?? 0n);
}

function newestBlock(sql: Statements, wallet: Address): number {
  const newest = (text: string): number => sql.get<{ block: number }>(text, wallet)?.block ?? 0;
  return Math.max(
    newest(
      `SELECT block_number AS block FROM swaps WHERE wallet = ? AND block_number IS NOT NULL
       ORDER BY block_number DESC LIMIT 1`,
    ),
    newest(
      `SELECT block_number AS block FROM swaps WHERE recipient = ? AND recipient <> wallet AND block_number IS NOT NULL
       ORDER BY block_number DESC LIMIT 1`,
    ),
    newest(
      `SELECT mined_block_number AS block FROM lane_intents WHERE account = ? AND mined_block_number IS NOT NULL
       ORDER BY mined_block_number DESC LIMIT 1`,
    ),
  );
}

function isTokenBusy(sql: Statements, asked: { wallet: Address; token: Address; exceptSwapId: string }): boolean {
  const { wallet, token, exceptSwapId } = asked;
  // Quoted again after its approval, a swap owns the allowance: it must not be overwritten or revoked in between. What waits
  // for a person may do so for half a day, and is checked anew when it goes on.
  const swap = sql.get(
    `SELECT 1 FROM swaps WHERE wallet = ? AND sell_token = ? AND id <> ? AND ${BUSY_SWAPS}
       AND (state IN ${BUSY_STATES} OR (state = 'quoted' AND json_extract(body, '$.approvals') > 0
         AND NOT EXISTS (SELECT 1 FROM holds WHERE run_id = swaps.run_id AND kind = 'approval' AND decision IS NULL)))`,
    wallet,
    token,
    exceptSwapId,
  );
  const capability = sql.get(
    "SELECT 1 FROM capabilities WHERE wallet = ? AND token = ? AND live = 1 AND swap_id <> ?",
    wallet,
    token,
    exceptSwapId,
  );
  const revocation = sql.get(
    `SELECT 1 FROM lane_intents
     WHERE account = ? AND to_address = ? AND purpose = 'revoke' AND state <> 'confirmed'
       AND ${OPEN_INTENTS}`,
    wallet,
    token,
  );
  return swap !== undefined || capability !== undefined || revocation !== undefined;
}

function isWalletBusy(sql: Statements, wallet: Address, exceptSwapId: string): boolean {
  const swap = sql.get(
    `SELECT 1 FROM swaps WHERE wallet = ? AND id <> ? AND ${BUSY_SWAPS} AND state IN ${BUSY_STATES}`,
    wallet,
    exceptSwapId,
  );
  const capability = sql.get(
    "SELECT 1 FROM capabilities WHERE wallet = ? AND live = 1 AND swap_id <> ?",
    wallet,
    exceptSwapId,
  );
  return swap !== undefined || capability !== undefined;
}

function idleGrants(sql: Statements): { wallet: Address; token: Address; spender: Address }[] {
  return sql
    .all<{ wallet: string; token: string; spender: string }>("SELECT wallet, token, spender FROM grants")
    .map((row) => ({
      wallet: toAddress(row.wallet),
      token: toAddress(row.token),
      spender: toAddress(row.spender),
    }))
    .filter((grant) => !isTokenBusy(sql, { wallet: grant.wallet, token: grant.token, exceptSwapId: "" }));
}

function grantors(sql: Statements, wallet: Address, token: Address): string[] {
  return sql
    .all<{ strategy: string }>(
      "SELECT DISTINCT strategy FROM grants WHERE wallet = ? AND token = ? AND strategy IS NOT NULL",
      wallet,
      token,
    )
    .map(({ strategy }) => strategy);
}

function sum(rows: readonly { amount: string }[]): bigint {
  return rows.reduce((total, row) => total + BigInt(row.amount), 0n);
}
