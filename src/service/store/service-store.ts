import type { Address, Hex } from "../../domain/money/address.ts";
import { openDatabase, type SqliteDatabase } from "../../storage/database.ts";
import { migrate, readMigrations } from "../../storage/migrations.ts";
import type { Quote } from "../quotes/quote.ts";
import { giveBackPages, letFileShrink } from "./file-size.ts";
import { readQuote, writeQuote } from "./quote-text.ts";

/** Status of a gasless swap: accepted, then one of three ends. */
export type SwapStatus = "pending" | "success" | "error" | "expired";

/** A gasless swap that was accepted. */
export interface SwapRow {
  readonly id: string;
  readonly quoteId: string;
  readonly intentId: string;
  readonly network: string;
  readonly wallet: Address;
  readonly recipient: Address;
  readonly fromToken: Address;
  readonly toToken: Address;
  /** gross, smallest unit */
  readonly sellAmount: string;
  readonly nonce: string;
  readonly deadlineSeconds: number;
  readonly swapSignature: Hex;
  readonly permitSignature: Hex | null;
  readonly permitDeadline: number | null;
  readonly status: SwapStatus;
  /** what the recipient really got */
  readonly amountOut: string | null;
  readonly hash: Hex | null;
  readonly blockNumber: number | null;
  readonly errorCode: number | null;
  readonly errorMessage: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface TransitionRow {
  readonly fromStatus: SwapStatus | null;
  readonly toStatus: SwapStatus;
  readonly detail: string | null;
  readonly atMs: number;
}

/** What may change of a swap. */
export type SwapChange = Partial<
  Pick<SwapRow, "status" | "amountOut" | "hash" | "blockNumber" | "errorCode" | "errorMessage">
>;

const SWAP_COLUMNS = `id, quote_id AS quoteId, intent_id AS intentId, network, wallet, recipient,
  from_token AS fromToken, to_token AS toToken, sell_amount AS sellAmount, nonce, deadline_seconds AS deadlineSeconds,
  swap_signature AS swapSignature, permit_signature AS permitSignature, permit_deadline AS permitDeadline, status,
  amount_out AS amountOut, hash, block_number AS blockNumber, error_code AS errorCode, error_message AS errorMessage,
  created_at_ms AS createdAtMs, updated_at_ms AS updatedAtMs`;

/** The service's own rows of one network. Every write is one durable transaction, or joins the one that is open. */
export interface ServiceStore {
  readonly db: SqliteDatabase;
  /** @param caller the key that it counts for */
  insertQuote(quote: Quote, caller: string): void;
  /** Makes a row of a quote that a swap is made of, where it is none yet. */
  keepQuote(quote: Quote): void;
  quote(id: string): Quote | undefined;
  /**
   * Makes room for one more unused quote of a caller: where there are as many as may be, the oldest expired one goes.
   * @returns false where there are as many, and none has expired
   */
  makeRoomForQuote(caller: string, room: { most: number; nowSeconds: number }): boolean;
  /** Forgets quotes of all networks that expired before this and were never used, so many at most. */
  pruneQuotes(expiredBeforeSeconds: number, most: number): void;
  insertSwap(row: SwapRow): void;
  /** Changes a swap; a change of its status is written down as a transition. */
  updateSwap(id: string, change: SwapChange, at: { ms: number; detail: string | null }): void;
  /** Has a swap found by one more transaction. */
  addHash(id: string, hash: Hex): void;
  /** By a hash also of a transaction that was replaced. */
  swapBy(key: "id" | "quote_id" | "intent_id" | "hash", value: string): SwapRow | undefined;
  pendingSwaps(): readonly SwapRow[];
  /** Pending swaps that are in no block: what is in one waits for nothing but its finality. */
  unminedSwaps(): readonly SwapRow[];
  pendingCount(): number;
  transitions(swapId: string): readonly TransitionRow[];
  statusCounts(wallet: Address): Readonly<Record<SwapStatus, number>>;
}

/** Opens the service's database, created or migrated as needed. @throws StorageError or MigrationError */
export function openServiceDatabase(file: string): SqliteDatabase {
  const db = openDatabase({ file });
  const migrations = readMigrations(new URL("./migrations/", import.meta.url));
  migrate(db, { set: "service", migrations, backup: true });
  letFileShrink(db);
  return db;
}

/** The rows of one network in the service's open database, which all its networks share. */
export function createServiceStore(db: SqliteDatabase, network: string): ServiceStore {
  return { db, ...quoteRows(db, network), ...swapRows(db), ...swapQueries(db, network) };
}

/** Networks that no relayer serves while swaps of theirs are not over: those are not followed. */
export function unfollowedSwaps(
  db: SqliteDatabase,
  relayed: readonly string[],
): readonly { readonly network: string; readonly pending: number }[] {
  const pending = db.prepare<[], { network: string; pending: number }>(
    "SELECT network, count(*) AS pending FROM swaps WHERE status = 'pending' GROUP BY network ORDER BY network",
  );
  return pending.all().filter(({ network }) => !relayed.includes(network));
}

type QuoteRows = "insertQuote" | "keepQuote" | "quote" | "makeRoomForQuote" | "pruneQuotes";

function quoteRows(db: SqliteDatabase, network: string): Pick<ServiceStore, QuoteRows> {
  const insert = db.prepare(
    `INSERT INTO quotes (id, network, expires_at_seconds, body, created_at_ms, caller) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
  );
  const byId = db.prepare<[string, string], string>("SELECT body FROM quotes WHERE id = ? AND network = ?").pluck();
  const count = db.prepare<[string], number>("SELECT count(*) FROM quotes WHERE caller = ? AND is_used = 0").pluck();
  const removeOldest = db.prepare(
    `DELETE FROM quotes WHERE rowid IN (
       SELECT rowid FROM quotes WHERE caller = ? AND is_used = 0 AND expires_at_seconds <= ?
       ORDER BY expires_at_seconds LIMIT ?)`,
  );
  const prune = db.prepare(
    `DELETE FROM quotes WHERE rowid IN (
       SELECT rowid FROM quotes WHERE is_used = 0 AND expires_at_seconds < ? ORDER BY expires_at_seconds LIMIT ?)`,
  );
  const put = (quote: Quote, caller: string) =>
    void insert.run(quote.id, network, quote.expiresAtSeconds, writeQuote(quote), quote.createdAtMs, caller);
  return {
    insertQuote: put,
    keepQuote: (quote) => put(quote, ""),
    quote(id) {
      const body = byId.get(id, network);
      return body === undefined ? undefined : readQuote(body);
    },
    makeRoomForQuote(caller, { most, nowSeconds }) {
      const tooMany = (count.get(caller) ?? 0) - most + 1;
      return tooMany <= 0 || removeOldest.run(caller, nowSeconds, tooMany).changes >= tooMany;
    },
    pruneQuotes(expiredBeforeSeconds, most) {
      prune.run(expiredBeforeSeconds, most);
      giveBackPages(db);
    },
  };
}

function swapRows(db: SqliteDatabase): Pick<ServiceStore, "insertSwap" | "updateSwap" | "addHash"> {
  const insert = db.prepare(
    `INSERT INTO swaps (id, quote_id, intent_id, network, wallet, recipient, from_token, to_token, sell_amount, nonce,
       deadline_seconds, swap_signature, permit_signature, permit_deadline, status, amount_out, hash, block_number,
       error_code, error_message, created_at_ms, updated_at_ms)
     VALUES (@id, @quoteId, @intentId, @network, @wallet, @recipient, @fromToken, @toToken, @sellAmount, @nonce,
       @deadlineSeconds, @swapSignature, @permitSignature, @permitDeadline, @status, @amountOut, @hash, @blockNumber,
       @errorCode, @errorMessage, @createdAtMs, @updatedAtMs)`,
  );
  const read = db.prepare<[string], SwapRow>(`SELECT ${SWAP_COLUMNS} FROM swaps WHERE id = ?`);
  const update = db.prepare(
    `UPDATE swaps SET status = @status, amount_out = @amountOut, hash = @hash, block_number = @blockNumber,
       error_code = @errorCode, error_message = @errorMessage, updated_at_ms = @updatedAtMs WHERE id = @id`,
  );
  const use = db.prepare("UPDATE quotes SET is_used = 1 WHERE id = ?");
  const insertHash = db.prepare("INSERT INTO swap_hashes (hash, swap_id) VALUES (?, ?) ON CONFLICT DO NOTHING");
  const addTransition = db.prepare(
    "INSERT INTO swap_transitions (swap_id, from_status, to_status, detail, at_ms) VALUES (?, ?, ?, ?, ?)",
  );
  const addHash = (id: string, hash: Hex) => void insertHash.run(hash, id);
  const atomically = <T>(work: () => T): T => (db.inTransaction ? work() : db.transaction(work).immediate());
  return {
    insertSwap(row) {
      atomically(() => {
        insert.run(row);
        use.run(row.quoteId);
        if (row.hash !== null) addHash(row.id, row.hash);
        addTransition.run(row.id, null, row.status, null, row.createdAtMs);
      });
    },
    updateSwap(id, change, at) {
      atomically(() => {
        const before = read.get(id);
        if (before === undefined) throw new Error(`there is no swap ${id}`);
        update.run({ ...before, ...change, updatedAtMs: at.ms });
        if (change.hash) addHash(id, change.hash);
        if (change.status === undefined || change.status === before.status) return;
        addTransition.run(id, before.status, change.status, at.detail, at.ms);
      });
    },
    addHash,
  };
}

type Queries = "swapBy" | "pendingSwaps" | "unminedSwaps" | "pendingCount" | "transitions" | "statusCounts";

function swapQueries(db: SqliteDatabase, network: string): Pick<ServiceStore, Queries> {
  const select = (condition: string) =>
    db.prepare<[string, string], SwapRow>(`SELECT ${SWAP_COLUMNS} FROM swaps WHERE ${condition} AND network = ?`);
  const ofHash = "id IN (SELECT swap_id FROM swap_hashes WHERE hash = ?)";
  const by = { id: select("id = ?"), quote_id: select("quote_id = ?"), hash: select(ofHash) };
  // A lane is identified by its account and chain: it goes on with its swaps under whatever name the network has now.
  const byIntent = db.prepare<[string], SwapRow>(`SELECT ${SWAP_COLUMNS} FROM swaps WHERE intent_id = ?`);
  const pending = db.prepare<[string], SwapRow>(
    `SELECT ${SWAP_COLUMNS} FROM swaps WHERE status = 'pending' AND network = ? ORDER BY created_at_ms`,
  );
  const unmined = db.prepare<[string], SwapRow>(
    `SELECT ${SWAP_COLUMNS} FROM swaps WHERE status = 'pending' AND network = ? AND block_number IS NULL
     ORDER BY created_at_ms`,
  );
  // By itself SQLite walks over all swaps that ever were, in an index that has both columns.
  const pendingCount = db
    .prepare<[string], number>(
      "SELECT count(*) FROM swaps INDEXED BY swaps_pending WHERE status = 'pending' AND network = ?",
    )
    .pluck();
  const transitions = db.prepare<[string], TransitionRow>(
    `SELECT from_status AS fromStatus, to_status AS toStatus, detail, at_ms AS atMs FROM swap_transitions
     WHERE swap_id = ? ORDER BY id`,
  );
  const counts = db.prepare<[string, string], { status: SwapStatus; count: number }>(
    "SELECT status, count(*) AS count FROM swaps WHERE wallet = ? AND network = ? GROUP BY status",
  );
  return {
    swapBy: (key, value) => (key === "intent_id" ? byIntent.get(value) : by[key].get(value, network)),
    pendingSwaps: () => pending.all(network),
    unminedSwaps: () => unmined.all(network),
    pendingCount: () => pendingCount.get(network) ?? 0,
    transitions: (swapId) => transitions.all(swapId),
    statusCounts(wallet) {
      const counted: Record<SwapStatus, number> = { pending: 0, success: 0, error: 0, expired: 0 };
      for (const { status, count } of counts.all(wallet, network)) counted[status] = count;
      return counted;
    },
  };
}
