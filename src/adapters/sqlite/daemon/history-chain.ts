import { createHash } from "node:crypto";
import type { Statements } from "../statements.ts";
import { ArchiveError } from "./archive-reader.ts";

/** The last link of the history. */
export interface HistoryHead {
  /** how many links there are */
  readonly seq: number;
  readonly hash: Uint8Array;
}

/** What a run and its swaps are known by for ever: the columns that stay in their rows. */
const RUN_COLUMNS =
  "id, strategy, slot_ms, slots, state, reason, detail, spec_hash, window_ends_ms, retries, created_at_ms, ended_at_ms";
const SWAP_COLUMNS = `id, run_id, position, attempt, state, reason, mode, wallet, recipient, sell_token, sell_symbol,
  sell_decimals, buy_token, buy_symbol, buy_decimals, amount_in, amount_out_min, intent_id, nonce, deadline_seconds, hash,
  block_number, sold, bought, block_time_seconds, swap_fee, affiliate_fee, created_at_ms, updated_at_ms`;
const GAP_COLUMNS =
  "id, strategy, first_slot_ms, last_slot_ms, count, reason, recorded_at_ms, state, skipped_swaps, denied_swaps";

/** How many gaps are closed together at most. */
const MOST_CLOSED = 1_000;
const LINKS_AT_ONCE = 500;

const HEAD_MISSING = "the head of the history is missing: the database was changed by another program";

/** The newest link; before the first one its number is 0. */
export function historyHead(sql: Statements): HistoryHead {
  const head = sql.get<HistoryHead>("SELECT seq, hash FROM history_head");
  if (head === undefined) throw new ArchiveError(HEAD_MISSING);
  return head;
}

/** Names the newest link, which was written just now. */
export function moveHead(sql: Statements, { seq, hash }: HistoryHead): void {
  sql.run("UPDATE history_head SET seq = ?, hash = ?", seq, hash);
}

/** The same for people: how many links there are, and the last one's hash in hexadecimal. */
export function readHead(sql: Statements): { readonly links: number; readonly head: string } | undefined {
  const head = sql.get<HistoryHead>("SELECT seq, hash FROM history_head");
  return head === undefined ? undefined : { links: head.seq, head: Buffer.from(head.hash).toString("hex") };
}

/** The hash of a link: of the one before it, of what it says in plain text, and of bytes. */
function linkHash(before: Uint8Array, content: unknown, bytes: Uint8Array = new Uint8Array()): Uint8Array {
  return createHash("sha256").update(before).update(JSON.stringify(content)).update(bytes).digest();
}

/** An archive, as its link covers it. */
export interface ArchiveLink {
  readonly seq: number;
  readonly base: number | null;
  readonly body: Uint8Array;
}

/** The hash of the link that is an archive: it covers the rows of the run and of its swaps, too. */
export function archiveHash(
  sql: Statements,
  { seq, base, body }: ArchiveLink,
  of: { readonly runId: string; readonly before: Uint8Array },
): Uint8Array {
  const runs = valuesOf(sql, `SELECT ${RUN_COLUMNS} FROM runs WHERE id = ?`, of.runId);
  const swaps = valuesOf(
    sql,
    `SELECT ${SWAP_COLUMNS} FROM swaps WHERE run_id = ? ORDER BY position, attempt`,
    of.runId,
  );
  return linkHash(of.before, [seq, base, runs, swaps], body);
}

function valuesOf(sql: Statements, text: string, ...values: readonly (string | number)[]): readonly unknown[][] {
  return sql.all<Record<string, unknown>>(text, ...values).map((row) => Object.values(row));
}

/**
 * Closes gaps to which nothing was joined since an instant, if one of them is idle since an earlier one: a day's worth at
 * once, and not one by one.
 * @returns how many
 */
