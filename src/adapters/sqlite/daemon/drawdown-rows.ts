import type { DrawdownState } from "../../../domain/guard/drawdown.ts";
import type { OperationStore } from "../../../ports/store.ts";
import type { Statements } from "../statements.ts";
import { decodeJson, encodeJson } from "./codec.ts";

type Rows = "drawdown" | "saveDrawdown" | "deliveredToOthers";

/** The one row of the wallets' value over time. */
export function createDrawdownRows(sql: Statements): Pick<OperationStore, Rows> {
  return {
    deliveredToOthers: (wallets, token) => {
      const ours = JSON.stringify(wallets);
      const rows = sql.all<{ amount: string }>(
        `SELECT bought AS amount FROM swaps WHERE buy_token = ? AND state IN ('confirmed', 'final')
           AND bought IS NOT NULL AND wallet IN (SELECT value FROM json_each(?))
           AND recipient NOT IN (SELECT value FROM json_each(?))`,
        token,
        ours,
        ours,
      );
      return rows.reduce((total, row) => total + BigInt(row.amount), 0n);
    },
    drawdown: () => {
      const row = sql.get<{ state: string }>("SELECT state FROM drawdown");
      return row === undefined ? undefined : (decodeJson(row.state) as DrawdownState);
    },
    saveDrawdown: (state, atMs) => {
      sql.run(
        `INSERT INTO drawdown (one, state, at_ms) VALUES (1, ?, ?)
         ON CONFLICT (one) DO UPDATE SET state = excluded.state, at_ms = excluded.at_ms`,
        encodeJson(state),
        atMs,
      );
    },
  };
}
