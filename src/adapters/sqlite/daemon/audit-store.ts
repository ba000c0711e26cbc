import type { RecordedAudit } from "../../../ports/listing.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";
import { inTransaction } from "../../../storage/transaction.ts";
import { hasTable, prepareStatements, type Statements } from "../statements.ts";

/** So many of the newest audits are kept, of all, of those that found differences, and of those that looked at everything. */
const KEPT = 100;

/**
 * Writes down what an audit found, beside a daemon that may be running. Those before the newest ones go with it.
 * @returns false where the database has no place for it yet
 */
export function recordAudit(db: SqliteDatabase, audit: RecordedAudit): boolean {
  const sql = prepareStatements(db);
  if (!hasTable(sql, "audits")) return false;
  inTransaction(db, () => {
    sql.run(
      `INSERT INTO audits (made_by, at_ms, from_block, from_ms, to_block, differences, findings, looked_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[audit.madeBy, audit.atMs, audit.fromBlock, audit.fromMs, audit.toBlock, audit.differences],
      ...[JSON.stringify(audit.findings), audit.lookedAt],
    );
    sql.run(FORGET_OLD, KEPT, KEPT, KEPT);
  });
  return true;
}

const FORGET_OLD = `DELETE FROM audits WHERE id NOT IN (SELECT id FROM audits ORDER BY id DESC LIMIT ?)
  AND id NOT IN (SELECT id FROM audits WHERE differences > 0 ORDER BY id DESC LIMIT ?)
  AND id NOT IN (SELECT id FROM audits WHERE from_block IS NULL AND from_ms IS NULL ORDER BY id DESC LIMIT ?)`;

interface AuditRow {
  readonly made_by: string;
  readonly at_ms: number;
  readonly from_block: number | null;
  readonly from_ms: number | null;
  readonly to_block: number;
  readonly differences: number;
  readonly findings: string;
  readonly looked_at: string;
}

/** Audits from the newest down, as they were recorded one after the other. */
export function listAudits(sql: Statements, limit: number): readonly RecordedAudit[] {
  return sql.all<AuditRow>("SELECT * FROM audits ORDER BY id DESC LIMIT ?", limit).map(decode);
}

/** The newest one that looked at everything. */
export function newestWholeAudit(sql: Statements): RecordedAudit | undefined {
  const whole = "from_block IS NULL AND from_ms IS NULL";
  const row = sql.get<AuditRow>(`SELECT * FROM audits WHERE ${whole} ORDER BY id DESC LIMIT 1`);
  return row === undefined ? undefined : decode(row);
}

function decode(row: AuditRow): RecordedAudit {
  return {
    ...{ madeBy: row.made_by, atMs: row.at_ms, fromBlock: row.from_block, fromMs: row.from_ms, toBlock: row.to_block },
    ...{ differences: row.differences, lookedAt: row.looked_at },
    findings: JSON.parse(row.findings) as RecordedAudit["findings"],
  };
}
