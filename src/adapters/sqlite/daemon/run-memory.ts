import type { Run } from "../../../domain/run/run.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";
import { onTakenBack } from "../../../storage/transaction.ts";

/** A run as it was read, and how many characters its swaps' bodies have. */
export interface ReadRun {
  readonly run: Run;
  readonly length: number;
}

/**
 * The runs that were read last and were not written since: a run is read for its effect, and again, mostly unchanged, for
 * the commit of the answer; a thousand open ones are looked at every few seconds. What is read is shared, and never changed.
 * For a database that only one process writes.
 */
export interface RunMemory {
  read(id: string, read: () => ReadRun | undefined): Run | undefined;
  /** To be called before the run is written. */
  forget(id: string): void;
}

/** More than are open at most places. */
const MOST_RUNS = 1_024;
/** A service may put as much into the typed data of its quotes as an answer may have: such runs are not kept. */
const LONGEST_KEPT = 65_536;

/** Every question is a reading: for who only reads. */
export const NO_RUN_MEMORY: RunMemory = {
  read: (_id, read) => read()?.run,
  forget: () => undefined,
};

const memories = new WeakMap<SqliteDatabase, RunMemory>();

/** The memory of a connection that writes: after anything was taken back in the database all of it is read again. */
export function runMemoryOf(db: SqliteDatabase): RunMemory {
  if (db.readonly) return NO_RUN_MEMORY;
  const memory = memories.get(db) ?? createRunMemory(db);
  memories.set(db, memory);
  return memory;
}

function createRunMemory(db: SqliteDatabase): RunMemory {
  const kept = new Map<string, Run>();
  onTakenBack(db, () => kept.clear());
  return {
    read: (id, read) => {
      const known = kept.get(id);
      if (known !== undefined) return known;
      const found = read();
      if (found === undefined || found.length > LONGEST_KEPT) return found?.run;
      kept.set(id, found.run);
      const [oldest] = kept.keys();
      if (kept.size > MOST_RUNS && oldest !== undefined) kept.delete(oldest);
      return found.run;
    },
    forget: (id) => {
      kept.delete(id);
    },
  };
}
