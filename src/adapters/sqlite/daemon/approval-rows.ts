import { type Address, toAddress } from "../../../domain/money/address.ts";
import type { SpenderInUse } from "../../../ports/read-model.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";

/** What the database knows of allowances: to whom they were ever granted, and which swap may still use one. */
export interface ApprovalReader {
  /** every contract that was ever granted an allowance, or that something was signed for */
  spenders(): readonly Address[];
  /** the swap that holds the right to a wallet's token now */
  swapUsing(wallet: Address, token: Address): SpenderInUse | undefined;
}

/** @param db the daemon's database, open for reading */
export function createApprovalReader(db: SqliteDatabase): ApprovalReader {
  const spenders = db.prepare<[], string>("SELECT spender FROM capabilities UNION SELECT spender FROM grants").pluck();
  const using = db.prepare<[string, string], { swap: string; spender: string }>(
    `SELECT swap_id AS swap, spender FROM capabilities WHERE wallet = ? AND token = ? AND live = 1 ORDER BY opened_at_ms DESC LIMIT 1`,
  );
  return {
    spenders: () => spenders.all().map(toAddress),
    swapUsing: (wallet, token) => {
      const row = using.get(wallet, token);
      return row === undefined ? undefined : { wallet, token, spender: toAddress(row.spender), swap: row.swap };
    },
  };
}
