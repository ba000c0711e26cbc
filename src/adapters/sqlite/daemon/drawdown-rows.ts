import type { DrawdownState } from "../../../domain/guard/drawdown.ts";
import type { Swap } from "../../../domain/run/run.ts";
import { UNSETTLED_SWAPS } from "../index-conditions.ts";
import type { Statements } from "../statements.ts";
import { decodeJson, encodeJson } from "./codec.ts";
import type { RowStore } from "./row-store.ts";
import { receivedOf } from "./total-rows.ts";

type Rows = "drawdown" | "saveDrawdown" | "deliveredToOthers" | "proposedSwaps";

/** The first condition is there for the index. */
const PROPOSED = `SELECT id, wallet FROM swaps WHERE ${UNSETTLED_SWAPS}
  AND state IN ('signed', 'submitted', 'unknown') AND json_extract(body, '$.proposal') IS NOT NULL`;

/** The one row of the wallets' value over time. */
export function createDrawdownRows(sql: Statements): Pick<RowStore, Rows> {
  return {
    deliveredToOthers: (wallets, token) => {
      const ours = new Set<string>(wallets);
      const delivered = receivedOf(sql, token).filter((row) => ours.has(row.wallet) && !ours.has(row.recipient));
      return delivered.reduce((total, { amount }) => total + amount, 0n);
    },
    proposedSwaps: () => sql.all<Pick<Swap, "id" | "wallet">>(PROPOSED),
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
