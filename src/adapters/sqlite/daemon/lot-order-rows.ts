import type { LotPick } from "../../../domain/books/shelf.ts";
import { toAddress } from "../../../domain/money/address.ts";
import type { LotOrder } from "../../../ports/book-rows.ts";
import { hasTable, type Statements } from "../statements.ts";
import type { OperationStore } from "./operation-store.ts";

/** Standing orders by which lots are taken. */
export function createLotOrderRows(sql: Statements): Pick<OperationStore, "addLotOrder" | "newestFillMs"> {
  return {
    addLotOrder: ({ wallet, pick, madeBy, sinceMs }) => {
      const order = "INSERT INTO lot_orders (wallet, pick, made_by, at_ms) VALUES (?, ?, ?, ?)";
      sql.run(order, wallet, pick, madeBy, sinceMs);
    },
    newestFillMs: () => {
      const newest = sql.get<{ seconds: number | null }>(
        `SELECT block_time_seconds AS seconds FROM swaps WHERE block_number IS NOT NULL
         ORDER BY block_number DESC LIMIT 1`,
      );
      return (newest?.seconds ?? 0) * 1_000;
    },
  };
}

/** All of them, oldest first. A database that no daemon of this release has opened yet has none. */
export function readLotOrders(sql: Statements): readonly LotOrder[] {
  if (!hasTable(sql, "lot_orders")) return [];
  return sql
    .all<{ id: number; wallet: string; pick: LotPick; made_by: string; at_ms: number }>(
      "SELECT * FROM lot_orders ORDER BY id",
    )
    .map(({ id, wallet, pick, made_by: madeBy, at_ms: sinceMs }) => ({
      ...{ id, wallet: toAddress(wallet), pick, madeBy, sinceMs },
    }));
}
