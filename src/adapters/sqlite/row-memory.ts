import type { SqliteDatabase } from "../../storage/database.ts";
import { onTakenBack } from "../../storage/transaction.ts";

/**
 * What was read of some rows since they were last written: they are asked for at each turn, and mostly nothing has changed.
 * For a database that only one process writes.
 */
export interface RowMemory {
  /** What was read under this name, else what is read now. */
  read<T>(name: string, read: () => T): T;
  /** To be called before any of the rows is written: forgets what was read under these names, or all. */
  forget(...names: readonly string[]): void;
  /** What was read under this name says after a write what is made of it here; the rest stays. */
  change<T>(name: string, of: (known: T) => T): void;
}

/** Every question is a reading: for a service, whose halted relayer another process releases, and for who only reads. */
export const NO_MEMORY: RowMemory = {
  read: (_name, read) => read(),
  forget: () => undefined,
  change: () => undefined,
};

/** Rows that are remembered: intents, halts and acceptances of lanes; differences between rows and chain. */
type Remembered = "lanes" | "differences";

const memories = new WeakMap<SqliteDatabase, Map<Remembered, RowMemory>>();

/** The memory of a connection that writes: after anything was taken back in the database all of it is read again. */
export function rowMemoryOf(db: SqliteDatabase, rows: Remembered): RowMemory {
  if (db.readonly) return NO_MEMORY;
  const ofConnection = memories.get(db) ?? new Map<Remembered, RowMemory>();
  memories.set(db, ofConnection);
  const memory = ofConnection.get(rows) ?? createMemory(db);
  ofConnection.set(rows, memory);
  return memory;
}

function createMemory(db: SqliteDatabase): RowMemory {
  const kept = new Map<string, unknown>();
  const memory: RowMemory = {
    read: <T>(name: string, read: () => T): T => {
      if (!kept.has(name)) kept.set(name, read());
      return kept.get(name) as T;
    },
    forget: (...names) => {
      if (names.length === 0) kept.clear();
      for (const name of names) kept.delete(name);
    },
    change: <T>(name: string, of: (known: T) => T): void => {
      if (kept.has(name)) kept.set(name, of(kept.get(name) as T));
    },
  };
  onTakenBack(db, () => kept.clear());
  return memory;
}
