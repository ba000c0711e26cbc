import type { LaneRowStore } from "../../ports/lane-row-store.ts";
import type { AttemptRow, CancelRequest, IntentRow } from "../../ports/lane-store.ts";
import type { SqliteDatabase } from "../../storage/database.ts";
import { inTransaction } from "../../storage/transaction.ts";
import { OPEN_INTENTS } from "./index-conditions.ts";
import { createLaneAccountRows, ofAccount } from "./lane-account-rows.ts";
import {
  type StoredAttempt,
  type StoredCost,
  type StoredIntent,
  type StoredSigning,
  type StoredTransition,
  toAttemptRow,
  toBinding,
  toCostRow,
  toIntentRow,
  toSigningRow,
  toTransition,
} from "./lane-codec.ts";
import { NO_MEMORY, type RowMemory } from "./row-memory.ts";
import { prepareStatements } from "./statements.ts";

/** Lane rows in an open, migrated database. Stores of the same connection share its transactions. */
export function createLaneRows(db: SqliteDatabase, memory: RowMemory = NO_MEMORY): LaneRowStore {
  return {
    transaction: (work) => joinTransaction(db, work),
    ...intents(db, memory),
    ...attempts(db),
    ...journal(db),
    ...createLaneAccountRows(db, memory),
    ...costs(db),
    ...cancelRequests(db),
    ...forgetting(db, memory),
    ...archived(db),
  };
}

/**
 * Runs the work in one durable transaction, or in the one that is already open on this connection.
 * The write lock is taken at the start, so that what the work reads is still true when it commits.
 */
function joinTransaction<T>(db: SqliteDatabase, work: () => T): T {
  return db.inTransaction ? work() : inTransaction(db, work);
}

type Intents = "insertIntent" | "intent" | "intentAt" | "openIntents" | "updateIntent";

function intents(db: SqliteDatabase, memory: RowMemory): Pick<LaneRowStore, Intents> {
  const insert = db.prepare(
    `INSERT INTO lane_intents (
       id, account, chain_id, purpose, to_address, data, value, gas_limit, max_fee_per_gas_cap, sign_by_seconds,
       deadline_seconds, state, nonce, outcome, mined_block_number, mined_block_hash, mined_attempt_hash, created_at_ms
     ) VALUES (
       @id, @account, @chainId, @purpose, @to, @data, @value, @gasLimit, @maxFeePerGasCap, @signBySeconds,
       @deadlineSeconds, @state, @nonce, @outcome, @minedBlockNumber, @minedBlockHash, @minedAttemptHash, @createdAtMs
     )`,
  );
  const byId = db.prepare<[string], StoredIntent>("SELECT * FROM lane_intents WHERE id = ?");
  const atNonce = db.prepare<[string, number, number], StoredIntent>(
    "SELECT * FROM lane_intents WHERE account = ? AND chain_id = ? AND nonce = ?",
  );
  const open = db.prepare<[string, number], StoredIntent>(
    `SELECT * FROM lane_intents WHERE account = ? AND chain_id = ?
       AND ${OPEN_INTENTS} ORDER BY seq`,
  );
  const markConfirmed = db.prepare("UPDATE lane_intents SET was_confirmed = 1 WHERE id = ?");
  const update = createUpdate(db, { table: "lane_intents", key: "id", columns: INTENT_COLUMNS });
  const laneOf = db.prepare<[string], { account: string; chainId: number }>(
    "SELECT account, chain_id AS chainId FROM lane_intents WHERE id = ?",
  );
  const ofLane = (account: string, chainId: number): string => `open ${account} ${chainId}`;
  const forgetLane = ({ account, chainId }: { readonly account: string; readonly chainId: number }): void =>
    memory.forget(ofLane(account, chainId), ofAccount(account, chainId));
  return {
    insertIntent: (row) => {
      forgetLane(row);
      insert.run(toBinding(row));
    },
    intent(id) {
      const row = byId.get(id);
      return row === undefined ? undefined : toIntentRow(row);
    },
    intentAt: (account, chainId, nonce) => atNonce.all(account, chainId, nonce).map(toIntentRow)[0],
    openIntents: (account, chainId) =>
      memory.read(ofLane(account, chainId), () => open.all(account, chainId).map(toIntentRow)),
    updateIntent(id, change) {
      const lane = laneOf.get(id);
      if (lane !== undefined) forgetLane(lane);
      if (change.state === "confirmed") markConfirmed.run(id);
      update(id, change);
    },
  };
}

