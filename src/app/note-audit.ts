import { recordAudit } from "../adapters/sqlite/daemon/audit-store.ts";
import type { AuditReport } from "../audit/report.ts";
import type { Since } from "../audit/since.ts";
import { timeText } from "../audit/time-text.ts";
import type { RecordedAudit } from "../ports/listing.ts";
import { openDatabase, StorageError } from "../storage/database.ts";
import { isStorageFault } from "../storage/storage-fault.ts";
import type { Terminal } from "./terminal.ts";

/** So many differences are kept of an audit, and so much of the sentence of each. */
const MOST_FINDINGS = 20;
const LONGEST_TEXT = 500;

interface MadeAudit {
  readonly database: string;
  readonly report: AuditReport;
  readonly since: Since | undefined;
  readonly by: string;
  readonly atMs: number;
}

/**
 * Writes down what an audit found, where the page and the API show it. The audit is made, whether this works or not: a
 * database that cannot be written, or is busy, is said and nothing more.
 */
export function noteAudit(made: MadeAudit, terminal: Pick<Terminal, "err">): void {
  const why = record(made);
  if (why !== undefined) terminal.err(`what this audit found is not in the database, so that no page shows it: ${why}`);
}

/** @returns why it was not written down */
function record(made: MadeAudit): string | undefined {
  try {
    const db = openDatabase({ file: made.database });
    try {
      if (recordAudit(db, rowOf(made))) return undefined;
      return "it has no place for it before a daemon of this release has started on it";
    } finally {
      db.close();
    }
  } catch (error) {
    if (error instanceof StorageError || isStorageFault(error)) return error.message;
    throw error;
  }
}

function rowOf({ report, since, by, atMs }: MadeAudit): RecordedAudit {
  const { runs, swaps, transactions, blocks } = report.checked;
  const findings = report.differences.slice(0, MOST_FINDINGS).map(({ code, subject, message }) => ({
    ...{ code, subject: subject.slice(0, LONGEST_TEXT), message: message.slice(0, LONGEST_TEXT) },
  }));
  return {
    ...{ madeBy: by, atMs, toBlock: report.tip.number, differences: report.differences.length, findings },
    fromBlock: since !== undefined && "block" in since ? since.block : null,
    fromMs: since !== undefined && "seconds" in since ? since.seconds * 1_000 : null,
    lookedAt: `${runs} runs, ${swaps} swaps, ${transactions} transactions, ${blocks} blocks, the last of ${timeText(report.tip.seconds)}`,
  };
}
