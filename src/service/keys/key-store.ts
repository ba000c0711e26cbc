import { hash, randomBytes } from "node:crypto";
import { openDatabase, type SqliteDatabase } from "../../storage/database.ts";
import { migrate, readMigrations } from "../../storage/migrations.ts";

/** An API key as it is stored: everything but the key. */
export interface ApiKeyRow {
  readonly id: string;
  readonly name: string;
  /** null: the service's limit for keys */
  readonly requestsPerSecond: number | null;
  readonly createdAtMs: number;
  readonly revokedAtMs: number | null;
}

/** The API keys in the service's database. What another process adds or revokes counts from the next request on. */
export interface KeyStore {
  /** @returns the key, which cannot be had again; undefined when a key of this name is in force */
  add(key: { name: string; requestsPerSecond: number | null }, nowMs: number): string | undefined;
  /** In the order in which they were added, revoked ones too. */
  list(): readonly ApiKeyRow[];
  /** @param which id or name @returns the key that is revoked now; undefined when none in force is called so */
  revoke(which: string, nowMs: number): ApiKeyRow | undefined;
  /** @returns the key in force with this digest */
  find(digest: string): ApiKeyRow | undefined;
}

const KEY_BYTES = 32;
const ID_BYTES = 4;

/** Keys are compared by their digests, whose bytes say nothing about how close a guess was. */
export function digestOf(key: string): string {
  return hash("sha256", key, "hex");
}

const COLUMNS =
  "id, name, requests_per_second AS requestsPerSecond, created_at_ms AS createdAtMs, revoked_at_ms AS revokedAtMs";

/** The keys of an open database. @throws MigrationError */
export function createKeyStore(db: SqliteDatabase): KeyStore {
  const migrations = readMigrations(new URL("./migrations/", import.meta.url));
  migrate(db, { set: "service-keys", migrations, backup: true });
  const insert = db.prepare(
    "INSERT INTO api_keys (id, name, digest, requests_per_second, created_at_ms) VALUES (?, ?, ?, ?, ?)",
  );
  const all = db.prepare<[], ApiKeyRow>(`SELECT ${COLUMNS} FROM api_keys ORDER BY created_at_ms, rowid`);
  const inForce = "revoked_at_ms IS NULL";
  const byDigest = db.prepare<[string], ApiKeyRow>(`SELECT ${COLUMNS} FROM api_keys WHERE digest = ? AND ${inForce}`);
  const byName = db.prepare<[string, string], ApiKeyRow>(
    `SELECT ${COLUMNS} FROM api_keys WHERE (id = ? OR name = ?) AND ${inForce}`,
  );
  const revoke = db.prepare(`UPDATE api_keys SET revoked_at_ms = ? WHERE id = ? AND ${inForce}`);
  return {
    add({ name, requestsPerSecond }, nowMs) {
      const key = `swapd_${randomBytes(KEY_BYTES).toString("base64url")}`;
      const id = randomBytes(ID_BYTES).toString("hex");
      return db
        .transaction(() => {
          if (byName.get(name, name) !== undefined) return undefined;
          insert.run(id, name, digestOf(key), requestsPerSecond, nowMs);
          return key;
        })
        .immediate();
    },
    list: () => all.all(),
    revoke(which, nowMs) {
      return db
        .transaction(() => {
          const row = byName.get(which, which);
          if (row !== undefined) revoke.run(nowMs, row.id);
          return row === undefined ? undefined : { ...row, revokedAtMs: nowMs };
        })
        .immediate();
    },
    find: (digest) => byDigest.get(digest),
  };
}

/** Works on the keys of a database file, also while a service runs on it. @throws StorageError or MigrationError */
export function withKeyStore<T>(file: string, work: (keys: KeyStore) => T): T {
  const db = openDatabase({ file });
  try {
    return work(createKeyStore(db));
  } finally {
    db.close();
  }
}

/** The keys in a database as it is, revoked ones too; none where no service has made their table. */
export function storedKeys(db: SqliteDatabase): readonly ApiKeyRow[] {
  const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'api_keys'").get();
  if (table === undefined) return [];
  return db.prepare<[], ApiKeyRow>(`SELECT ${COLUMNS} FROM api_keys ORDER BY created_at_ms, rowid`).all();
}

/**
 * Ends in a copy that is restored each key that is not in force in the database that it replaces: what was revoked since
 * the copy was made must not come back.
 * @param stood the keys there
 * @returns those that were in force in the copy
 */
export function endOtherKeys(copy: SqliteDatabase, stood: readonly ApiKeyRow[], nowMs: number): readonly ApiKeyRow[] {
  const there = new Map(stood.map((row) => [row.id, row]));
  const ending = storedKeys(copy).filter(
    ({ id, revokedAtMs }) => revokedAtMs === null && there.get(id)?.revokedAtMs !== null,
  );
  if (ending.length === 0) return [];
  const end = copy.prepare("UPDATE api_keys SET revoked_at_ms = ? WHERE id = ?");
  copy.transaction(() => {
    for (const { id } of ending) end.run(there.get(id)?.revokedAtMs ?? nowMs, id);
  })();
  return ending;
}
