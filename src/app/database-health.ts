import { accessSync, constants, existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { MarkerError } from "../adapters/identity/marker-files.ts";
import { openStore } from "../adapters/sqlite/daemon/open-store.ts";
import { createReadModel } from "../adapters/sqlite/daemon/read-model.ts";
import { hasTables, isMigrated, schemaVersions } from "../adapters/sqlite/daemon/schema.ts";
import type { Configuration } from "../config/configuration.ts";
import type { Address } from "../domain/money/address.ts";
import { judgeMarkers } from "../engine/reconcile/identity.ts";
import { retentionBounds } from "../engine/retention.ts";
import type { IdentityMarker } from "../ports/identity-marker.ts";
import type { Keeping } from "../ports/keeping.ts";
import type { HistoryHead } from "../ports/read-model.ts";
import type { Finding } from "../ports/reconciliation-store.ts";
import type { UnitOfWork } from "../ports/unit-of-work.ts";
import { integrityProblems, isDamage } from "../storage/backup.ts";
import { openDatabase, type SqliteDatabase, StorageError } from "../storage/database.ts";
import { type DatabaseFigures, readFigures } from "../storage/figures.ts";
import { hasCode } from "../storage/private-file.ts";
import { describeNewer, type SchemaVersion } from "../storage/schema-versions.ts";
import { openMarker } from "./daemon-database.ts";
import { formatInstant } from "./terminal.ts";

/** All that can be known of a database without a daemon and without the chain. */
export interface DatabaseHealth {
  readonly database: string;
  readonly id: string | null;
  /** the last link of what is archived and closed; null where it was not read */
  readonly history: HistoryHead | null;
  readonly problems: readonly string[];
  readonly wallets: readonly { readonly wallet: Address; readonly knownToBlock: number | null }[];
  readonly differences: readonly (ReturnType<typeof shown> & { readonly since: string })[];
  /** how far its tables are, and this program's; empty where they were not read */
  readonly schema: readonly SchemaVersion[];
  /** null where its pages were not read */
  readonly size: DatabaseFigures | null;
  /** runs that are over, and when they go; null where they were not read */
  readonly keeping: Keeping | null;
  /** copies that stand beside it, the newest first */
  readonly copies: readonly DatabaseCopy[];
}

/** A copy that `swapd backup`, `swapd restore` or a migration left beside the database, or began and did not finish. */
interface DatabaseCopy {
  readonly file: string;
  readonly kind: "backup" | "before" | "replaced" | "unfinished";
  readonly bytes: number;
  readonly atMs: number;
}

interface Asked {
  readonly configuration: Pick<Configuration, "retentionMs" | "policy" | "notifications">;
  readonly wallets: readonly Address[];
  readonly marker: IdentityMarker;
}

/** Looks at a database and its markers, and changes nothing. What is wrong with the file is an answer, too. */
export async function readDatabaseHealth(database: string, configuration: Configuration): Promise<DatabaseHealth> {
  const wallets = [...configuration.wallets.values()].map(({ address }) => address);
  const asked = { configuration, wallets, marker: openMarker(configuration) };
  if (!existsSync(database)) return missing(database, asked, `there is no database at ${database}`);
  try {
    return await readWhole(database, asked);
  } catch (error) {
    if (!(error instanceof StorageError) && !isDamage(error)) throw error;
    const damage = `it is damaged (${error.message}): put a backup back with \`swapd restore\``;
    return nothingOf(database, error instanceof StorageError ? error.message : damage);
  }
}

function nothingOf(database: string, problem: string): DatabaseHealth {
  return {
    ...{ database, id: null, history: null, problems: [problem], wallets: [], differences: [] },
    ...{ schema: [], size: null, keeping: null, copies: copiesOf(database) },
  };
}

function missing(database: string, { wallets, marker }: Asked, what: string): DatabaseHealth {
  try {
    const lost = wallets.filter((wallet) => marker.read(wallet)?.state !== undefined);
    const why =
      lost.length === 0 ? "the daemon has not run yet" : `it is lost: the marker of ${lost.join(", ")} knows it`;
    return nothingOf(database, `${what}: ${why}`);
  } catch (error) {
    return nothingOf(database, `${what}; ${whyUnusable(error)}`);
  }
}

const NO_MARKER: IdentityMarker = { read: () => undefined, write: () => undefined };

/** A marker that cannot be used says nothing against what else is known. @throws what is no fault of a marker */
function whyUnusable(error: unknown): string {
  if (error instanceof MarkerError) return error.message;
  throw error;
}

async function readWhole(database: string, asked: Asked): Promise<DatabaseHealth> {
  const db = openDatabase({ file: database, readonly: true });
  try {
    if (!hasTables(db)) return missing(database, asked, `the database ${database} is empty`);
    const problems = [...integrityProblems(db)];
    const schema = schemaVersions(db);
    const size = problems.length === 0 ? readFigures(db) : null;
    const copies = copiesOf(database);
    const common = { database, schema, size, copies };
    if (!isMigrated(db)) {
      problems.push(whyOtherTables(schema));
      return { ...common, id: null, history: null, problems, wallets: [], differences: [], keeping: null };
    }
    const reads = createReadModel(db);
    const going = retentionBounds(asked.configuration, Date.now());
    const chain = await reads.historyChain({ isChecked: true, going });
    problems.push(...chain.problems.map((problem) => `${problem}; put a backup back, or find out who did it`));
    const [history, keeping] = [chain.head ?? null, chain.keeping ?? null];
    const found = await readDifferences(db, asked).catch(async (error: unknown) => {
      problems.push(whyUnusable(error));
      return await readDifferences(db, { ...asked, marker: NO_MARKER });
    });
    return { ...common, problems, history, keeping, ...found };
  } finally {
    db.close();
  }
}

/** Tables of another release are read no further: what their columns mean is not known here, or not there yet. */
function whyOtherTables(schema: readonly SchemaVersion[]): string {
  const newer = describeNewer(schema);
  if (newer === undefined)
    return "it was last used by an older release, or a start brings its tables up to date right now: start this release, and ask again";
  return `a newer release made its tables (${newer}): start that release, or restore the copy that it left before (\`swapd restore\`)`;
}

async function readDifferences(
  db: SqliteDatabase,
  { wallets, marker }: Asked,
): Promise<Pick<DatabaseHealth, "id" | "wallets" | "differences">> {
  const store: UnitOfWork = openStore(db);
  const { rows, fresh } = await judgeMarkers(store, marker, wallets);
  return {
    id: rows.database.id ?? null,
    wallets: wallets.map((wallet) => ({ wallet, knownToBlock: rows.known.get(wallet)?.block ?? null })),
    differences: [
      ...rows.open.map(({ foundAtMs, ...one }) => ({ ...shown(one), since: formatInstant(foundAtMs) })),
      ...fresh.map((one) => ({ ...shown(one), since: "now" })),
    ],
  };
}

function shown({ kind, scope, wallet, token, text, facts }: Finding) {
  return { kind, halts: scope, wallet, token: token ?? null, text, facts };
}

const COPY = /^\.(?:(backup|before|replaced)-|restoring$)/;
/** What SQLite keeps beside a database, and the service's copy beside the daemon's. */
const COMPANION = /(?:-wal|-shm|-journal|\.service)$/;
const UNFINISHED = /\.(?:unfinished|restoring)$/;

function mayList(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
    return true;
  } catch (error) {
    if (hasCode(error, ["EACCES", "EPERM"])) return false;
    throw error;
  }
}

function copiesOf(database: string): readonly DatabaseCopy[] {
  const folder = dirname(database);
  if (!existsSync(folder) || !mayList(folder)) return [];
  const name = basename(database);
  const copies = readdirSync(folder).flatMap((entry): readonly DatabaseCopy[] => {
    const made = entry.startsWith(name) ? COPY.exec(entry.slice(name.length)) : null;
    const stats = made === null ? undefined : statSync(join(folder, entry), { throwIfNoEntry: false });
    if (stats === undefined || COMPANION.test(entry)) return [];
    const { size: bytes, mtimeMs: atMs } = stats;
    const kind = UNFINISHED.test(entry) ? "unfinished" : (made?.[1] as DatabaseCopy["kind"]);
    return [{ file: join(folder, entry), kind, bytes, atMs }];
  });
  return copies.sort((one, other) => other.atMs - one.atMs);
}
