import { readFileSync } from "node:fs";
import { encodeSwap } from "../../src/adapters/sqlite/daemon/codec.ts";
import { pack } from "../../src/adapters/sqlite/daemon/pack.ts";
import { openDatabase, type SqliteDatabase } from "../../src/storage/database.ts";
import { runSample } from "../../test/support/builders.ts";
import { swapIn } from "../../test/support/reading-samples.ts";

/** A run a minute and strategy: what a month has is what the ceilings count. */
const MINUTE_MS = 60_000;
/** Forty-three checks of a decision, as they are stored. */
const CHECKS = pack(
  JSON.stringify(
    Array.from({ length: 43 }, (_, at) => [
      ...["OUTPUT_BELOW_MINIMUM", 1],
      ...[
        `amountOutMin: ${41234567890123456n + BigInt(at) ** 5n}`,
        `at least ${40234567890123456n + BigInt(at) ** 4n}`,
      ],
    ]),
  ),
);
/** `s0` to `s8` */
export const STRATEGIES = 9;
const OLD_WALLET = `0x${"0d".repeat(20)}`;

/** `n` counts from 0; ids sort by age, hashes are made up. */
const NUMBERS = "WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < @runs)";
const RUN = "printf('old_%07d', n)";
const SWAP = "printf('old_%07d.0.1', n)";
const SLOT = `@untilMs - (@runs - n) * ${MINUTE_MS}`;
const HASH = "printf('0x%064x', n + 1)";
const STRATEGY = `printf('s%d', n % ${STRATEGIES})`;

/** Fills a database with so many filled runs that ended before an instant, each with all that a swap leaves behind. */
export function fillHistory(file: string, fill: { readonly runs: number; readonly untilMs: number }): void {
  const db = openDatabase({ file });
  try {
    db.pragma("foreign_keys = OFF");
    db.pragma("synchronous = OFF");
    db.pragma("cache_size = -400000");
    const swap = encodeSwap({
      ...swapIn("final"),
      ...{ id: "@id", runId: "@run" },
      wallet: OLD_WALLET,
      recipient: OLD_WALLET,
    } as never);
    const values = { ...fill, body: String(swap.body) };
    db.transaction(() => {
      for (const sql of statements(swap))
        db.prepare(`${NUMBERS} ${sql}`.replace(/^(WITH.*?) (INSERT INTO \S+ \([^)]*\))/s, "$2 $1")).run(
          used(sql, values),
        );
      countAnew(db);
    })();
    db.pragma("wal_checkpoint(TRUNCATE)");
  } finally {
    db.close();
  }
}

/** SQLite refuses values that no parameter takes. */
function used(sql: string, values: Record<string, unknown>): Record<string, unknown> {
  const text = `${NUMBERS} ${sql}`;
  return Object.fromEntries(Object.entries(values).filter(([name]) => text.includes(`@${name}`)));
}

function statements(swap: ReturnType<typeof encodeSwap>): readonly string[] {
  const columns = Object.keys(swap);
  const made: Record<string, string> = {
    id: SWAP,
    run_id: RUN,
    hash: HASH,
    block_number: "1 + n % 10",
    body: "@body",
    intent_id: `${SWAP} || '.swap'`,
  };
  const literal = (value: unknown): string =>
    value === null ? "NULL" : typeof value === "number" ? String(value) : `'${String(value).replaceAll("'", "''")}'`;
  const cells = columns.map((name) => made[name] ?? literal(swap[name]));
  const moves = (subject: string, id: string, states: readonly string[]) =>
    states.map(
      (state, index) =>
        `INSERT INTO transitions (subject, subject_id, from_state, to_state, at_ms) SELECT '${subject}', ${id}, ${index === 0 ? "NULL" : `'${states[index - 1]}'`}, '${state}', ${SLOT} + ${index} FROM numbers`,
    );
  const intents = (purpose: string, nonce: string) => [
    `INSERT INTO lane_intents (id, account, chain_id, purpose, to_address, data, value, gas_limit, max_fee_per_gas_cap, sign_by_seconds, state, nonce, outcome, mined_block_number, mined_block_hash, mined_attempt_hash, created_at_ms) SELECT ${SWAP} || '.${purpose}', '${OLD_WALLET}', 31337, '${purpose === "swap" ? "swap" : "approve"}', '${OLD_WALLET}', '0x${"ab".repeat(400)}', '0', '1', '1', 1, 'final', ${nonce}, 'succeeded', 1 + n % 10, ${HASH}, ${HASH}, 1 FROM numbers`,
    `INSERT INTO lane_attempts (hash, intent_id, kind, raw, nonce, max_fee_per_gas, max_priority_fee_per_gas, state, signed_at_ms) SELECT ${purpose === "swap" ? HASH : "printf('0xff%062x', n + 1)"}, ${SWAP} || '.${purpose}', 'original', '0x${"ab".repeat(450)}', ${nonce}, '1', '1', 'confirmed', 1 FROM numbers`,
  ];
  return [
    `INSERT INTO runs (id, strategy, slot_ms, state, spec_hash, window_ends_ms, created_at_ms, ended_at_ms) SELECT ${RUN}, ${STRATEGY}, ${SLOT}, 'filled', 'spec', ${SLOT}, ${SLOT}, ${SLOT} + 9 FROM numbers`,
    `INSERT INTO swaps (${columns.join(", ")}, created_at_ms, updated_at_ms) SELECT ${cells.join(", ")}, ${SLOT}, ${SLOT} FROM numbers`,
    ...moves("run", RUN, ["due", "deciding", "executing", "filled"]),
    ...moves("swap", SWAP, ["planned", "quoted", "cleared", "signed", "submitted", "mined", "confirmed", "final"]),
    `INSERT INTO ledger (swap_id, strategy, wallet, token, amount, usd, state, reserved_at_ms, settled_at_ms) SELECT ${SWAP}, ${STRATEGY}, '${OLD_WALLET}', '${swap.sell_token}', '${swap.sold}', '100000000000000000000', 'spent', ${SLOT}, ${SLOT} FROM numbers`,
    `INSERT INTO capabilities (swap_id, wallet, token, spender, live, opened_at_ms, closed_at_ms) SELECT ${SWAP}, '${OLD_WALLET}', '${swap.sell_token}', '${OLD_WALLET}', 0, ${SLOT}, ${SLOT} FROM numbers`,
    ...intents("approve1", "2 * n"),
    ...intents("swap", "2 * n + 1"),
    `INSERT INTO checks (swap_id, at_ms, body) SELECT ${SWAP}, 1, x'${Buffer.from(CHECKS).toString("hex")}' FROM numbers`,
  ];
}

