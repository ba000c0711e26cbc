import { existsSync } from "node:fs";
import { MarkerError } from "../adapters/identity/marker-files.ts";
import { openStore } from "../adapters/sqlite/daemon/open-store.ts";
import { hasTables, isMigrated } from "../adapters/sqlite/daemon/schema.ts";
import { besideOf } from "../config/build-paper.ts";
import type { Configuration } from "../config/configuration.ts";
import type { ModeRow } from "../domain/run/operating-mode.ts";
import { judgeMarkers } from "../engine/reconcile/identity.ts";
import { openDatabase, type SqliteDatabase } from "../storage/database.ts";
import { openMarker } from "./daemon-database.ts";
import type { Finding } from "./finding.ts";
import { inShell } from "./in-shell.ts";
import { stricterThan, strictest } from "./stops.ts";
import { readStopsBeside } from "./stops-beside.ts";

/** What the database of a configuration says of trading with it. */
interface LiveDatabase {
  /** why it is not the one that traded for its wallets */
  readonly findings: readonly Finding[];
  /** what people stopped on paper, and not as strictly in it: it has to go along */
  readonly fromPaper: readonly ModeRow[];
  /** what is stricter than active once that is done, by scope */
  readonly modes: readonly ModeRow[];
}

/** Differences of a database that keep all of a wallet from being traded until a person settles them. */
const WRONG_DATABASE: ReadonlySet<string> = new Set(["lost", "older", "new"]);

/**
 * Looks at the database that a configuration would trade with, at the one of paper beside it, and at the markers of its
 * wallets; changes nothing.
 */
export async function readLiveDatabase(configuration: Configuration): Promise<LiveDatabase> {
  const { findings, modes } = await readOwn(configuration);
  const stops = await readStopsBeside(configuration);
  const unread = stops === undefined ? [paperUnread(configuration)] : [];
  const fromPaper = stricterThan(stops ?? [], modes);
  return { findings: [...findings, ...unread], fromPaper, modes: strictest([...modes, ...fromPaper]) };
}

type Own = Omit<LiveDatabase, "fromPaper">;

async function readOwn(configuration: Configuration): Promise<Own> {
  const { database } = configuration;
  const db = existsSync(database) ? openDatabase({ file: database, readonly: true }) : undefined;
  try {
    if (db === undefined || !hasTables(db)) return { findings: lostFindings(configuration), modes: [] };
    // Tables of an older release are brought up to date by the start, which looks at the markers then.
    if (!isMigrated(db)) return { findings: [], modes: [] };
    return await readTables(db, configuration);
  } catch (error) {
    if (!(error instanceof MarkerError)) throw error;
    return { findings: [problem(configuration, error.message)], modes: [] };
  } finally {
    db?.close();
  }
}

async function readTables(db: SqliteDatabase, configuration: Configuration): Promise<Own> {
  const store = openStore(db);
  const { rows, fresh } = await judgeMarkers(store, openMarker(configuration), addressesOf(configuration));
  const wrong = [...rows.open, ...fresh].filter(({ kind }) => WRONG_DATABASE.has(kind));
  return {
    findings: wrong.map(({ text }) => problem(configuration, text)),
    modes: strictest(await store.read({ kind: "modes" })),
  };
}

/** Where there is no database a marker that names one says that there was. */
function lostFindings(configuration: Configuration): readonly Finding[] {
  const marker = openMarker(configuration);
  const lost = addressesOf(configuration).filter((wallet) => marker.read(wallet)?.state !== undefined);
  if (lost.length === 0) return [];
  const found = `there is none at ${configuration.database}, and it is lost: the marker of ${lost.join(", ")} knows it`;
  return [problem(configuration, found)];
}

function addressesOf({ wallets }: Configuration) {
  return [...wallets.values()].map(({ address }) => address);
}

function problem({ file }: Configuration, found: string): Finding {
  const config = inShell(file);
  const whatToDo = `put it back with swapd restore --config ${config}; swapd db check --config ${config} says more`;
  return { what: "database", found, whatToDo };
}

function paperUnread({ database }: Configuration): Finding {
  const found = `what was halted or paused on paper is not known: ${besideOf(database)} cannot be read`;
  return { what: "database", found, whatToDo: undefined, isWarning: true };
}