// Prepared when they are used: a service's database may be older than a column of theirs.
const INSERT_ATTEMPT = `INSERT INTO lane_attempts (
   hash, intent_id, kind, raw, nonce, max_fee_per_gas, max_priority_fee_per_gas, visibility, state, signed_at_ms,
   first_broadcast_block, last_broadcast_at_ms, last_broadcast_block
 ) VALUES (
   @hash, @intentId, @kind, @raw, @nonce, @maxFeePerGas, @maxPriorityFeePerGas, @visibility, @state, @signedAtMs,
   @firstBroadcastBlock, @lastBroadcastAtMs, @lastBroadcastBlock
 )`;
const INSERT_SIGNING = `INSERT INTO lane_signings (
   intent_id, kind, nonce, to_address, data, value, gas_limit, max_fee_per_gas, max_priority_fee_per_gas, visibility,
   at_ms
 ) VALUES (
   @intentId, @kind, @nonce, @to, @data, @value, @gasLimit, @maxFeePerGas, @maxPriorityFeePerGas, @visibility, @atMs
 )`;

function attempts(db: SqliteDatabase): Pick<LaneRowStore, "insertAttempt" | "attempts" | "updateAttempt"> {
  const sql = prepareStatements(db);
  const ofIntent = db.prepare<[string], StoredAttempt>("SELECT * FROM lane_attempts WHERE intent_id = ? ORDER BY seq");
  return {
    insertAttempt: (row) => void sql.named(INSERT_ATTEMPT, toBinding(row)),
    attempts: (intentId) => ofIntent.all(intentId).map(toAttemptRow),
    updateAttempt: createUpdate(db, { table: "lane_attempts", key: "hash", columns: ATTEMPT_COLUMNS }),
  };
}

type Journal = "insertSigning" | "signings" | "recordTransition" | "transitions";

function journal(db: SqliteDatabase): Pick<LaneRowStore, Journal> {
  const sql = prepareStatements(db);
  const signings = db.prepare<[string], StoredSigning>("SELECT * FROM lane_signings WHERE intent_id = ? ORDER BY seq");
  const insertTransition = db.prepare(
    `INSERT INTO lane_transitions (intent_id, attempt_hash, from_state, to_state, at_ms, detail)
     VALUES (@intentId, @attemptHash, @from, @to, @atMs, @detail)`,
  );
  const transitions = db.prepare<[string], StoredTransition>(
    "SELECT * FROM lane_transitions WHERE intent_id = ? ORDER BY id",
  );
  return {
    insertSigning: (row) => void sql.named(INSERT_SIGNING, toBinding(row)),
    signings: (intentId) => signings.all(intentId).map(toSigningRow),
    recordTransition: (row) => void insertTransition.run(toBinding(row)),
    transitions: (intentId) => transitions.all(intentId).map(toTransition),
  };
}

function costs(db: SqliteDatabase): Pick<LaneRowStore, "saveCost" | "forgetCost" | "cost"> {
  const sql = prepareStatements(db);
  return {
    saveCost: (row) => {
      sql.named(
        `INSERT INTO lane_costs (
           intent_id, hash, succeeded, block_number, block_time_seconds, gas_used, gas_price, data_fee
         ) VALUES (
           @intentId, @hash, @succeeded, @blockNumber, @blockTimeSeconds, @gasUsed, @gasPrice, @dataFee
         ) ON CONFLICT (intent_id) DO UPDATE SET hash = excluded.hash, succeeded = excluded.succeeded,
           block_number = excluded.block_number, block_time_seconds = excluded.block_time_seconds,
           gas_used = excluded.gas_used, gas_price = excluded.gas_price, data_fee = excluded.data_fee`,
        toBinding({ ...row, succeeded: row.succeeded ? 1 : 0 }),
      );
    },
    forgetCost: (intentId) => {
      sql.run("DELETE FROM lane_costs WHERE intent_id = ?", intentId);
    },
    cost: (intentId) => {
      const row = sql.get<StoredCost>("SELECT * FROM lane_costs WHERE intent_id = ?", intentId);
      return row === undefined ? undefined : toCostRow(row);
    },
  };
}

