import Database from "better-sqlite3";
import { SHOWN_ORDER, type ShownOrder } from "../../support/fallback-orders.ts";

/** Rows of a daemon's database, read by plain SQL. */
export interface Recorded {
  /** when the database was made, milliseconds of the epoch; 0 where nobody has noted it */
  readonly createdMs: number;
  readonly runs: readonly { id: string; strategy: string; slot_ms: number; state: string }[];
  readonly gaps: readonly { strategy: string; first_slot_ms: number; last_slot_ms: number; count: number }[];
  readonly runEnds: readonly { subject_id: string; ends: number }[];
  readonly swaps: readonly RecordedSwap[];
  /** swaps of which something was signed: the swap's message, or a transaction of its own */
  readonly signed: ReadonlySet<string>;
  readonly nonces: readonly number[];
  readonly attempts: readonly { hash: string; nonce: number }[];
  /** transactions that no row explains and the operator accepted */
  readonly accepted: ReadonlySet<string>;
}

export interface RecordedSwap {
  readonly id: string;
  readonly run_id: string;
  readonly strategy: string;
  readonly position: number;
  readonly state: string;
  readonly mode: string | null;
  readonly sell_token: string;
  readonly hash: string | null;
  readonly sold: string | null;
  readonly nonce: string | null;
  readonly block_time_seconds: number | null;
}

export function readRecorded(file: string): Recorded {
  const db = new Database(file, { readonly: true });
  try {
    const all = <Row>(sql: string): Row[] => db.prepare<[], Row>(sql).all();
    const signed = all<{ swap_id: string }>(
      `SELECT swap_id FROM signatures WHERE kind = 'swap' AND signature IS NOT NULL
       UNION SELECT swaps.id FROM swaps JOIN lane_attempts ON lane_attempts.intent_id = swaps.id || '.swap'`,
    );
    return {
      createdMs: all<{ ms: number }>("SELECT created_at_ms AS ms FROM identity")[0]?.ms ?? 0,
      runs: all("SELECT id, strategy, slot_ms, state FROM runs"),
      gaps: all("SELECT strategy, first_slot_ms, last_slot_ms, count FROM gaps"),
      runEnds: all(
        `SELECT subject_id, count(*) AS ends FROM transitions
         WHERE subject = 'run' AND to_state IN ('filled', 'partial', 'skipped', 'failed') GROUP BY subject_id`,
      ),
      swaps: all(
        `SELECT swaps.id, run_id, strategy, position, swaps.state, mode, sell_token, hash, sold, nonce, block_time_seconds
         FROM swaps JOIN runs ON runs.id = run_id`,
      ),
      signed: new Set(signed.map(({ swap_id }) => swap_id)),
      nonces: all<{ nonce: number }>("SELECT nonce FROM lane_intents WHERE nonce IS NOT NULL ORDER BY nonce").map(
        ({ nonce }) => nonce,
      ),
      attempts: all("SELECT hash, nonce FROM lane_attempts"),
      accepted: new Set(
        all<{ hash: string }>(
          `SELECT facts ->> 'hash' AS hash FROM differences
           WHERE kind IN ('fill', 'outflow') AND settled_at_ms IS NOT NULL`,
        ).map(({ hash }) => hash),
      ),
    };
  } finally {
    db.close();
  }
}

/** What is for everybody to see, by its bytes: the order behind each, and how the one before at its place ended. */
export function readFallbackOrders(file: string): ReadonlyMap<string, ShownOrder> {
  const db = new Database(file, { readonly: true });
  try {
    const shown = db.prepare<[], string>("SELECT raw FROM lane_attempts WHERE visibility = 'public'").pluck().all();
    const orderOf = db.prepare<[string], ShownOrder>(SHOWN_ORDER);
    return new Map(
      shown.flatMap((raw) => {
        const order = orderOf.get(raw);
        return order === undefined ? [] : [[raw, order] as const];
      }),
    );
  } finally {
    db.close();
  }
}

/** Rows of the service's database. */
export interface RecordedRelay {
  readonly swaps: readonly { id: string; status: string; wallet: string; nonce: string; hash: string | null }[];
  readonly nonces: readonly number[];
  readonly attempts: readonly { hash: string; nonce: number }[];
}

export function readRelay(file: string): RecordedRelay {
  const db = new Database(file, { readonly: true });
  try {
    const all = <Row>(sql: string): Row[] => db.prepare<[], Row>(sql).all();
    return {
      swaps: all("SELECT id, status, wallet, nonce, hash FROM swaps"),
      nonces: all<{ nonce: number }>("SELECT nonce FROM lane_intents WHERE nonce IS NOT NULL ORDER BY nonce").map(
        ({ nonce }) => nonce,
      ),
      attempts: all("SELECT hash, nonce FROM lane_attempts"),
    };
  } finally {
    db.close();
  }
}

/** Whether the newest transaction that has a nonce and that no node has taken is a swap. */
export function leftSwapUnsent(file: string): boolean {
  const db = new Database(file, { readonly: true });
  try {
    const table = "SELECT 1 FROM sqlite_master WHERE name = 'lane_intents'";
    if (db.prepare(table).get() === undefined) return false;
    const row = db
      .prepare<[], { purpose: string }>(
        "SELECT purpose FROM lane_intents WHERE state IN ('planned', 'signed') AND nonce IS NOT NULL ORDER BY seq DESC LIMIT 1",
      )
      .get();
    return row?.purpose === "swap";
  } finally {
    db.close();
  }
}
