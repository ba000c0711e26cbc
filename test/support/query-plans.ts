import type { SqliteDatabase } from "../../src/storage/database.ts";

/**
 * Tables that grow with the history. All others have a row a strategy, token, wallet or hour, a row each time that a
 * person had to look (halts), or forget what is old (alerts) or answered (effects).
 */
const GROWING = new Set([
  ...[
    "runs",
    "swaps",
    "transitions",
    "ledger",
    "capabilities",
    "signatures",
    "checks",
    "gaps",
    "retries",
    "steps",
    "archives",
  ],
  ...["requests", "daemon_events", "lane_intents", "lane_attempts", "lane_signings", "lane_transitions"],
  ...["lane_costs", "lane_cancel_wishes"],
  // of the aggregation service; what its pool book keeps has a bound, which is large
  ...["quotes", "swap_transitions", "relays", "relay_costs", "pool_searches"],
]);

/**
 * Indexes of which any part is small, with the reason; where only a narrow search is, what it must state, and where many
 * rows are counted or added up, that none of them is looked up alongside the index.
 */
const SMALL: Readonly<Record<string, { why: string; search?: string; covering?: true }>> = {
  runs_open: { why: "runs that are open" },
  runs_due: { why: "runs that are due" },
  swaps_open: { why: "swaps that are open" },
  swaps_busy: { why: "swaps that are open" },
  swaps_delivering: { why: "swaps that are open" },
  ledger_reserved: { why: "swaps that are open" },
  ledger_reserved_by_strategy: { why: "swaps that are open" },
  capabilities_one_live: { why: "one a wallet and token" },
  capabilities_freed: { why: "the newest alone is read", search: "token=? AND wallet=?" },
  requests_open: { why: "requests that wait" },
  lane_intents_open: { why: "transactions that are open" },
  lane_intents_mined_of: {
    why: "the newest, and what is mined above a final block",
    search: "account=? AND mined_block_number>?",
  },
  swaps_by_recipient_block: { why: "the newest alone is read", search: "recipient=? AND block_number>?" },
  swaps_by_wallet_block: { why: "the newest alone is read", search: "wallet=? AND block_number>?" },
  lane_intents_nonce: { why: "whether there is one", search: "account=? AND chain_id=? AND nonce>?" },
  lane_intents_in_flight: { why: "one an account" },
  runs_failed: { why: "failures within the policy's window", search: "strategy=? AND ended_at_ms>?" },
  ledger_spent_by_time: { why: "an hour", search: "settled_at_ms>? AND settled_at_ms<?" },
  sqlite_autoindex_swaps_2: { why: "swaps of one run", search: "run_id=?" },
  signatures_by_swap: { why: "signatures of one swap", search: "swap_id=?" },
  signatures_permits: { why: "permits that may still be used", search: "valid_until_seconds>?" },
  swaps_by_nonce: { why: "swaps of one nonce", search: "wallet=? AND nonce=?" },
  swaps_by_hash: { why: "swaps of one transaction", search: "hash=?" },
  steps_by_run: { why: "steps of one run", search: "run_id=?" },
  retries_by_run: { why: "retries of one run", search: "run_id=?" },
  transitions_by_subject: { why: "moves of one run or swap", search: "subject_id=?" },
  transitions_of_fills: { why: "fills of a day or a week", search: "id>?" },
  transitions_of_ends: { why: "ends of a day or a week", search: "id>?" },
  gaps_open: { why: "gaps that grew within a day or a week", search: "recorded_at_ms>?" },
  gaps_by_end: { why: "one gap", search: "strategy=? AND last_slot_ms=?" },
  lane_attempts_intent: { why: "attempts of one transaction", search: "intent_id=?" },
  lane_signings_intent: { why: "signings of one transaction", search: "intent_id=?" },
  lane_transitions_intent: { why: "moves of one transaction", search: "intent_id=?" },
  sqlite_autoindex_checks_1: { why: "checks of one swap", search: "swap_id=?" },
  sqlite_autoindex_lane_intents_1: { why: "transactions of one swap", search: "id>? AND id<?" },
  swaps_pending: { why: "swaps that are not over" },
  swaps_of_wallet: { why: "counts of one wallet", search: "wallet=? AND network=?", covering: true },
  swap_transitions_by_swap: { why: "moves of one swap", search: "swap_id=?" },
  quotes_unused_of_caller: { why: "as many as a caller may have", search: "caller=?" },
  relay_costs_of_day: { why: "a day", search: "network=? AND paid_at_ms>?", covering: true },
  relay_losses_of_keyless: { why: "a day", search: "network=? AND paid_at_ms>?", covering: true },
  relay_costs_of_wallet: { why: "a day", search: "network=? AND wallet=? AND paid_at_ms>?", covering: true },
  relay_costs_of_caller: { why: "a day", search: "network=? AND caller=? AND paid_at_ms>?", covering: true },
  relay_costs_of_token: { why: "a day", search: "network=? AND to_token=? AND paid_at_ms>?", covering: true },
  pool_searches_by_scope: { why: "as many as the book keeps of a network", search: "scope=?", covering: true },
  pool_searches_by_age: { why: "what goes at a start", search: "searched_at_ms<?" },
};

