import SqliteConstructor from "better-sqlite3";
import { z } from "zod";
import { type ArchivedRows, readArchives } from "./archives.ts";
import { archivedBodies, type BodyRow, differingBodies } from "./bodies.ts";
import { checkHistory } from "./history.ts";
import { checkReplay, type Histories, replay } from "./replay.ts";
import { AuditError, type Difference, difference } from "./report.ts";
import {
  type AttemptRow,
  attemptRow,
  type BaselineRow,
  baselineRow,
  type CapabilityRow,
  type CostRow,
  capabilityRow,
  costRow,
  type DayRow,
  dayRow,
  type FindingRow,
  findingRow,
  type GapRow,
  type GrantRow,
  gapRow,
  grantRow,
  type HaltRow,
  type HourRow,
  haltRow,
  hourRow,
  type IntentRow,
  intentRow,
  type LedgerRow,
  ledgerRow,
  type RunRow,
  runRow,
  type SignatureRow,
  type SigningRow,
  type SoldRow,
  type StrategyRow,
  type SwapRow,
  signatureRow,
  signingRow,
  soldRow,
  strategyRow,
  swapRow,
  type TotalRow,
  totalRow,
  transitionRow,
} from "./rows.ts";
import { CHOSEN, chooseRows, type Start } from "./since.ts";

/** Everything of the database that is checked, as one instant of it. */
export interface Snapshot {
  /** where it begins; undefined: all of it is read */
  readonly start: Start | undefined;
  readonly chainId: number | undefined;
  /** up to which block the daemon held the chain against the rows of a wallet; null: it has not yet */
  readonly checkedUpTo: number | null;
  readonly baselines: readonly BaselineRow[];
  readonly runs: readonly RunRow[];
  readonly swaps: ReadonlyMap<string, SwapRow>;
  /** records that the daemon goes on with and that say something else than their columns */
  readonly bodies: readonly BodyRow[];
  readonly strategies: readonly StrategyRow[];
  /** swaps that none of the checks is stored of */
  readonly unchecked: ReadonlySet<string>;
  /** what the daemon found itself; empty where no daemon of a release that looks has run */
  readonly findings: readonly FindingRow[];
  /** when accounts signed nothing */
  readonly halts: readonly HaltRow[];
  readonly ledger: ReadonlyMap<string, LedgerRow>;
  /** what the daemon keeps alongside the rows that it counts; undefined where only some of these are read */
  readonly kept: KeptSums | undefined;
  readonly capabilities: readonly CapabilityRow[];
  readonly signatures: readonly SignatureRow[];
  readonly grants: readonly GrantRow[];
  readonly gaps: readonly GapRow[];
  readonly intents: ReadonlyMap<string, IntentRow>;
  readonly attempts: readonly AttemptRow[];
  readonly signings: readonly SigningRow[];
  /** what transactions cost, by their intents */
  readonly costs: ReadonlyMap<string, CostRow>;
  readonly histories: Histories;
  /** rows that could not be read, and histories that do not add up */
  readonly differences: readonly Difference[];
}

/** Sums over all rows, and how often typed data was about to be signed. */
export interface KeptSums {
  readonly totals: readonly TotalRow[];
  readonly hours: readonly HourRow[];
  readonly days: readonly DayRow[];
  /** what strategies sold by time; undefined in a database of before it was counted */
  readonly sold: readonly SoldRow[] | undefined;
  /** swaps whose money is in an archive: what was archived before that counts in no sum by time */
  readonly archived: ReadonlySet<string>;
  readonly signatures: number;
}

/** What went into an archive of these, and is no more in them; `swaps` keep their row. */
const MOVED = new Set([
  "ledger",
  "capabilities",
  "signatures",
  "lane_intents",
  "lane_attempts",
  "lane_signings",
  "lane_costs",
]);

function* inTurn<T>(first: Iterable<T>, then: Iterable<T>): Generator<T> {
  yield* first;
  yield* then;
}

function uncheckedSwaps(db: Database, where: string, archived: ArchivedRows): ReadonlySet<string> {
  const text = `SELECT id FROM swaps WHERE ${where} AND NOT EXISTS (SELECT 1 FROM checks WHERE checks.swap_id = swaps.id)`;
  const elsewhere = new Set(archived.of("checks").map((row) => row.swap_id));
  const ids = db.prepare<[], string>(text).pluck().all();
  return new Set(ids.filter((id) => !elsewhere.has(id)));
}

function newestChecked(db: Database): number | null {
  return db.prepare<[], number | null>("SELECT max(block_number) FROM known_chain").pluck().get() ?? null;
}

function hasTable(db: Database, name: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(name) !== undefined;
}

type Database = SqliteConstructor.Database;

const BUSY_TIMEOUT_MS = 5_000;
/** Each row is read once. */
const CACHE_KB = 2_000;

/** Opens the database for reading only. @throws AuditError `DATABASE_UNREADABLE` */
export function openForReading(file: string): Database {
  let db: Database | undefined;
  try {
    db = new SqliteConstructor(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
    // SQLite opens any file; only the first read shows that it is no database.
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    db.pragma(`cache_size = -${CACHE_KB}`);
    return db;
  } catch (error) {
    db?.close();
    throw unreadable(file, error);
  }
}

/**
 * Reads all of it, or with a start what came since and what is open, in one read transaction, so that rows of one commit are seen together or not at all.
 * @throws AuditError `DATABASE_UNREADABLE` when tables or columns are missing, or the file is damaged
 */
export function readSnapshot(db: Database, file: string, start?: Start): Snapshot {
  try {
    return db.transaction(() => {
      if (start !== undefined) chooseRows(db, start);
      return readAll(db, start);
    })();
  } catch (error) {
    if (error instanceof SqliteConstructor.SqliteError) throw unreadable(file, error);
    throw error;
  }
}

/** Changes whenever another connection committed something. */
export function dataVersion(db: Database): unknown {
  return db.pragma("data_version", { simple: true });
}

function unreadable(file: string, cause: unknown): AuditError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `The database ${file} cannot be audited: ${reason}. Name the database of a swapd daemon of this version.`;
  return new AuditError("DATABASE_UNREADABLE", message, { cause });
}

