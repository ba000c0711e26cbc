import type { SharedClock } from "../../ports/clock.ts";
import { openDatabase, type SqliteDatabase, StorageError } from "../../storage/database.ts";
import { MigrationError, migrate, ownMigrations, tablesOf } from "../../storage/migrations.ts";
import { emptyPace, isPlausible, type Pace, type PaceTerms } from "./pace.ts";

/** The pace of one key in a file that several processes share. */
export interface PaceStore {
  /** Reads without taking the write lock. */
  read(): Pace;
  /** Reads and writes in one transaction that excludes the other processes. The work is synchronous. */
  update<T extends { readonly pace: Pace }>(work: (pace: Pace, nowUs: number) => T): T;
  close(): void;
}

interface StoredPace {
  readonly boot_id: string;
  readonly next_slot_us: number;
  readonly blocked_until_us: number;
  readonly cautious: 0 | 1;
  readonly rate_per_second: number;
  readonly rate_at_us: number;
  readonly limit_seen: number | null;
}

const OPEN_ATTEMPTS = 50;

/**
 * Opens (and creates) the file. Losing it only delays: the pace then starts empty.
 * @throws StorageError when the file cannot be opened
 */
export function openPaceStore(
  options: { file: string; keyHash: string; terms: PaceTerms },
  clock: SharedClock,
): PaceStore {
  const db = openShared(options.file);
  const select = db.prepare<[string], StoredPace>("SELECT * FROM pace WHERE key_hash = ?");
  const upsert = db.prepare(
    `INSERT OR REPLACE INTO pace (key_hash, boot_id, next_slot_us, blocked_until_us, cautious,
       rate_per_second, rate_at_us, limit_seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const read = (nowUs: number): Pace | undefined => {
    const row = select.get(options.keyHash);
    if (row === undefined || row.boot_id !== clock.bootId) return undefined;
    const pace = toPace(row);
    return isPlausible(pace, nowUs, options.terms) ? pace : undefined;
  };
  const write = (pace: Pace): void => {
    upsert.run(
      options.keyHash,
      clock.bootId,
      Math.round(pace.nextSlotUs),
      Math.round(pace.blockedUntilUs),
      pace.cautious ? 1 : 0,
      pace.ratePerSecond,
      Math.round(pace.rateAtUs),
      pace.limitSeen ?? null,
    );
  };
  const update: PaceStore["update"] = (work) =>
    db
      .transaction(() => {
        const nowUs = clock.nowUs();
        const stored = read(nowUs);
        const result = work(stored ?? emptyPace(nowUs, options.terms.limitPerSecond), nowUs);
        if (result.pace !== stored) write(result.pace);
        return result;
      })
      .immediate();
  update((pace) => ({ pace }));
  return {
    update,
    read: () => read(clock.nowUs()) ?? update((pace) => ({ pace })).pace,
    close: () => {
      db.close();
    },
  };
}

/** Several processes may create the file at the same moment; SQLite answers some of them that it is locked. */
function openShared(file: string): SqliteDatabase {
  for (let attempt = 1; ; attempt++) {
    try {
      const db = openDatabase({ file });
      // A pace needs no durability, and a sync to disk for every call would be slower than the calls.
      db.pragma("synchronous = NORMAL");
      makeTables(db);
      return db;
    } catch (error) {
      if (attempt === OPEN_ATTEMPTS || !isBusy(error)) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}

/** A pace is only worth a second: an older release makes the tables of a newer one anew, which no copy was made of. */
function makeTables(db: SqliteDatabase): void {
  const own = { set: "pace", migrations: ownMigrations(new URL("./migrations/", import.meta.url)), backup: false };
  db.transaction(() => {
    // Another process may have made them anew since: whether they are newer is decided under the write lock.
    try {
      migrate(db, own);
    } catch (error) {
      if (!(error instanceof MigrationError && error.code === "newer database")) throw error;
      for (const name of tablesOf(db)) db.exec(`DROP TABLE "${name.replaceAll('"', '""')}"`);
      db.exec("DELETE FROM schema_migrations");
      migrate(db, own);
    }
  }).immediate();
}

function isBusy(error: unknown): boolean {
  const cause = error instanceof StorageError ? error.cause : error;
  return cause instanceof Error && "code" in cause && String(cause.code).startsWith("SQLITE_BUSY");
}

function toPace(row: StoredPace): Pace {
  return {
    nextSlotUs: row.next_slot_us,
    blockedUntilUs: row.blocked_until_us,
    cautious: row.cautious === 1,
    ratePerSecond: row.rate_per_second,
    rateAtUs: row.rate_at_us,
    limitSeen: row.limit_seen ?? undefined,
  };
}
