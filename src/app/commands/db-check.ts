import { existsSync } from "node:fs";
import { openStore } from "../../adapters/sqlite/daemon/open-store.ts";
import { createReadModel } from "../../adapters/sqlite/daemon/read-model.ts";
import { hasTables, isMigrated } from "../../adapters/sqlite/daemon/schema.ts";
import type { Address } from "../../domain/money/address.ts";
import { judgeMarkers } from "../../engine/reconcile/identity.ts";
import type { IdentityMarker } from "../../ports/identity-marker.ts";
import type { HistoryHead } from "../../ports/read-model.ts";
import type { Finding } from "../../ports/reconciliation-store.ts";
import type { UnitOfWork } from "../../ports/unit-of-work.ts";
import { integrityProblems, isDamage } from "../../storage/backup.ts";
import { openDatabase, StorageError } from "../../storage/database.ts";
import { openMarker } from "../daemon-database.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { configurationOf, findTarget } from "../target.ts";
import { formatInstant, formatTable, type Terminal } from "../terminal.ts";

/** `swapd db check`: whether the database is whole, and what the marker or the chain knows and it does not. */
export async function checkDatabase(options: { config?: string; json?: boolean }, terminal: Terminal): Promise<void> {
  const target = findTarget(options);
  const { configuration } = configurationOf(target);
  const wallets = [...configuration.wallets.values()].map(({ address }) => address);
  const marker = openMarker(configuration);
  const document = existsSync(target.database)
    ? await read(target.database, { wallets, marker })
    : missing(target.database, { wallets, marker }, `there is no database at ${target.database}`);
  if (options.json === true) terminal.out(JSON.stringify(document));
  else terminal.out(describe(document));
  if (document.problems.length + document.differences.length > 0) throw new CommandFailure(EXIT.no, "");
}

interface Asked {
  readonly wallets: readonly Address[];
  readonly marker: IdentityMarker;
}

interface Document {
  readonly database: string;
  readonly id: string | null;
  /** the last link of what is archived and closed; null where it was not read */
  readonly history: HistoryHead | null;
  readonly problems: readonly string[];
  readonly wallets: readonly { readonly wallet: Address; readonly knownToBlock: number | null }[];
  readonly differences: readonly (ReturnType<typeof shown> & { readonly since: string })[];
}

function missing(database: string, { wallets, marker }: Asked, what: string): Document {
  const lost = wallets.filter((wallet) => marker.read(wallet)?.state !== undefined);
  const why =
    lost.length === 0 ? "the daemon has not run yet" : `it is lost: the marker of ${lost.join(", ")} knows it`;
  return {
    database,
    id: null,
    history: null,
    problems: [`${what}: ${why}`],
    wallets: [],
    differences: [],
  };
}

/** A file that cannot be opened or read is what the command is there to report. */
async function read(database: string, asked: Asked): Promise<Document> {
  try {
    return await readWhole(database, asked);
  } catch (error) {
    if (!(error instanceof StorageError) && !isDamage(error)) throw error;
    const damage = `it is damaged (${error.message}): put a backup back with \`swapd restore\``;
    const problem = error instanceof StorageError ? error.message : damage;
    return { database, id: null, history: null, problems: [problem], wallets: [], differences: [] };
  }
}

async function readWhole(database: string, asked: Asked): Promise<Document> {
  const db = openDatabase({ file: database, readonly: true });
  try {
    if (!hasTables(db)) return missing(database, asked, `the database ${database} is empty`);
    const problems = [...integrityProblems(db)];
    if (!isMigrated(db)) {
      const why = "it was last used by an older release, or a start brings its tables up to date right now";
      problems.push(`${why}: start this release, and ask again`);
      return { database, id: null, history: null, problems, wallets: [], differences: [] };
    }
    const reads = createReadModel(db);
    const chain = await reads.historyChain({ isChecked: true });
    problems.push(...chain.problems.map((problem) => `${problem}; put a backup back, or find out who did it`));
    const history = chain.head ?? null;
    return { database, problems, history, ...(await readDifferences(openStore(db), asked)) };
  } finally {
    db.close();
  }
}

async function readDifferences(
  store: UnitOfWork,
  { wallets, marker }: Asked,
): Promise<Pick<Document, "id" | "wallets" | "differences">> {
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

function describe({ database, id, history, problems, wallets, differences }: Document): string {
  const known = wallets.map(({ wallet, knownToBlock }) => [wallet, String(knownToBlock ?? "not yet")]);
  return [
    `database ${database}, ${id ?? "without a name yet"}; ${problems.length === 0 ? "whole" : problems.join("; ")}`,
    ...(history === null || history.links === 0 ? [] : [`history of ${history.links} links up to ${history.head}`]),
    ...(known.length === 0 ? [] : [formatTable([["WALLET", "CHECKED AGAINST THE CHAIN UP TO BLOCK"], ...known])]),
    ...differences.map(({ kind, halts, since, text }) => `${kind} (halts ${halts}) since ${since}: ${text}`),
    ...(differences.some(({ kind }) => kind !== "unchecked") ? ["accept all of it with: swapd db accept"] : []),
  ].join("\n\n");
}
