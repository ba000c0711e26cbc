import { endAllAccess } from "../adapters/sqlite/daemon/access-store.ts";
import { openStore } from "../adapters/sqlite/daemon/open-store.ts";
import type { ModeRow } from "../domain/run/operating-mode.ts";
import { stricterMode } from "../domain/run/operating-mode.ts";
import { openDatabase } from "../storage/database.ts";

/** The modes of a copy that is restored, and which of them are those of the database that it replaces. */
export interface RestoredModes {
  readonly inForce: readonly ModeRow[];
  /** undefined where the other database is not there, or cannot be read: what was halted since the copy is not known */
  readonly kept: readonly ModeRow[] | undefined;
  /** how many logins and tokens of the API the copy had, which are ended */
  readonly endedAccess: number;
}

/**
 * Writes into a copy what is halted, paused or bound to exits in the database that it is to replace, and not as strictly
 * in itself: a restore takes no stop back. Nor does it bring back who may use the API.
 */
export async function keepStricterModes(replaced: string, copy: string, atMs: number): Promise<RestoredModes> {
  const before = await readModes(replaced);
  const db = openDatabase({ file: copy });
  try {
    const store = openStore(db);
    const question = { kind: "modes" } as const;
    const decide = (own: readonly ModeRow[]) => {
      const kept = before?.filter((row) => isStricter(row, own));
      const changes = (kept ?? []).map((row) => ({ kind: "mode-corrected", row }) as const);
      return { changes, atMs, value: kept };
    };
    const [written] = await store.commit([{ question, decide }]);
    const inForce = await store.read(question);
    const endedAccess = endAllAccess(db, atMs);
    return { inForce: inForce.filter(({ mode }) => mode !== "active"), kept: written?.value, endedAccess };
  } finally {
    db.close();
  }
}

/** Whether a mode stops more than that of its scope among others. */
function isStricter({ scope, mode }: ModeRow, others: readonly ModeRow[]): boolean {
  const other = others.find((row) => row.scope === scope)?.mode ?? "active";
  return stricterMode(other, mode) !== other;
}

async function readModes(file: string): Promise<readonly ModeRow[] | undefined> {
  try {
    const db = openDatabase({ file, readonly: true });
    try {
      return await openStore(db).read({ kind: "modes" });
    } finally {
      db.close();
    }
  } catch (error) {
    // Of SQLite or of a file; what has no code is a mistake of ours.
    if (!(error instanceof Error && "code" in error)) throw error;
    return undefined;
  }
}
