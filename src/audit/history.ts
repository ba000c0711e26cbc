import { createHash } from "node:crypto";
import type SqliteConstructor from "better-sqlite3";
import { type Difference, difference } from "./report.ts";

type Database = SqliteConstructor.Database;

interface Link {
  readonly seq: number;
  readonly hash: Uint8Array | null;
  readonly base: number | null;
  readonly body: Uint8Array | null;
  readonly run: string | null;
  readonly kind: "archive" | "gaps";
}

const RUN = `id, strategy, slot_ms, slots, state, reason, detail, spec_hash, window_ends_ms, retries, created_at_ms,
  ended_at_ms`;
const SWAP = `id, run_id, position, attempt, state, reason, mode, wallet, recipient, sell_token, sell_symbol, sell_decimals,
  buy_token, buy_symbol, buy_decimals, amount_in, amount_out_min, intent_id, nonce, deadline_seconds, hash, block_number,
  sold, bought, block_time_seconds, swap_fee, affiliate_fee, created_at_ms, updated_at_ms`;
const GAP = `id, strategy, first_slot_ms, last_slot_ms, count, reason, recorded_at_ms, state, skipped_swaps,
  denied_swaps`;

/** Archived runs first, because SQLite finds the run of each by a list that it makes for this question. */
const LINKS = `SELECT seq, hash, base, body, runs.id AS run, 'archive' AS kind
    FROM archives LEFT JOIN runs ON runs.archive = archives.seq
  UNION ALL SELECT seq, hash, NULL, NULL, NULL, 'gaps' FROM closed_gaps ORDER BY seq`;

/**
 * Every archived run and every closed gap is a link: its hash is that of the one before it, of the rows and of the
 * archive's bytes. Anyone who changes or deletes one of them breaks it, or has to write all that follow anew.
 */
export function checkHistory(db: Database): Difference[] {
  const found: Difference[] = [];
  const select = { run: valuesOf(db, `SELECT ${RUN} FROM runs WHERE id = ?`), swaps: swapsOf(db), gaps: gapsOf(db) };
  const head = db.prepare<[], { seq: number; hash: Uint8Array }>("SELECT seq, hash FROM history_head").get();
  let before: Uint8Array | null = new Uint8Array(32);
  let last = 0;
  for (const link of db.prepare<[], Link>(LINKS).iterate()) {
    if (link.seq !== last + 1) found.push(missing(last + 1, link.seq - 1));
    else if (before !== null && !isEqual(link.hash, hashOf(link, before, select))) found.push(changed(link));
    before = link.hash;
    last = link.seq;
  }
  if (head === undefined || head.seq > last) found.push(missing(last + 1, head?.seq ?? last + 1));
  else if (head.seq < last || !isEqual(before, head.hash)) {
    const message = `The head of the history names another last link than ${last}.`;
    found.push(difference("HISTORY_CHANGED", "history head", message, { link: last }));
  }
  return found;
}

interface Content {
  readonly run: (id: string) => readonly unknown[][];
  readonly swaps: (runId: string) => readonly unknown[][];
  readonly gaps: ReadonlyMap<number, readonly unknown[][]>;
}

function hashOf({ seq, kind, base, body, run }: Link, before: Uint8Array, content: Content): Uint8Array {
  const hash = createHash("sha256").update(before);
  if (kind === "gaps") return hash.update(JSON.stringify([seq, content.gaps.get(seq) ?? []])).digest();
  const rows = [seq, base, content.run(run ?? ""), content.swaps(run ?? "")];
  return hash
    .update(JSON.stringify(rows))
    .update(body ?? new Uint8Array())
    .digest();
}

function valuesOf(db: Database, sql: string): (id: string) => readonly unknown[][] {
  const select = db.prepare<[string], unknown[]>(sql).raw();
  return (id) => select.all(id);
}

function swapsOf(db: Database): (runId: string) => readonly unknown[][] {
  return valuesOf(db, `SELECT ${SWAP} FROM swaps WHERE run_id = ? ORDER BY position, attempt`);
}

function gapsOf(db: Database): ReadonlyMap<number, readonly unknown[][]> {
  const rows = db
    .prepare<[], [number, ...unknown[]]>(`SELECT closed, ${GAP} FROM gaps WHERE closed IS NOT NULL ORDER BY id`)
    .raw()
    .all();
  const byLink = Map.groupBy(rows, ([closed]) => closed);
  return new Map([...byLink].map(([closed, of]) => [closed, of.map((row) => row.slice(1))]));
}

function isEqual(one: Uint8Array | null, other: Uint8Array): boolean {
  return one !== null && Buffer.compare(one, other) === 0;
}

function missing(from: number, to: number): Difference {
  const which = from === to ? `Link ${from}` : `Links ${from} to ${to}`;
  const message = `${which} of the history cannot be found: what was archived or closed there was deleted.`;
  return difference("HISTORY_CHANGED", `history ${from}`, message, { from, to });
}

function changed({ seq, kind, run }: Link): Difference {
  const what = kind === "gaps" ? "gaps that were closed" : `what is kept of run ${run ?? "without a row"}`;
  const message = `Link ${seq} of the history does not hold: ${what} was changed or deleted.`;
  return difference("HISTORY_CHANGED", `history ${seq}`, message, { link: seq, run });
}
