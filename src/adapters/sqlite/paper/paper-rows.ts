import type { Address, Hex } from "../../../domain/money/address.ts";
import type { ChainLog, Receipt } from "../../../ports/chain.ts";
import type {
  PaperMove,
  PaperOutcome,
  PaperRows,
  PaperShift,
  PaperStart,
  PaperTransaction,
} from "../../../ports/paper.ts";
import type { PaperHolding } from "../../../ports/read-model.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";
import { hasTable, prepareStatements, type Statements } from "../statements.ts";

/** Above every block. */
const NEWEST = Number.MAX_SAFE_INTEGER;

/** What all accounts have on paper; undefined where nothing happens on paper in this database. */
export function readPaperHoldings(db: SqliteDatabase): readonly PaperHolding[] | undefined {
  const sql = prepareStatements(db);
  if (!hasTable(sql, "paper_starts")) return undefined;
  return sql
    .all<{ account: Address; token: Address; amount: string }>("SELECT * FROM paper_starts")
    .map(({ account, token, amount }) => {
      const began = BigInt(amount);
      return { account, token, began, now: amountAt(sql, { account, token }, NEWEST) ?? began };
    });
}

/** What an account has on paper after a block, without what it is lent; undefined where it never began with the token. */
export function readPaperHolding(sql: Statements, of: Of, block: number): bigint | undefined {
  return amountAt(sql, of, block) ?? startOf(sql, of);
}

/** The rows of an open database that has the tables. */
export function createPaperRows(db: SqliteDatabase): PaperRows {
  const sql = prepareStatements(db);
  return {
    ...readsOf(sql),
    ...transactionsOf(sql),
    begin: db.transaction((account, starts) => {
      for (const start of starts) writeStart(sql, account, start);
    }),
    fill: db.transaction((outcome) => writeOutcome(sql, outcome)),
    takeBack: db.transaction((fromBlock) => {
      sql.run("DELETE FROM paper_shifts WHERE block >= ?", fromBlock);
      sql.run("DELETE FROM paper_holdings WHERE block >= ?", fromBlock);
      sql.run("DELETE FROM paper_allowances WHERE block >= ?", fromBlock);
      sql.run(
        `UPDATE paper_transactions SET block = NULL, block_hash = NULL, gas_used = NULL, gas_price = NULL,
           data_fee = NULL, logs = NULL, judged_block = min(judged_block, ?), sent_block = min(sent_block, ?)
         WHERE block >= ?`,
        fromBlock - 1,
        fromBlock - 1,
        fromBlock,
      );
    }),
  };
}

type Reads = Pick<PaperRows, "starts" | "holding" | "holdings" | "allowance" | "allowances" | "shifts">;

function readsOf(sql: Statements): Reads {
  const starts: PaperRows["starts"] = (account) =>
    sql
      .all<{ token: Address; block: number; amount: string }>("SELECT * FROM paper_starts WHERE account = ?", account)
      .map(({ token, block, amount }) => ({ token, block, amount: BigInt(amount) }));
  const allowance: PaperRows["allowance"] = ({ token, owner, spender }, block = NEWEST) => {
    const at = "owner = ? AND token = ? AND spender = ? AND block <= ? ORDER BY block DESC, seq DESC LIMIT 1";
    const row = sql.get<{ amount: string }>(
      `SELECT amount FROM paper_allowances WHERE ${at}`,
      ...[owner, token, spender, block],
    );
    return BigInt(row?.amount ?? 0);
  };
  return {
    starts,
    holding: (of, block = NEWEST) => amountAt(sql, of, block) ?? startOf(sql, of),
    holdings: (account, block = NEWEST) =>
      starts(account).map(({ token, amount }) => ({
        token,
        amount: amountAt(sql, { account, token }, block) ?? amount,
      })),
    allowance,
    allowances: (owner, block = NEWEST) =>
      sql
        .all<{ token: Address; spender: Address }>(
          "SELECT DISTINCT token, spender FROM paper_allowances WHERE owner = ?",
          owner,
        )
        .map(({ token, spender }) => ({ token, owner, spender, amount: allowance({ token, owner, spender }, block) })),
    shifts: ({ sell, buy }, sinceSeconds) =>
      sql
        .all<{ sell: Address; buy: Address; seconds: number; ppm: string }>(
          "SELECT * FROM paper_shifts WHERE sell = ? AND buy = ? AND seconds >= ?",
          ...[sell, buy, sinceSeconds],
        )
        .map(({ ppm, seconds }): PaperShift => ({ sell, buy, seconds, ppm: BigInt(ppm) })),
  };
}

