import type { LaneRowStore } from "../../ports/lane-row-store.ts";
import type { SqliteDatabase } from "../../storage/database.ts";
import { type StoredHalt, toHalt } from "./lane-codec.ts";
import type { RowMemory } from "./row-memory.ts";

type AccountRows = "account" | "halt" | "halts" | "addHalt" | "releaseHalt" | "acceptCount";

const HALTS = "halts";

/** Under which what is known of an account is remembered. */
export function ofAccount(account: string, chainId: number): string {
  return `account ${account} ${chainId}`;
}

/** Rows of a lane's account: why it is halted, and what a person accepted. */
export function createLaneAccountRows(db: SqliteDatabase, memory: RowMemory): Pick<LaneRowStore, AccountRows> {
  const columns = "account, chain_id, reason, transaction_count, at_ms";
  const one = db.prepare<[string, number], StoredHalt>(
    `SELECT ${columns} FROM lane_halts WHERE account = ? AND chain_id = ? AND released_at_ms IS NULL`,
  );
  const all = db.prepare<[], StoredHalt>(
    `SELECT ${columns} FROM lane_halts WHERE released_at_ms IS NULL ORDER BY account, chain_id`,
  );
  const insert = db.prepare(
    `INSERT INTO lane_halts (${columns}) VALUES (@account, @chainId, @reason, @transactionCount, @atMs)`,
  );
  const release = db.prepare(
    `UPDATE lane_halts SET released_by = ?, released_at_ms = ?
     WHERE account = ? AND chain_id = ? AND released_at_ms IS NULL`,
  );
  const accept = db.prepare(
    `INSERT INTO lane_halts (${columns}, released_by, released_at_ms)
     VALUES (@account, @chainId, 'accepted before it halted', @transactionCount, @atMs, @by, @atMs)`,
  );
  const halt: LaneRowStore["halt"] = (account, chainId) => {
    const row = one.get(account, chainId);
    return row === undefined ? undefined : toHalt(row);
  };
  const read = accountReader(db, halt);
  return {
    account: (account, chainId) => memory.read(ofAccount(account, chainId), () => read(account, chainId)),
    halt,
    halts: () => memory.read(HALTS, () => all.all().map(toHalt)),
    addHalt: (row) => {
      memory.forget(HALTS, ofAccount(row.account, row.chainId));
      insert.run(row);
    },
    releaseHalt: (account, chainId, { by, atMs }) => {
      memory.forget(HALTS, ofAccount(account, chainId));
      release.run(by, atMs, account, chainId);
    },
    acceptCount: (counted, acceptance) => {
      memory.forget(ofAccount(counted.account, counted.chainId));
      accept.run({ ...counted, ...acceptance });
    },
  };
}

/** Mostly there is no halt, and one row says all. */
function accountReader(db: SqliteDatabase, halt: LaneRowStore["halt"]): LaneRowStore["account"] {
  const figures = db.prepare<
    { account: string; chainId: number },
    { highestNonce: number | null; acceptedCount: number | null; isHalted: number }
  >(
    `SELECT
       (SELECT nonce FROM lane_intents WHERE account = @account AND chain_id = @chainId AND nonce IS NOT NULL
        ORDER BY nonce DESC LIMIT 1) AS highestNonce,
       (SELECT max(transaction_count) FROM lane_halts
        WHERE account = @account AND chain_id = @chainId AND released_at_ms IS NOT NULL) AS acceptedCount,
       EXISTS (SELECT 1 FROM lane_halts
        WHERE account = @account AND chain_id = @chainId AND released_at_ms IS NULL) AS isHalted`,
  );
  return (account, chainId) => {
    const row = figures.get({ account, chainId });
    return {
      halt: row?.isHalted === 0 ? undefined : halt(account, chainId),
      highestNonce: row?.highestNonce ?? undefined,
      acceptedCount: row?.acceptedCount ?? 0,
    };
  };
}
