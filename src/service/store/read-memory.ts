import type { SqliteDatabase } from "../../storage/database.ts";

/**
 * Keeps what was read from a database for as long as nothing writes to it: a turn and a request ask the same many
 * times.
 */
export interface ReadMemory {
  /** What was read under this name since the last write, where it still `holds`; else what is read now. */
  read<T>(name: string, read: () => T, holds?: (kept: T) => boolean): T;
}

/** Names come from strangers too. */
const MOST_KEPT = 1_000;

export function createReadMemory(db: SqliteDatabase): ReadMemory {
  // The one counts rows that this connection changed, also where they were taken back; the other commits of all others.
  const writes = db
    .prepare<[], string>("SELECT total_changes() || ' ' || data_version FROM pragma_data_version")
    .pluck();
  const kept = new Map<string, unknown>();
  let keptAt: string | undefined;
  return {
    read<T>(name: string, read: () => T, holds: (kept: T) => boolean = () => true): T {
      const now = writes.get();
      if (now !== keptAt || kept.size >= MOST_KEPT) kept.clear();
      keptAt = now;
      if (kept.has(name)) {
        const before = kept.get(name) as T;
        if (holds(before)) return before;
      }
      const value = read();
      // What a transaction reads of its own writes may be taken back.
      if (!db.inTransaction) kept.set(name, value);
      return value;
    },
  };
}
