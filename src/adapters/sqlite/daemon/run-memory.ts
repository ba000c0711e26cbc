import type { Run } from "../../../domain/run/run.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";
import { onTakenBack } from "../../../storage/transaction.ts";

/** A run as it was read, and about how many characters its rows have. */
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

/** As much as a thousand open runs have; of a service that makes its typed data long fewer are kept. */
const MOST_CHARACTERS = 8_000_000;

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
  const kept = new Map<string, ReadRun>();
  let characters = 0;
  const forget = (id: string): void => {
    characters -= kept.get(id)?.length ?? 0;
    kept.delete(id);
  };
  onTakenBack(db, () => {
    kept.clear();
    characters = 0;
  });
  return {
    forget,
    read: (id, read) => {
      const found = kept.get(id) ?? read();
      if (found === undefined || kept.has(id)) return found?.run;
      kept.set(id, found);
      characters += found.length;
      for (const oldest of kept.keys()) {
        if (characters <= MOST_CHARACTERS) break;
        forget(oldest);
      }
      return found.run;
    },
  };
}