/** One call of every method: a new one is missing here until it is added, and then its statements are judged. */
export type Calls<T> = { readonly [Method in keyof T]: (port: T) => unknown };

/** Makes every call, in the order in which they are written. */
export async function callAll<T extends object>(calls: Calls<T>, port: T): Promise<void> {
  for (const call of Object.values(calls) as ((port: T) => unknown)[]) await call(port);
}

/** Lets a test write what the program never would. */
export function dropTriggers(db: SqliteDatabase): void {
  const names = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'trigger'").pluck().all();
  for (const name of names) db.exec(`DROP TRIGGER ${name}`);
}

/** Collects the text of every statement that is prepared on a connection from now on. */
export function collectStatements(db: SqliteDatabase): ReadonlySet<string> {
  const texts = new Set<string>();
  const prepare = db.prepare.bind(db);
  db.prepare = ((sql: string) => {
    texts.add(sql);
    return prepare(sql);
  }) as typeof db.prepare;
  return texts;
}

/**
 * What of a statement's plan grows with the history: a table that is read whole, or a search that is not narrow enough.
 * A walk along an index that ends at a `LIMIT` is narrow, unless all of it must be sorted first.
 */
export function growingParts(
  db: SqliteDatabase,
  sql: string,
  /** indexes of which a part is small for who asks, with what the search must state */
  small: Readonly<Record<string, string>> = {},
): readonly string[] {
  // A plan is made without values, and names of parameters are no matter for it.
  const text = sql.replaceAll(/@\w+/g, "?");
  const nothing = Array.from(text.matchAll(/\?/g), () => null);
  const plan = db.prepare<null[], PlanRow>(`EXPLAIN QUERY PLAN ${text}`).all(...nothing);
  const outer = withoutParentheses(sql);
  const inner = sql.length === outer.length ? "" : sql.slice(sql.indexOf("("));
  return plan
    .filter((row) => {
      const within = isWithinSubquery(plan, row);
      const sorts = plan.some((one) => one.detail === SORT && isWithinSubquery(plan, one) === within);
      const isLimited = /\bLIMIT\b/.test(within ? inner : outer) && !sorts;
      return isGrowing(db, row.detail, isLimited);
    })
    .map(({ detail }) => detail)
    .filter((detail) => !isStated(detail, small));
}

interface PlanRow {
  readonly id: number;
  readonly parent: number;
  readonly detail: string;
}

const SORT = "USE TEMP B-TREE FOR ORDER BY";
const SUBQUERY = /^(?:(?:REUSE )?(?:CORRELATED )?(?:LIST|SCALAR) SUBQUERY|CO-ROUTINE|MATERIALIZE)/;

/** A `LIMIT` of a subquery ends nothing of what stands around it. */
function isWithinSubquery(plan: readonly PlanRow[], { parent }: PlanRow): boolean {
  const above = plan.find(({ id }) => id === parent);
  return above !== undefined && (SUBQUERY.test(above.detail) || isWithinSubquery(plan, above));
}

function withoutParentheses(sql: string): string {
  const less = sql.replaceAll(/\([^()]*\)/g, " ");
  return less === sql ? sql : withoutParentheses(less);
}

function isStated(detail: string, small: Readonly<Record<string, string>>): boolean {
  return Object.entries(small).some(([index, search]) => detail.includes(`INDEX ${index} (${search}`));
}

function isGrowing(db: SqliteDatabase, detail: string, isLimited: boolean): boolean {
  const match =
    /^(SCAN|SEARCH) (\w+)(?: USING (?:COVERING )?(?:INDEX (\w+)|(INTEGER PRIMARY KEY)))?(?: \((.*)\))?/.exec(detail);
  const [, kind, table = "", index, rowid, search = ""] = match ?? [];
  if (!GROWING.has(table)) return false;
  const small = index === undefined ? undefined : SMALL[index];
  if (small !== undefined && isSmall(detail, small, search)) return false;
  if (isLimited && (index !== undefined || rowid !== undefined || isByRowid(detail, table))) return false;
  if (kind === "SCAN") return true;
  if (rowid !== undefined) return !search.startsWith("rowid=?");
  return index === undefined || !namesOneRow(db, index, search);
}

function isSmall(detail: string, small: { search?: string; covering?: true }, search: string): boolean {
  if (small.covering === true && !detail.includes("COVERING INDEX")) return false;
  return small.search === undefined || search.startsWith(small.search);
}

/** A walk along the table itself goes by its integer key. */
function isByRowid(detail: string, table: string): boolean {
  return detail === `SCAN ${table}`;
}

/** Every column of a unique index is given. */
function namesOneRow(db: SqliteDatabase, index: string, search: string): boolean {
  const columns = db.prepare<[], { name: string }>(`PRAGMA index_info(${index})`).all();
  const unique = db
    .prepare<[string, string], number>(
      'SELECT list."unique" FROM pragma_index_list((SELECT tbl_name FROM sqlite_schema WHERE name = ?)) AS list WHERE list.name = ?',
    )
    .pluck()
    .get(index, index);
  return unique === 1 && columns.every(({ name }) => search.includes(`${name}=?`));
}
