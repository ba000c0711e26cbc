import type { Statements } from "../statements.ts";
import { ARCHIVE_VERSION, ArchiveError, baseText, type StoredArchive, type StoredRows } from "./archive-reader.ts";
import { archiveHash, historyHead, moveHead } from "./history-chain.ts";
import { pack, unpack } from "./pack.ts";

/** So much smaller an archive has to be than one by itself to be stored against another one. */
const WORTH_A_BASE = 0.75;

type Row = Readonly<Record<string, unknown>>;

/** Which rows belong to a run, by table. `@run` is its id, `@swaps` and `@intents` are JSON lists of ids. */
const CONTENT: Readonly<Record<string, string>> = {
  transitions:
    "SELECT * FROM transitions WHERE subject_id = @run OR subject_id IN (SELECT value FROM json_each(@swaps)) ORDER BY id",
  retries: "SELECT * FROM retries WHERE run_id = @run ORDER BY id",
  holds: "SELECT * FROM holds WHERE run_id = @run ORDER BY kind",
  swaps: `SELECT id, body, quote_id, distributions, service_record, price_evidence FROM swaps
    WHERE run_id = @run ORDER BY position, attempt`,
  ...ofSwaps("checks"),
  ...ofSwaps("ledger"),
  ...ofSwaps("capabilities"),
  ...ofSwaps("signatures"),
  lane_intents: "SELECT * FROM lane_intents WHERE id IN (SELECT value FROM json_each(@intents)) ORDER BY seq",
  ...ofIntents("lane_signings"),
  ...ofIntents("lane_attempts"),
  ...ofIntents("lane_transitions"),
  ...ofIntents("lane_costs"),
  ...ofIntents("lane_cancel_wishes"),
};

function ofSwaps(table: string): Readonly<Record<string, string>> {
  return { [table]: `SELECT * FROM ${table} WHERE swap_id IN (SELECT value FROM json_each(@swaps)) ORDER BY rowid` };
}

function ofIntents(table: string): Readonly<Record<string, string>> {
  return {
    [table]: `SELECT * FROM ${table} WHERE intent_id IN (SELECT value FROM json_each(@intents)) ORDER BY rowid`,
  };
}

/** A run with all that is named after it. */
export interface ArchivedRun {
  readonly id: string;
  readonly strategy: string;
  readonly swaps: readonly string[];
  readonly intents: readonly string[];
}

/**
 * Moves what belongs to a run into one row, in the transaction of the caller. The run and its swaps stay; their steps are
 * forgotten.
 * @throws ArchiveError when what was written does not read back as it was, or cannot be linked to what is there
 */
export function writeArchive(sql: Statements, run: ArchivedRun): void {
  const text = JSON.stringify({ version: ARCHIVE_VERSION, run: run.id, tables: contentOf(sql, run) });
  const seq = insertArchive(sql, run, text);
  sql.run("INSERT INTO leaving (run_id, archive) VALUES (?, ?)", run.id, seq);
  for (const intent of run.intents) removeIntent(sql, intent);
  const swaps = JSON.stringify(run.swaps);
  for (const table of ["checks", "ledger", "capabilities", "signatures"])
    sql.run(`DELETE FROM ${table} WHERE swap_id IN (SELECT value FROM json_each(?))`, swaps);
  sql.run("DELETE FROM transitions WHERE subject_id IN (SELECT value FROM json_each(?))", swaps);
  sql.run("DELETE FROM transitions WHERE subject_id = ?", run.id);
  sql.run("DELETE FROM retries WHERE run_id = ?", run.id);
  sql.run("DELETE FROM holds WHERE run_id = ?", run.id);
  sql.run("DELETE FROM steps WHERE run_id = ?", run.id);
  sql.run(
    `UPDATE swaps SET body = '{}', quote_id = NULL, distributions = NULL, service_record = NULL, price_evidence = NULL
     WHERE run_id = ?`,
    run.id,
  );
  sql.run("UPDATE runs SET archive = ? WHERE id = ?", seq, run.id);
  sql.run("DELETE FROM leaving WHERE run_id = ?", run.id);
}

function removeIntent(sql: Statements, id: string): void {
  sql.run("INSERT INTO lane_leaving (intent_id) VALUES (?)", id);
  for (const table of ["lane_cancel_wishes", "lane_costs", "lane_transitions", "lane_signings", "lane_attempts"])
    sql.run(`DELETE FROM ${table} WHERE intent_id = ?`, id);
  sql.run("DELETE FROM lane_intents WHERE id = ?", id);
  sql.run("DELETE FROM lane_leaving WHERE intent_id = ?", id);
}

function contentOf(sql: Statements, { id, swaps, intents }: ArchivedRun): StoredArchive["tables"] {
  const values = { run: id, swaps: JSON.stringify(swaps), intents: JSON.stringify(intents) };
  const tables: Record<string, StoredRows> = {};
  for (const [table, select] of Object.entries(CONTENT)) {
    const rows = sql.allNamed<Row>(select, values);
    const [first] = rows;
    if (first === undefined) continue;
    tables[table] = {
      columns: Object.keys(first),
      rows: rows.map((row) => Object.values(row).map((value) => (value instanceof Uint8Array ? unpack(value) : value))),
    };
  }
  return tables;
}

/** @returns the number of the archive */
function insertArchive(sql: Statements, { id, strategy }: ArchivedRun, text: string): number {
  const known = sql.get<{ seq: number }>("SELECT seq FROM archive_bases WHERE strategy = ?", strategy)?.seq;
  const base = known === undefined ? undefined : { seq: known, text: baseText(sql, known) };
  const alone = pack(text);
  const against = base === undefined ? alone : pack(text, base.text);
  const isWorthIt = base !== undefined && against.length < alone.length * WORTH_A_BASE;
  const body = isWorthIt ? against : alone;
  if (unpack(body, isWorthIt ? base.text : undefined) !== text)
    throw new ArchiveError(`an archive of ${strategy} does not read back as it was written`);
  const head = historyHead(sql);
  const link = { seq: head.seq + 1, base: isWorthIt ? base.seq : null, body };
  const hash = archiveHash(sql, link, { runId: id, before: head.hash });
  const { seq } = link;
  sql.run("INSERT INTO archives (seq, base, body, hash) VALUES (?, ?, ?, ?)", seq, link.base, body, hash);
  moveHead(sql, { seq, hash });
  if (!isWorthIt)
    sql.run(
      "INSERT INTO archive_bases (strategy, seq) VALUES (?, ?) ON CONFLICT (strategy) DO UPDATE SET seq = excluded.seq",
      strategy,
      seq,
    );
  return seq;
}
