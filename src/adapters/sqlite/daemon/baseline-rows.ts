import { toAddress } from "../../../domain/money/address.ts";
import type { BaselineRow } from "../../../ports/watch-questions.ts";
import type { Statements } from "../statements.ts";
import type { RowStore } from "./row-store.ts";

/** Rows of the balances that audit and books count from. */
export function createBaselineRows(sql: Statements): Pick<RowStore, "baselines" | "addBaseline" | "replaceBaselines"> {
  const add = (row: BaselineRow): void => {
    sql.run(
      `INSERT INTO baselines (wallet, token, symbol, decimals, block_number, block_time_seconds, balance)
       VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      row.wallet,
      row.token,
      row.symbol,
      row.decimals,
      row.blockNumber,
      row.blockTimeSeconds,
      row.balance.toString(),
    );
  };
  return {
    addBaseline: add,
    replaceBaselines: (wallet, rows) => {
      sql.run("DELETE FROM baselines WHERE wallet = ?", wallet);
      rows.forEach(add);
    },
    baselines: () =>
      sql
        .all<{ wallet: string; token: string }>("SELECT wallet, token FROM baselines")
        .map(({ wallet, token }) => ({ wallet: toAddress(wallet), token: toAddress(token) })),
  };
}
