import { existsSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { schemaVersions } from "../adapters/sqlite/daemon/schema.ts";
import type { Configuration } from "../config/configuration.ts";
import { serviceVersions } from "../service/store/schema.ts";
import { openDatabase, type SqliteDatabase } from "../storage/database.ts";
import { describeNewer, type SchemaVersion } from "../storage/schema-versions.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import { readIfThere } from "./stops.ts";

/** Of the copy of the embedded service's database, next to the daemon's. */
const SERVICE_SUFFIX = ".service";
const REPLACED = /\.replaced-[0-9TZ]+$/;

/**
 * The copy of the embedded service's database that belongs to the daemon's: beside it, or replaced by the same restore as
 * it was. Where there is none, and the service's database is of a newer release, the one from before its migrations.
 * @throws CommandFailure where a newer release's has no such copy
 */
export async function serviceCopyOf(
  copy: string,
  { service, serve: { database } }: Configuration,
): Promise<string | undefined> {
  if (service.url !== "embedded") return undefined;
  const replaced = REPLACED.exec(copy)?.[0];
  const itself = existsSync(database) ? realpathSync(database) : database;
  const places = [`${copy}${SERVICE_SUFFIX}`, ...(replaced === undefined ? [] : [`${itself}${replaced}`])];
  return places.find((place) => existsSync(place)) ?? (await copyOfBefore(itself));
}

/** Whether a copy is of a service's database, by its tables. */
export function isOfService(copy: string): boolean {
  const db = openDatabase({ file: copy, readonly: true });
  try {
    const begun = versionsOf(db).filter(({ applied }) => applied > 0);
    return begun.some(({ set }) => set === "service") && begun.every(({ set }) => set !== "daemon");
  } finally {
    db.close();
  }
}

/** What a newer release added to a copy of either; undefined where this one knows all of it. */
export function newerIn(db: SqliteDatabase): string | undefined {
  return describeNewer(versionsOf(db));
}

function versionsOf(db: SqliteDatabase): readonly SchemaVersion[] {
  return [...schemaVersions(db), ...serviceVersions(db)];
}

/** The furthest copy that this release still knows, which is the oldest of the upgrade that it is the way back from. */
async function copyOfBefore(database: string): Promise<string | undefined> {
  const newer = await readIfThere(database, newerIn);
  if (newer === undefined) return undefined;
  const name = `${basename(database)}.before-`;
  const folder = dirname(database);
  const copies = readdirSync(folder).filter((entry) => entry.startsWith(name) && /-\d+$/.test(entry));
  let best: { readonly file: string; readonly applied: number } | undefined;
  for (const file of copies.map((entry) => join(folder, entry))) {
    const applied = await readIfThere(file, (db) => {
      const sum = versionsOf(db).reduce((total, one) => total + one.applied, 0);
      return newerIn(db) === undefined ? sum : undefined;
    });
    if (applied !== undefined && applied > (best?.applied ?? 0)) best = { file, applied };
  }
  if (best !== undefined) return best.file;
  throw new CommandFailure(
    EXIT.no,
    `nothing is restored: a newer release made the tables of ${database} (${newer}), and beside it is no copy ` +
      `(${name}<set>-<number>) that this release knows: put one there, or move that database away, with its API keys`,
  );
}
