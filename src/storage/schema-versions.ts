import type { SqliteDatabase } from "./database.ts";
import { ownMigrations } from "./migrations.ts";

/** How far a set of tables is, and how far this program's is. */
export interface SchemaVersion {
  readonly set: string;
  readonly applied: number;
  readonly known: number;
}

/**
 * How far a database's tables are, by the folders of the sets. A release adds migrations and takes none away, so the
 * higher number is newer.
 */
export function versionsOf(db: SqliteDatabase, folders: Readonly<Record<string, URL>>): readonly SchemaVersion[] {
  const hasJournal = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'").get() !== undefined;
  const applied = (set: string): number =>
    db.prepare<[string], number>("SELECT count(*) FROM schema_migrations WHERE set_name = ?").pluck().get(set) ?? 0;
  return Object.entries(folders).map(([set, folder]) => ({
    set,
    applied: hasJournal ? applied(set) : 0,
    known: ownMigrations(folder).length,
  }));
}

/** What a newer release added, for people; undefined where this program knows all of it. */
export function describeNewer(versions: readonly SchemaVersion[]): string | undefined {
  const newer = versions.filter(({ applied, known }) => applied > known);
  if (newer.length === 0) return undefined;
  return newer
    .map(({ set, applied, known }) => `migration ${applied} of ${set}, and this one knows ${known}`)
    .join("; ");
}