/** A row of `paper_transactions`. */
interface StoredTransaction {
  readonly hash: Hex;
  readonly account: Address;
  readonly nonce: number;
  readonly to_address: Address;
  readonly data: Hex;
  readonly value: string;
  readonly gas_limit: string;
  readonly max_fee_per_gas: string;
  readonly max_priority_fee_per_gas: string;
  readonly sent_block: number;
  readonly judged_block: number;
  readonly block: number | null;
  readonly block_hash: Hex | null;
  readonly gas_used: string | null;
  readonly gas_price: string | null;
  readonly data_fee: string | null;
  readonly logs: string | null;
}

type Transactions = Pick<PaperRows, "count" | "transaction" | "waiting" | "ofBlock" | "receipt" | "send" | "judged">;

function transactionsOf(sql: Statements): Transactions {
  const row = (hash: Hex): StoredTransaction | undefined =>
    sql.get<StoredTransaction>("SELECT * FROM paper_transactions WHERE hash = ?", hash);
  return {
    count: (account, block = NEWEST) => {
      // Nonces follow each other without a gap, and so do their blocks.
      const last = "account = ? AND block IS NOT NULL AND block <= ? ORDER BY block DESC, nonce DESC LIMIT 1";
      const [nonce] = sql.column<number>(`SELECT nonce FROM paper_transactions WHERE ${last}`, account, block);
      return nonce === undefined ? 0 : nonce + 1;
    },
    transaction: (hash) => {
      const found = row(hash);
      return found && decode(found);
    },
    waiting: (account) =>
      sql
        .all<StoredTransaction>(
          "SELECT * FROM paper_transactions WHERE account = ? AND block IS NULL ORDER BY nonce",
          account,
        )
        .map(decode)
        .sort((one, other) => one.nonce - other.nonce || Number(other.maxFeePerGas - one.maxFeePerGas)),
    ofBlock: (account, block) =>
      sql
        .all<StoredTransaction>("SELECT * FROM paper_transactions WHERE account = ? AND block = ?", account, block)
        .map(decode),
    receipt: (hash) => {
      const found = row(hash);
      return found && receiptOf(found);
    },
    send: (transaction) => {
      const { hash, account, nonce, to, data, sentBlock, judgedBlock } = transaction;
      return (
        sql.run(
          `INSERT OR IGNORE INTO paper_transactions (hash, account, nonce, to_address, data, value, gas_limit,
             max_fee_per_gas, max_priority_fee_per_gas, sent_block, judged_block) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          ...[hash, account, nonce, to, data],
          ...[transaction.value, transaction.gasLimit].map(String),
          ...[transaction.maxFeePerGas, transaction.maxPriorityFeePerGas].map(String),
          ...[sentBlock, judgedBlock],
        ) > 0
      );
    },
    judged: (hash, block) => {
      const where = "hash = ? AND block IS NULL AND judged_block < ?";
      sql.run(`UPDATE paper_transactions SET judged_block = ? WHERE ${where}`, block, hash, block);
    },
  };
}

function decode(row: StoredTransaction): PaperTransaction {
  return {
    ...{ hash: row.hash, account: row.account, nonce: row.nonce, to: row.to_address, data: row.data },
    ...{ value: BigInt(row.value), gasLimit: BigInt(row.gas_limit) },
    maxFeePerGas: BigInt(row.max_fee_per_gas),
    maxPriorityFeePerGas: BigInt(row.max_priority_fee_per_gas),
    ...{ sentBlock: row.sent_block, judgedBlock: row.judged_block },
  };
}

function receiptOf(row: StoredTransaction): Receipt | undefined {
  if (row.block === null || row.block_hash === null || row.logs === null) return undefined;
  const logs = JSON.parse(row.logs) as readonly Omit<ChainLog, "logIndex">[];
  return {
    ...{ hash: row.hash, blockNumber: row.block, blockHash: row.block_hash, succeeded: true },
    gasUsed: BigInt(row.gas_used ?? 0),
    effectiveGasPrice: BigInt(row.gas_price ?? 0),
    ...(row.data_fee === null ? {} : { dataFee: BigInt(row.data_fee) }),
    logs: logs.map((log, logIndex) => ({ ...log, logIndex })),
  };
}

/** What an account that began with nothing of a token had of it since comes on top of what it begins with now. */
function writeStart(sql: Statements, account: Address, { token, block, amount }: PaperStart): void {
  const insert = "INSERT OR IGNORE INTO paper_starts VALUES (?, ?, ?, ?)";
  if (sql.run(insert, account, token, block, amount.toString()) === 1) return;
  const anew = "UPDATE paper_starts SET amount = ? WHERE account = ? AND token = ? AND amount = '0'";
  if (sql.run(anew, amount.toString(), account, token) === 0) return;
  const since = "SELECT seq, amount FROM paper_holdings WHERE account = ? AND token = ?";
  addTo(sql, sql.all<Held>(since, account, token), amount);
}

function writeOutcome(sql: Statements, outcome: PaperOutcome): void {
  const { hash, block, gasUsed, effectiveGasPrice, dataFee, logs, shift } = outcome;
  const changed = sql.run(
    `UPDATE paper_transactions SET block = ?, block_hash = ?, gas_used = ?, gas_price = ?, data_fee = ?, logs = ?
     WHERE hash = ? AND block IS NULL`,
    ...[block.number, block.hash, gasUsed.toString(), effectiveGasPrice.toString()],
    ...[dataFee === undefined ? null : dataFee.toString(), JSON.stringify(logs), hash],
  );
  if (changed !== 1) throw new Error(`the paper transaction ${hash} waits for no block`);
  for (const move of outcome.moves) writeMove(sql, move, block.number);
  for (const { token, owner, spender, amount } of outcome.allowances) {
    const insert = "INSERT INTO paper_allowances (owner, token, spender, block, amount) VALUES (?, ?, ?, ?, ?)";
    sql.run(insert, owner, token, spender, block.number, amount.toString());
  }
  if (shift === undefined) return;
  const { sell, buy, seconds, ppm } = shift;
  const insert = "INSERT INTO paper_shifts (hash, sell, buy, block, seconds, ppm) VALUES (?, ?, ?, ?, ?, ?)";
  sql.run(insert, hash, sell, buy, block.number, seconds, ppm.toString());
}

/** Another account's fill of a later block may have been written before. */
function writeMove(sql: Statements, { account, token, delta }: PaperMove, block: number): void {
  const of = [account, token] as const;
  const before = amountAt(sql, { account, token }, block) ?? startOf(sql, { account, token });
  if (before === undefined) throw new Error(`${account} has not begun with ${token} on paper`);
  const insert = "INSERT INTO paper_holdings (account, token, block, amount) VALUES (?, ?, ?, ?)";
  const later = "SELECT seq, amount FROM paper_holdings WHERE account = ? AND token = ? AND block > ?";
  addTo(sql, sql.all<Held>(later, ...of, block), delta);
  sql.run(insert, ...of, block, (before + delta).toString());
}

interface Held {
  readonly seq: number;
  readonly amount: string;
}

function addTo(sql: Statements, held: readonly Held[], delta: bigint): void {
  for (const { seq, amount } of held)
    sql.run("UPDATE paper_holdings SET amount = ? WHERE seq = ?", (BigInt(amount) + delta).toString(), seq);
}

type Of = Parameters<PaperRows["holding"]>[0];

function amountAt(sql: Statements, { account, token }: Of, block: number): bigint | undefined {
  const at = "account = ? AND token = ? AND block <= ? ORDER BY block DESC, seq DESC LIMIT 1";
  const row = sql.get<{ amount: string }>(`SELECT amount FROM paper_holdings WHERE ${at}`, account, token, block);
  return row === undefined ? undefined : BigInt(row.amount);
}

function startOf(sql: Statements, { account, token }: Of): bigint | undefined {
  const started = "SELECT amount FROM paper_starts WHERE account = ? AND token = ?";
  const row = sql.get<{ amount: string }>(started, account, token);
  return row === undefined ? undefined : BigInt(row.amount);
}
