import type { SqliteDatabase } from "../../storage/database.ts";
import { onTakenBack } from "../../storage/transaction.ts";

/**
 * What was read of accounts since their lanes' rows were last written: lanes ask at each turn, and mostly nothing has
 * changed. For a database whose rows of lanes only one process writes.
 */
export interface LaneMemory {
  /** What was read under this name, else what is read now. */
  read<T>(name: string, read: () => T): T;
  /** To be called before an intent, a halt or an acceptance is written, and before intents are archived. */
  forget(): void;
}

/** Every question is a reading: for a service, whose halted relayer another process releases. */
export const NO_MEMORY: LaneMemory = { read: (_name, read) => read(), forget: () => undefined };

const memories = new WeakMap<SqliteDatabase, LaneMemory>();

/** The memory of a connection: after anything was taken back in the database all of it is read again. */
export function laneMemoryOf(db: SqliteDatabase): LaneMemory {
  const known = memories.get(db);
  if (known !== undefined) return known;
  const kept = new Map<string, unknown>();
  const memory: LaneMemory = {
    read: <T>(name: string, read: () => T): T => {
      if (!kept.has(name)) kept.set(name, read());
      return kept.get(name) as T;
    },
    forget: () => kept.clear(),
  };
  onTakenBack(db, memory.forget);
  memories.set(db, memory);
  return memory;
}
