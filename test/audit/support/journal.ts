import { readdirSync, readFileSync } from "node:fs";
import SqliteConstructor from "better-sqlite3";
import type { Address } from "../../../src/domain/money/address.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import type { MinedTransaction } from "./chain.ts";

const SCHEMA = new URL("../../../src/adapters/sqlite/", import.meta.url);

type Value = string | number | bigint | null;

/** Writes rows by hand, with no code of the daemon in between. */
export interface Journal {
  insert(table: string, row: Readonly<Record<string, Value>>): void;
  run(sql: string, ...values: readonly Value[]): void;
  get(sql: string, ...values: readonly Value[]): unknown;
  /** Writes the sums that the rows add up to, as the daemon keeps them. */
  recount(): void;
  /** Writes a walk of a machine from nothing through these states. */
  walk(subject: "run" | "swap", id: string, states: readonly string[]): void;
  close(): void;
}

/** Makes a database with the daemon's real tables. */
export function createJournal(file: string): Journal {
  const db = openDatabase({ file });
  for (const set of ["daemon/", "lane/"]) {
    const folder = new URL(set, SCHEMA);
    const names = readdirSync(folder).filter((name) => name.endsWith(".sql"));
    for (const name of names.sort()) db.exec(readFileSync(new URL(name, folder), "utf8"));
  }
  dropTriggers(db);
  return journalOn(db);
}

/** Rows are written by hand, in any order and state. */
function dropTriggers(db: SqliteConstructor.Database): void {
  const names = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'trigger'").pluck().all();
  for (const name of names) db.exec(`DROP TRIGGER ${name}`);
}

/** Opens a database to spoil it: what keeps its rows in order is switched off first. */
export function openToSpoil(file: string): Journal {
  const db = new SqliteConstructor(file);
  db.pragma("foreign_keys = OFF");
  db.pragma("ignore_check_constraints = ON");
  dropTriggers(db);
  return journalOn(db);
}

const TOTAL = ["kind", "subject", "item", "source", "amount"];
const FILLED = "swaps.state IN ('confirmed', 'final')";

/** Rows that count, each with the sum that it counts for. */
const SUMS: readonly { table: string; columns: readonly string[]; sql: string }[] = [
  {
    table: "totals",
    columns: TOTAL,
    sql: `SELECT 'sold' AS kind, strategy, token, '' AS source, amount FROM ledger WHERE state <> 'released'
      UNION ALL SELECT 'runs', strategy, state, '', '1' FROM runs
      UNION ALL SELECT 'swaps', '', state, '', '1' FROM swaps
      UNION ALL SELECT 'paid', wallet, sell_token, '', sold FROM swaps WHERE ${FILLED} AND sold IS NOT NULL
      UNION ALL SELECT 'received', recipient, buy_token, wallet, bought FROM swaps WHERE ${FILLED} AND bought IS NOT NULL
      UNION ALL SELECT 'bought', strategy, buy_token, '', bought FROM swaps JOIN runs ON runs.id = swaps.run_id
        WHERE ${FILLED} AND bought IS NOT NULL`,
  },
  {
    table: "sold_usd_hours",
    columns: ["hour_ms", "usd"],
    sql: "SELECT settled_at_ms - settled_at_ms % 3600000 AS at_ms, usd AS amount FROM ledger WHERE state = 'spent'",
  },
  {
    table: "sold_usd_days",
    columns: ["day_ms", "usd"],
    sql: "SELECT settled_at_ms - settled_at_ms % 86400000 AS at_ms, usd AS amount FROM ledger WHERE state = 'spent'",
  },
];

