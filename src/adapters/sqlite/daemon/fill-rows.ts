import type { FillHistory } from "../../../ports/read-model.ts";
import { hasColumn, type Statements } from "../statements.ts";
import { decodePrices } from "./price-codec.ts";

interface FillRow {
  readonly sold: string;
  readonly bought: string;
  readonly sell_decimals: number;
  readonly buy_decimals: number;
  readonly price_evidence: string | null;
}

/** The newest fills that have reference prices of their decision. A database of before these were kept has none. */
export function readFills(sql: Statements, limit: number): readonly FillHistory[] {
  if (!hasColumn(sql, "swaps", "price_evidence")) return [];
  const rows = sql.all<FillRow>(
    `SELECT sold, bought, sell_decimals, buy_decimals, price_evidence FROM swaps
     WHERE block_number IS NOT NULL ORDER BY block_number DESC LIMIT ?`,
    limit,
  );
  return rows.flatMap((row) => {
    const prices = typeof row.price_evidence === "string" ? decodePrices(row.price_evidence) : undefined;
    if (prices?.sold === undefined || prices.bought === undefined) return [];
    return [
      {
        sold: { raw: BigInt(row.sold), decimals: row.sell_decimals, usd: prices.sold.usd },
        bought: { raw: BigInt(row.bought), decimals: row.buy_decimals, usd: prices.bought.usd },
      },
    ];
  });
}
