import type { LotPick } from "../../../domain/books/shelf.ts";
import { toAddress } from "../../../domain/money/address.ts";
import type { LotOrder } from "../../../ports/book-rows.ts";
import { hasTable, type Statements } from "../statements.ts";
import type { OperationStore } from "./operation-store.ts";

/** No order holds for a sale that was made: a clock that is behind gives way to what the chain says. */
const NOT_BEFORE = `max(?, ifnull((SELECT max(at_ms) FROM lot_orders), 0), ifnull((
  SELECT block_time_seconds * 1000 FROM swaps WHERE block_number IS NOT NULL ORDER BY block_number DESC LIMIT 1), 0))`;

/** Standing orders by which lots are taken. */
export function createLotOrderRows(sql: Statements): Pick<OperationStore, "addLotOrder"> {
  return {
    addLotOrder: ({ wallet, pick, madeBy }, atMs) => {
      sql.run(
        `INSERT INTO lot_orders (wallet, pick, made_by, at_ms) VALUES (?, ?, ?, ${NOT_BEFORE})`,
        wallet,
        pick,
        madeBy,
        atMs,
      );
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