export function closeGaps(
  sql: Statements,
  idle: { readonly sinceMs: number; readonly atLeastOneSinceMs: number },
): number {
  const oldest = sql.get<{ at: number }>(
    "SELECT recorded_at_ms AS at FROM gaps WHERE closed IS NULL ORDER BY recorded_at_ms LIMIT 1",
  );
  if (oldest === undefined || oldest.at >= idle.atLeastOneSinceMs) return 0;
  const rows = sql.all<Record<string, unknown> & { id: number }>(
    `SELECT ${GAP_COLUMNS} FROM gaps WHERE closed IS NULL AND recorded_at_ms < ?
     ORDER BY recorded_at_ms LIMIT ${MOST_CLOSED}`,
    idle.sinceMs,
  );
  const { seq, hash } = historyHead(sql);
  const content = rows.toSorted((one, other) => one.id - other.id).map((row) => Object.values(row));
  const link = { seq: seq + 1, hash: linkHash(hash, [seq + 1, content]) };
  sql.run("INSERT INTO closed_gaps (seq, hash) VALUES (?, ?)", link.seq, link.hash);
  moveHead(sql, link);
  const ids = JSON.stringify(rows.map(({ id }) => id));
  sql.run("UPDATE gaps SET closed = ? WHERE id IN (SELECT value FROM json_each(?))", link.seq, ids);
  return rows.length;
}

interface StoredLink {
  readonly seq: number;
  readonly hash: Uint8Array | null;
  /** null: a link of gaps */
  readonly body: Uint8Array | null;
  readonly base: number | null;
}

/** Checks the whole history against its links. @returns what is wrong, one sentence each; empty where nothing is */
export function checkHistory(sql: Statements): readonly string[] {
  const problems: string[] = [];
  const head = sql.get<HistoryHead>("SELECT seq, hash FROM history_head");
  if (head === undefined) return [HEAD_MISSING];
  const runs = new Map(
    sql
      .all<{ archive: number; id: string }>("SELECT archive, id FROM runs WHERE archive IS NOT NULL")
      .map(({ archive, id }) => [archive, id]),
  );
  const gaps = gapsByLink(sql);
  let before: Uint8Array | null | undefined = new Uint8Array(32);
  let next = 1;
  for (const link of links(sql)) {
    for (; next < link.seq; next += 1) {
      problems.push(missing(next));
      before = undefined;
    }
    next = link.seq + 1;
    const what = link.body === null ? "closed gaps" : `what is kept of run ${runs.get(link.seq) ?? "(none)"}`;
    const isSame = before === undefined || before === null || isAsClosed(sql, link, { before, runs, gaps });
    if (!isSame) problems.push(`link ${link.seq} of the history does not hold: ${what} was changed or deleted`);
    before = link.hash;
  }
  const isHead = next - 1 === head.seq && (before === undefined || isEqual(before, head.hash));
  if (next - 1 >= head.seq && !isHead) problems.push("the last link of the history is not the one that its head names");
  for (; next <= head.seq; next += 1) problems.push(missing(next));
  return problems;
}

function missing(seq: number): string {
  return `link ${seq} of the history is missing: an archived run, or closed gaps, were deleted`;
}

/** All links in their order, some at a time: bodies are many. */
function* links(sql: Statements): Generator<StoredLink> {
  for (let after = 0; ; ) {
    const some = sql.all<StoredLink>(
      `SELECT seq, hash, body, base FROM archives WHERE seq > ?
       UNION ALL SELECT seq, hash, NULL, NULL FROM closed_gaps WHERE seq > ? ORDER BY seq LIMIT ${LINKS_AT_ONCE}`,
      after,
      after,
    );
    yield* some;
    const last = some.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}

type GapsByLink = ReadonlyMap<number, readonly unknown[][]>;

function gapsByLink(sql: Statements): GapsByLink {
  const byLink = new Map<number, unknown[][]>();
  for (const { closed, ...row } of sql.all<Record<string, unknown> & { closed: number }>(
    `SELECT closed, ${GAP_COLUMNS} FROM gaps WHERE closed IS NOT NULL ORDER BY id`,
  )) {
    const known = byLink.get(closed) ?? [];
    byLink.set(closed, known);
    known.push(Object.values(row));
  }
  return byLink;
}

function isAsClosed(
  sql: Statements,
  { seq, base, body, hash }: StoredLink,
  known: { readonly before: Uint8Array; readonly runs: ReadonlyMap<number, string>; readonly gaps: GapsByLink },
): boolean {
  const { before } = known;
  if (body === null) return isEqual(hash, linkHash(before, [seq, known.gaps.get(seq) ?? []]));
  return isEqual(hash, archiveHash(sql, { seq, base, body }, { runId: known.runs.get(seq) ?? "", before }));
}

function isEqual(one: Uint8Array | null, other: Uint8Array): boolean {
  return one !== null && Buffer.compare(one, other) === 0;
}