function journalOn(db: SqliteConstructor.Database): Journal {
  const journal: Journal = {
    insert: (table, row) => {
      const columns = Object.keys(row);
      const places = columns.map(() => "?").join(", ");
      db.prepare(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places})`).run(...Object.values(row));
    },
    run: (sql, ...values) => {
      db.prepare(sql).run(...values);
    },
    get: (sql, ...values) =>
      db
        .prepare(sql)
        .pluck()
        .get(...values),
    recount: () => {
      db.exec("DELETE FROM totals; DELETE FROM sold_usd_hours; DELETE FROM sold_usd_days; DELETE FROM sold_by_time");
      for (const lengthMs of [0, 900_000, 86_400_000]) {
        const startMs = lengthMs === 0 ? "0" : `settled_at_ms - settled_at_ms % ${lengthMs}`;
        db.exec(`INSERT INTO sold_by_time (strategy, length_ms, start_ms, token, amount, usd)
          SELECT strategy, ${lengthMs}, ${startMs}, token, CAST(sum(CAST(amount AS INTEGER)) AS TEXT),
            CAST(sum(CAST(usd AS INTEGER)) AS TEXT) FROM ledger
          WHERE state = 'spent' AND settled_at_ms IS NOT NULL GROUP BY 1, 2, 3, 4`);
      }
      for (const { table, columns, sql } of SUMS) {
        const sums = new Map<string, bigint>();
        for (const row of db.prepare<[], Record<string, string>>(sql).all()) {
          const { amount = "", ...key } = row;
          const name = JSON.stringify(Object.values(key));
          if (/^[0-9]+$/.test(amount)) sums.set(name, (sums.get(name) ?? 0n) + BigInt(amount));
        }
        for (const [name, amount] of sums) {
          const values = [...(JSON.parse(name) as Value[]), String(amount)];
          journal.insert(table, Object.fromEntries(columns.map((column, index) => [column, values[index] ?? null])));
        }
      }
    },
    walk: (subject, id, states) => {
      for (const [index, state] of states.entries()) {
        const from = states[index - 1] ?? null;
        journal.insert("transitions", { subject, subject_id: id, from_state: from, to_state: state, at_ms: index });
      }
    },
    close: () => db.close(),
  };
  return journal;
}

/** A token as rows name it. */
export interface RowToken {
  readonly address: Address;
  readonly symbol: string;
  readonly decimals: number;
}

/** One slot with one swap, as far as it came. */
export interface SwapStory {
  readonly id: string;
  readonly strategy: string;
  readonly slotMs: number;
  readonly runState: string;
  readonly mode: "self-executed" | "gasless";
  /** states of the swap, from the first to the last */
  readonly states: readonly string[];
  readonly wallet: Address;
  readonly recipient: Address;
  readonly sell: RowToken;
  readonly buy: RowToken;
  readonly amountIn: bigint;
  readonly amountOutMin: bigint;
  readonly intentId: string | null;
  readonly nonce: bigint | null;
  readonly fill:
    | (Pick<MinedTransaction, "hash" | "blockNumber" | "blockTimeSeconds"> & { sold: bigint; bought: bigint })
    | undefined;
  readonly ledger: "reserved" | "spent" | "released";
  readonly spender: Address;
  readonly live: boolean;
}

const RUN_WALKS: Readonly<Record<string, readonly string[]>> = {
  executing: ["due", "deciding", "executing"],
  filled: ["due", "deciding", "executing", "filled"],
  failed: ["due", "deciding", "executing", "failed"],
};

/** Writes a run with its one swap, its money and its right to spend. */
export function writeStory(journal: Journal, story: SwapStory): void {
  const runId = `run-${story.id}`;
  journal.insert("runs", {
    id: runId,
    strategy: story.strategy,
    slot_ms: story.slotMs,
    state: story.runState,
    spec_hash: "spec",
    window_ends_ms: story.slotMs + 1_000,
    created_at_ms: story.slotMs,
    ended_at_ms: story.runState === "executing" ? null : story.slotMs + 500,
  });
  journal.walk("run", runId, RUN_WALKS[story.runState] ?? []);
  writeSwap(journal, runId, story);
  journal.walk("swap", story.id, story.states);
  journal.insert("ledger", {
    swap_id: story.id,
    strategy: story.strategy,
    wallet: story.wallet,
    token: story.sell.address,
    amount: String(story.ledger === "spent" ? story.fill?.sold : story.amountIn),
    usd: "1",
    state: story.ledger,
    reserved_at_ms: story.slotMs,
    settled_at_ms: story.ledger === "reserved" ? null : story.slotMs,
  });
  journal.insert("capabilities", {
    swap_id: story.id,
    wallet: story.wallet,
    token: story.sell.address,
    spender: story.spender,
    live: story.live ? 1 : 0,
    opened_at_ms: story.slotMs,
  });
  journal.insert("checks", { swap_id: story.id, at_ms: story.slotMs, body: '[["QUOTE_EXPIRED",1,"1","2"]]' });
  journal.run(
    "INSERT OR IGNORE INTO grants (wallet, token, spender, granted_at_ms) VALUES (?, ?, ?, 1)",
    ...[story.wallet, story.sell.address, story.spender],
  );
}

function writeSwap(journal: Journal, runId: string, story: SwapStory): void {
  journal.insert("swaps", {
    id: story.id,
    run_id: runId,
    position: 0,
    attempt: 1,
    state: story.states.at(-1) ?? "planned",
    mode: story.mode,
    wallet: story.wallet,
    recipient: story.recipient,
    sell_token: story.sell.address,
    sell_symbol: story.sell.symbol,
    sell_decimals: story.sell.decimals,
    buy_token: story.buy.address,
    buy_symbol: story.buy.symbol,
    buy_decimals: story.buy.decimals,
    amount_in: String(story.amountIn),
    amount_out_min: String(story.amountOutMin),
    intent_id: story.intentId,
    nonce: story.nonce === null ? null : String(story.nonce),
    hash: story.fill?.hash ?? null,
    block_number: story.fill?.blockNumber ?? null,
    block_time_seconds: story.fill?.blockTimeSeconds ?? null,
    sold: story.fill === undefined ? null : String(story.fill.sold),
    bought: story.fill === undefined ? null : String(story.fill.bought),
    body: "{}",
    created_at_ms: story.slotMs,
    updated_at_ms: story.slotMs,
  });
}