function readAll(db: Database, start: Start | undefined): Snapshot {
  const found: Difference[] = [];
  const where = (name: string): string => (start === undefined ? "true" : (CHOSEN[name] ?? "true"));
  const archived = readArchives(db, where("runs"), found);
  const table = <T>(name: string, key: readonly string[], schema: RowSchema<T>): T[] => [
    ...readTable(
      db,
      { name, key, schema, where: where(name), archived: MOVED.has(name) ? archived.of(name) : [] },
      found,
    ),
  ];
  const swaps = table("swaps", ["id"], swapRow);
  const intents = table("lane_intents", ["id"], intentRow);
  const moves = { name: "transitions", key: ["id"], schema: transitionRow, archived: archived.of("transitions") };
  const histories = replay(readTable(db, { ...moves, where: `${where("transitions")} ORDER BY id` }, found));
  const states = (name: string) =>
    db.prepare<[], { id: string; state: string }>(`SELECT id, state FROM ${name} WHERE ${where(name)}`);
  found.push(...histories.differences);
  if (start === undefined) found.push(...checkHistory(db));
  found.push(...checkReplay({ runs: states("runs").all(), swaps: states("swaps").all() }, histories));
  return {
    start,
    chainId: db.prepare<[], number>("SELECT chain_id FROM identity").pluck().get(),
    checkedUpTo: hasTable(db, "known_chain") ? newestChecked(db) : null,
    baselines: table("baselines", ["wallet", "token"], baselineRow),
    runs: table("runs", ["id"], runRow),
    swaps: new Map(swaps.map((swap) => [swap.id, swap])),
    bodies: [
      ...differingBodies(db, where("swaps")),
      ...archivedBodies(archived, new Map(swaps.map((swap) => [swap.id, swap]))),
    ],
    strategies: table("strategies", ["id"], strategyRow),
    unchecked: uncheckedSwaps(db, where("swaps"), archived),
    findings: hasTable(db, "differences") ? table("differences", ["id"], findingRow) : [],
    kept: start === undefined ? readKept(db, table, archived.of("ledger")) : undefined,
    halts: table("lane_halts", ["id"], haltRow),
    ledger: new Map(table("ledger", ["swap_id"], ledgerRow).map((row) => [row.swap_id, row])),
    capabilities: table("capabilities", ["swap_id"], capabilityRow),
    signatures: table("signatures", ["digest"], signatureRow),
    grants: table("grants", ["wallet", "token", "spender"], grantRow),
    gaps: table("gaps", ["strategy", "first_slot_ms"], gapRow),
    intents: new Map(intents.map((intent) => [intent.id, intent])),
    attempts: table("lane_attempts", ["hash"], attemptRow),
    signings: table("lane_signings", ["seq"], signingRow),
    costs: new Map(table("lane_costs", ["intent_id"], costRow).map((row) => [row.intent_id, row])),
    histories,
    differences: found,
  };
}

function readKept(
  db: Database,
  table: <T>(name: string, key: readonly string[], schema: RowSchema<T>) => T[],
  archivedMoney: readonly Readonly<Record<string, unknown>>[],
): KeptSums {
  return {
    sold: hasTable(db, "sold_by_time")
      ? table("sold_by_time", ["strategy", "length_ms", "start_ms", "token"], soldRow)
      : undefined,
    archived: new Set(archivedMoney.map(({ swap_id: id }) => String(id))),
    totals: table("totals", ["kind", "subject", "item", "source"], totalRow),
    hours: table("sold_usd_hours", ["hour_ms"], hourRow),
    days: table("sold_usd_days", ["day_ms"], dayRow),
    signatures: db.prepare<[], number>("SELECT signatures FROM identity").pluck().get() ?? 0,
  };
}

/** The columns that are read are those that the schema names: bodies and routes are long. */
type RowSchema<T> = z.ZodType<T> & { readonly shape: Readonly<Record<string, unknown>> };

interface ReadTable<T> {
  readonly name: string;
  readonly key: readonly string[];
  readonly schema: RowSchema<T>;
  readonly where: string;
  readonly archived: readonly Readonly<Record<string, unknown>>[];
}

function* readTable<T>(db: Database, table: ReadTable<T>, found: Difference[]): Generator<T> {
  const columns = Object.keys(table.schema.shape).join(", ");
  const stored = db
    .prepare<[], Record<string, unknown>>(`SELECT ${columns} FROM ${table.name} WHERE ${table.where}`)
    .iterate();
  for (const row of inTurn(table.archived, stored)) {
    const parsed = table.schema.safeParse(row);
    if (parsed.success) {
      yield parsed.data;
      continue;
    }
    const subject = `${table.name} ${table.key.map((column) => String(row[column])).join(" ")}`;
    const message = `The row ${subject} cannot be read: ${z.prettifyError(parsed.error).replaceAll(/\s+/g, " ")}.`;
    const names = parsed.error.issues.map((issue) => issue.path.join(".")).join(", ");
    found.push(difference("ROW_UNREADABLE", subject, message, { columns: names }));
  }
}
