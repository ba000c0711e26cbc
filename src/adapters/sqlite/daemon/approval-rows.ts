import { type Address, toAddress } from "../../../domain/money/address.ts";
import type { SpenderInUse } from "../../../ports/read-model.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";
import { BUSY_SWAPS } from "../index-conditions.ts";

/** What the database knows of allowances: to whom they were ever granted, and which swap may still use one. */
export interface ApprovalReader {
  /** every contract that was ever granted an allowance, or that something was signed for */
  spenders(): readonly Address[];
  /** the swap that holds the right to a wallet's token now, or has it approved before it is signed */
  swapUsing(wallet: Address, token: Address): SpenderInUse | undefined;
}

/** Where the spender stands in what was sent to the token: approve(address,uint256), as hexadecimal digits. */
const APPROVED = "'0x' || substr(data, 35, 40)";

/** @param db the daemon's database, open for reading */
export function createApprovalReader(db: SqliteDatabase): ApprovalReader {
  const spenders = db.prepare<[], string>("SELECT spender FROM capabilities UNION SELECT spender FROM grants").pluck();
  const using = db.prepare<[string, string], { swap: string; spender: string }>(
    `SELECT swap_id AS swap, spender FROM capabilities WHERE wallet = ? AND token = ? AND live = 1 ORDER BY opened_at_ms DESC LIMIT 1`,
  );
  const approving = db.prepare<[string, string], { swap: string; spender: string }>(
    `SELECT swaps.id AS swap, ${APPROVED} AS spender FROM swaps JOIN lane_intents
       ON lane_intents.id = swaps.id || '.approve' || json_extract(body, '$.approvals')
     WHERE swaps.wallet = ? AND sell_token = ? AND swaps.${BUSY_SWAPS} LIMIT 1`,
  );
  return {
    spenders: () => spenders.all().map(toAddress),
    swapUsing: (wallet, token) => {
      const row = using.get(wallet, token) ?? approving.get(wallet, token);
      return row === undefined ? undefined : { wallet, token, spender: toAddress(row.spender), swap: row.swap };
    },
  };
}
