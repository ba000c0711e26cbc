import type { SqliteDatabase } from "../../../storage/database.ts";
import { inTransaction } from "../../../storage/transaction.ts";
import { prepareStatements } from "../statements.ts";

/** Writes down why a start ended. Right after another such start it takes that one's row: it may be tried all day. */
export function recordEndedStart(db: SqliteDatabase, why: string, atMs: number): void {
  const sql = prepareStatements(db);
  inTransaction(db, () => {
    const replaced = sql.run(
      `UPDATE daemon_events SET detail = ?, at_ms = ?
       WHERE id = (SELECT id FROM daemon_events ORDER BY id DESC LIMIT 1) AND kind = 'ended'`,
      why,
      atMs,
    );
    if (replaced === 0) sql.run("INSERT INTO daemon_events (kind, detail, at_ms) VALUES ('ended', ?, ?)", why, atMs);
  });
}