/** As the migrations that brought the totals counted the rows of their time. */
function countAnew(db: SqliteDatabase): void {
  db.exec("DELETE FROM totals; DELETE FROM sold_usd_hours; DELETE FROM sold_usd_days");
  for (const [name, table] of [
    ["0010-running-totals.sql", "totals"],
    ["0019-sold-when-seen.sql", "sold_usd"],
  ] as const) {
    const text = readFileSync(new URL(`../../src/adapters/sqlite/daemon/${name}`, import.meta.url), "utf8");
    for (const statement of text.split(";\n"))
      if (statement.trimStart().startsWith(`INSERT INTO ${table}`)) db.exec(statement);
  }
}

/** Makes a database that was filled without them whole: with the guards of one of the daemon, and with what it migrated. */
export function makeWhole(file: string, from: SqliteDatabase): void {
  const db = openDatabase({ file });
  const guards = from.prepare<[], string>("SELECT sql FROM sqlite_schema WHERE type = 'trigger'").pluck().all();
  for (const sql of guards) db.exec(sql);
  const schema = from.prepare<[], string>("SELECT sql FROM sqlite_schema WHERE name = 'schema_migrations'").pluck();
  db.exec(String(schema.get()));
  for (const row of from.prepare<[], Record<string, unknown>>("SELECT * FROM schema_migrations").all()) {
    const names = Object.keys(row);
    const places = names.map((name) => `@${name}`);
    db.prepare(`INSERT INTO schema_migrations (${names.join(", ")}) VALUES (${places.join(", ")})`).run(row);
  }
  db.close();
}

/** A run that a benchmark decides. */
export function dueRun(id: string, slotMs: number, strategyId: string): ReturnType<typeof runSample> {
  return runSample({ id, slotMs, strategyId, state: "due", swaps: [] });
}

/** Ends what a decision began, so that both databases stay as they were: nothing is open when the next one begins. */
export function endDecision(db: SqliteDatabase, runId: string): void {
  const move = db.prepare(
    "INSERT INTO transitions (subject, subject_id, from_state, to_state, at_ms) VALUES (?, ?, ?, 'skipped', 1)",
  );
  const swaps = db.prepare<[string], { id: string; state: string }>("SELECT id, state FROM swaps WHERE run_id = ?");
  const run = db.prepare<[string], string>("SELECT state FROM runs WHERE id = ?").pluck();
  db.transaction(() => {
    for (const { id, state } of swaps.all(runId)) {
      move.run("swap", id, state);
      db.prepare("UPDATE swaps SET state = 'skipped' WHERE id = ?").run(id);
      db.prepare("UPDATE ledger SET state = 'released' WHERE swap_id = ?").run(id);
    }
    move.run("run", runId, run.get(runId));
    db.prepare("UPDATE runs SET state = 'skipped', ended_at_ms = 1 WHERE id = ?").run(runId);
    db.prepare("DELETE FROM effects WHERE run_id = ?").run(runId);
  })();
}
