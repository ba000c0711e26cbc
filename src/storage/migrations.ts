import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import type { SqliteDatabase } from "./database.ts";
import { createPrivate } from "./private-file.ts";

/** One numbered SQL file. Once applied anywhere it is never edited. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

/** Why a database cannot be brought to this program's schema; the message says what to do. */
export class MigrationError extends Error {
  readonly code: "bad file name" | "bad sequence" | "edited migration" | "newer database" | "migration rejected";

  constructor(code: MigrationError["code"], message: string, options?: { cause: unknown }) {
    super(message, options);
    this.name = "MigrationError";
    this.code = code;
  }
}

const FILE_NAME_PATTERN = /^([0-9]{4})-([a-z0-9]+(?:-[a-z0-9]+)*)\.sql$/;
const SET_NAME_PATTERN = /^[a-z][a-z0-9-]*$/;

/**
 * Reads the `NNNN-name.sql` files of a directory in order of their numbers; other kinds of file are passed over.
 * @throws MigrationError when an SQL file is not named so
 */
export function readMigrations(directory: URL): readonly Migration[] {
  const base = directory.href.endsWith("/") ? directory : new URL(`${directory.href}/`);
  const migrations: Migration[] = [];
  for (const file of readdirSync(base).sort()) {
    if (!file.endsWith(".sql")) continue;
    const match = FILE_NAME_PATTERN.exec(file);
    if (match === null) throw new MigrationError("bad file name", `${file} is not named like 0001-first-tables.sql`);
    const sql = readFileSync(new URL(file, base), "utf8");
    migrations.push({ number: Number(match[1]), name: match[2] ?? "", sql });
  }
  return migrations;
}

const known = new Map<string, readonly Migration[]>();

/** The program's own migrations of a directory, read once: a file that is part of the program stays as it is. */
export function ownMigrations(directory: URL): readonly Migration[] {
  const migrations = known.get(directory.href) ?? readMigrations(directory);
  known.set(directory.href, migrations);
  return migrations;
}

interface AppliedRow {
  readonly number: number;
  readonly name: string;
  readonly sha256: string;
}

/**
 * Brings one named set of tables to the newest migration, all pending ones in one transaction. Several sets live in one
 * file side by side. With `backup`, a database that holds rows is copied first to `<file>.before-<set>-<number>`; not for a
 * set that begins here, which adds tables and changes nothing.
 * @returns the numbers that were applied now, and the copy's path if one was made
 * @throws MigrationError when an applied migration was edited, or the database is newer than this program
 */
export function migrate(
  db: SqliteDatabase,
  options: { set: string; migrations: readonly Migration[]; backup: boolean },
): { applied: readonly number[]; backupFile: string | undefined } {
  const { set } = options;
  assertSequence(set, options.migrations);
  db.exec(
    `CREATE TABLE IF NOT EXISTS schema_migrations (
      set_name TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, sha256 TEXT NOT NULL,
      applied_at_ms INTEGER NOT NULL, PRIMARY KEY (set_name, number)
    ) STRICT`,
  );
  const pending = pendingMigrations(db, set, options.migrations);
  const first = pending[0];
  if (first === undefined) return { applied: [], backupFile: undefined };
  const isCopied = options.backup && first.number > 1 && holdsRows(db);
  const backupFile = isCopied ? copyBefore(db, set, first.number) : undefined;
  db.transaction(() => {
    // Another process may have migrated since: what is pending is decided under the write lock.
    for (const migration of pendingMigrations(db, set, options.migrations)) apply(db, set, migration);
  }).immediate();
  return { applied: pending.map((migration) => migration.number), backupFile };
}

function assertSequence(set: string, migrations: readonly Migration[]): void {
  if (!SET_NAME_PATTERN.test(set)) throw new MigrationError("bad sequence", `bad name of a migration set: ${set}`);
  for (const [index, migration] of migrations.entries()) {
    if (migration.number === index + 1) continue;
    const message = `migrations of ${set} must be numbered 1, 2, 3, ...: found ${migration.number} at place ${index + 1}`;
    throw new MigrationError("bad sequence", message);
  }
}

function pendingMigrations(db: SqliteDatabase, set: string, migrations: readonly Migration[]): readonly Migration[] {
  const applied = db
    .prepare<[string], AppliedRow>(
      "SELECT number, name, sha256 FROM schema_migrations WHERE set_name = ? ORDER BY number",
    )
    .all(set);
  for (const row of applied) {
    const known = migrations[row.number - 1];
    if (known === undefined) {
      throw new MigrationError(
        "newer database",
        `${db.name} has migration ${row.number} (${row.name}) of ${set}, this program knows ${migrations.length}: ` +
          "start the newer release, or go back to the copy made before that migration",
      );
    }
    if (checksum(known) !== row.sha256) {
      throw new MigrationError(
        "edited migration",
        `migration ${row.number} (${known.name}) of ${set} was edited after it was applied to ${db.name}: restore the file`,
      );
    }
  }
  return migrations.slice(applied.length);
}

const checksums = new WeakMap<Migration, string>();

/** Line ends are made equal first, because a checkout may change them. */
function checksum(migration: Migration): string {
  const made =
    checksums.get(migration) ?? createHash("sha256").update(migration.sql.replaceAll("\r\n", "\n")).digest("hex");
  checksums.set(migration, made);
  return made;
}

function apply(db: SqliteDatabase, set: string, migration: Migration): void {
  try {
    db.exec(migration.sql);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const which = `migration ${migration.number} (${migration.name}) of ${set}`;
    const message = `${which} was rejected, nothing changed in ${db.name}: ${reason}`;
    throw new MigrationError("migration rejected", message, { cause });
  }
  db.prepare(
    `INSERT INTO schema_migrations (set_name, number, name, sha256, applied_at_ms)
     VALUES (?, ?, ?, ?, CAST(unixepoch('subsec') * 1000 AS INTEGER))`,
  ).run(set, migration.number, migration.name, checksum(migration));
}

/** The tables of a database but the one of its migrations. */
export function tablesOf(db: SqliteDatabase): readonly string[] {
  return db
    .prepare<[], string>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> 'schema_migrations'",
    )
    .pluck()
    .all();
}

function holdsRows(db: SqliteDatabase): boolean {
  return tablesOf(db).some((name) => {
    const quoted = `"${name.replaceAll('"', '""')}"`;
    return db.prepare<[], number>(`SELECT EXISTS (SELECT 1 FROM ${quoted})`).pluck().get() === 1;
  });
}

/** The copy is complete and on disk under its final name, or it does not have that name. */
function copyBefore(db: SqliteDatabase, set: string, number: number): string {
  const file = `${db.name}.before-${set}-${number}`;
  const unfinished = `${file}.unfinished`;
  rmSync(unfinished, { force: true });
  createPrivate(unfinished);
  db.prepare("VACUUM INTO ?").run(unfinished);
  const handle = openSync(unfinished, "r+");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(unfinished, file);
  return file;
}
