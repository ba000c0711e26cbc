import { createStore } from "../adapters/sqlite/daemon/store.ts";
import type { ModeRow } from "../domain/run/operating-mode.ts";
import { stricterMode } from "../domain/run/operating-mode.ts";
import { openDatabase } from "../storage/database.ts";

/** The modes of a copy that is restored, and which of them are those of the database that it replaces. */
export interface RestoredModes {
  readonly inForce: readonly ModeRow[];
  /** undefined where the other database is not there, or cannot be read: what was halted since the copy is not known */
  readonly kept: readonly ModeRow[] | undefined;
}

/**
 * Writes into a copy what is halted, paused or bound to exits in the database that it is to replace, and not as strictly
 * in itself: a restore takes no stop back.
 */
export function keepStricterModes(replaced: string, copy: string): RestoredModes {
  const before = readModes(replaced);
  const db = openDatabase({ file: copy });
  try {
    const store = createStore(db);
    const kept = before?.filter(({ scope, mode }) => {
      const own = store.mode(scope)?.mode ?? "active";
      return stricterMode(own, mode) !== own;
    });
    store.transaction(() => kept?.forEach(store.setMode));
    return { inForce: store.modes().filter(({ mode }) => mode !== "active"), kept };
  } finally {
    db.close();
  }
}

function readModes(file: string): readonly ModeRow[] | undefined {
  try {
    const db = openDatabase({ file, readonly: true });
    try {
      return createStore(db).modes();
    } finally {
      db.close();
    }
  } catch (error) {
    // Of SQLite or of a file; what has no code is a mistake of ours.
    if (!(error instanceof Error && "code" in error)) throw error;
    return undefined;
  }
}