const CANCEL_REQUESTS = `SELECT intent_id AS intentId, wished_by AS "by", at_ms AS atMs FROM lane_cancel_wishes`;

/** Prepared when they are used: a service's database may be older than their table. */
function cancelRequests(
  db: SqliteDatabase,
): Pick<LaneRowStore, "requestCancel" | "cancelRequest" | "waitingCancelRequests"> {
  const sql = prepareStatements(db);
  return {
    requestCancel: ({ intentId, by, atMs }) => {
      sql.run("INSERT INTO lane_cancel_wishes (intent_id, wished_by, at_ms) VALUES (?, ?, ?)", intentId, by, atMs);
    },
    cancelRequest: (intentId) => sql.get<CancelRequest>(`${CANCEL_REQUESTS} WHERE intent_id = ?`, intentId),
    waitingCancelRequests: (account, chainId) =>
      sql.all<CancelRequest>(
        `${CANCEL_REQUESTS} WHERE intent_id IN (
           SELECT id FROM lane_intents WHERE account = ? AND chain_id = ? AND ${OPEN_INTENTS} AND nonce IS NULL
         )`,
        account,
        chainId,
      ),
  };
}

/** Prepared when it is used: a service's database may be older than its table. */
function archived(db: SqliteDatabase): Pick<LaneRowStore, "isArchivedNonce"> {
  const sql = prepareStatements(db);
  return {
    isArchivedNonce: (account, chainId, nonce) =>
      sql.get(
        "SELECT 1 FROM lane_archived WHERE account = ? AND chain_id = ? AND nonce >= ?",
        account,
        chainId,
        nonce,
      ) !== undefined,
  };
}

function forgetting(db: SqliteDatabase, memory: RowMemory): Pick<LaneRowStore, "forgetUnsigned"> {
  const sql = prepareStatements(db);
  const unsigned = `SELECT 1 FROM lane_intents WHERE id = ? AND purpose = 'relay' AND state = 'dropped'
    AND NOT EXISTS (SELECT 1 FROM lane_attempts WHERE intent_id = lane_intents.id)`;
  return {
    forgetUnsigned: (id) => {
      if (sql.get(unsigned, id) === undefined) return false;
      memory.forget();
      sql.run("DELETE FROM lane_signings WHERE intent_id = ?", id);
      sql.run("DELETE FROM lane_transitions WHERE intent_id = ?", id);
      sql.run("DELETE FROM lane_cancel_wishes WHERE intent_id = ?", id);
      sql.run("DELETE FROM lane_intents WHERE id = ?", id);
      return true;
    },
  };
}

const INTENT_COLUMNS = {
  state: "state",
  nonce: "nonce",
  outcome: "outcome",
  minedBlockNumber: "mined_block_number",
  minedBlockHash: "mined_block_hash",
  minedAttemptHash: "mined_attempt_hash",
} as const satisfies Partial<Record<keyof IntentRow, string>>;

const ATTEMPT_COLUMNS = {
  state: "state",
  firstBroadcastBlock: "first_broadcast_block",
  lastBroadcastAtMs: "last_broadcast_at_ms",
  lastBroadcastBlock: "last_broadcast_block",
} as const satisfies Partial<Record<keyof AttemptRow, string>>;

/** An update of the named fields only; a field that is there and undefined becomes null. */
function createUpdate(
  db: SqliteDatabase,
  target: { table: string; key: string; columns: Readonly<Record<string, string>> },
): (key: string, change: object) => void {
  const statements = prepareStatements(db);
  return (key, change) => {
    const fields = Object.keys(change);
    if (fields.length === 0) return;
    const assignments = fields.map((field) => `${columnOf(target.columns, field)} = @${field}`).join(", ");
    const sql = `UPDATE ${target.table} SET ${assignments} WHERE ${target.key} = @key`;
    const changes = statements.named(sql, { ...toBinding(change), key });
    if (changes !== 1) throw new Error(`no row of ${target.table} has ${target.key} ${key}: nothing was changed`);
  };
}

function columnOf(columns: Readonly<Record<string, string>>, field: string): string {
  const column = columns[field];
  if (column === undefined) throw new Error(`the field ${field} cannot be changed`);
  return column;
}
