import { createArchiveReader } from "../../src/adapters/sqlite/daemon/archive-reader.ts";
import { prepareStatements } from "../../src/adapters/sqlite/statements.ts";
import type { SqliteDatabase } from "../../src/storage/database.ts";

const FILLED = "state IN ('confirmed', 'final')";

/** Every running total, counted anew from the rows; what is zero is left out. */
export function recount(db: SqliteDatabase): Record<string, string> {
  const totals = new Map<string, bigint>();
  const count = (name: string, amount: string | number): void => {
    totals.set(name, (totals.get(name) ?? 0n) + BigInt(amount));
  };
  const add = (sql: string): void => {
    for (const { name, amount } of db.prepare<[], { name: string; amount: string | number }>(sql).all())
      count(name, amount);
  };
  add(`SELECT 'sold ' || strategy || ' ' || token || ' ' AS name, amount FROM ledger WHERE state <> 'released'`);
  add(
    `SELECT 'bought ' || runs.strategy || ' ' || buy_token || ' ' AS name, coalesce(bought, 0) AS amount
     FROM swaps JOIN runs ON runs.id = swaps.run_id WHERE swaps.${FILLED}`,
  );
  add(
    `SELECT 'paid ' || wallet || ' ' || sell_token || ' ' AS name, coalesce(sold, 0) AS amount FROM swaps WHERE ${FILLED}`,
  );
  add(
    `SELECT 'received ' || recipient || ' ' || buy_token || ' ' || wallet AS name, coalesce(bought, 0) AS amount
     FROM swaps WHERE ${FILLED}`,
  );
  add("SELECT 'runs ' || strategy || ' ' || state || ' ' AS name, 1 AS amount FROM runs");
  add("SELECT 'swaps  ' || state || ' ' AS name, 1 AS amount FROM swaps");
  add("SELECT 'runs ' || strategy || ' ' || state || ' ' AS name, count AS amount FROM gaps WHERE state IS NOT NULL");
  for (const end of ["skipped", "denied"]) add(`SELECT 'swaps  ${end} ' AS name, ${end}_swaps AS amount FROM gaps`);
  add(
    `SELECT 'hour ' || (settled_at_ms - settled_at_ms % 3600000) AS name, usd AS amount FROM ledger
     WHERE state = 'spent'`,
  );
  add(
    `SELECT 'day ' || (settled_at_ms - settled_at_ms % 86400000) AS name, usd AS amount FROM ledger
     WHERE state = 'spent'`,
  );
  for (const [length, start] of [
    [0, "0"],
    [900_000, "settled_at_ms - settled_at_ms % 900000"],
    [86_400_000, "settled_at_ms - settled_at_ms % 86400000"],
  ] as const) {
    for (const what of ["amount", "usd"])
      add(
        `SELECT '${what} in ${length} ' || (${start}) || ' ' || strategy || ' ' || token AS name, ${what} AS amount FROM ledger
         WHERE state = 'spent'`,
      );
  }
  for (const { strategy, token, amount, usd, state, settled_at_ms: atMs } of archivedLedger(db)) {
    if (state === "released") continue;
    count(`sold ${strategy} ${token} `, amount);
    if (state !== "spent") continue;
    count(`hour ${atMs - (atMs % 3_600_000)}`, usd);
    count(`day ${atMs - (atMs % 86_400_000)}`, usd);
    for (const length of [0, 900_000, 86_400_000]) {
      const start = length === 0 ? 0 : atMs - (atMs % length);
      count(`amount in ${length} ${start} ${strategy} ${token}`, amount);
      count(`usd in ${length} ${start} ${strategy} ${token}`, usd);
    }
  }
  return asText(totals);
}

interface ArchivedMoney {
  readonly strategy: string;
  readonly token: string;
  readonly amount: string;
  readonly usd: string;
  readonly state: string;
  readonly settled_at_ms: number;
}

function archivedLedger(db: SqliteDatabase): readonly ArchivedMoney[] {
  const archives = createArchiveReader(prepareStatements(db));
  const ids = db.prepare<[], string>("SELECT id FROM runs WHERE archive IS NOT NULL").pluck().all();
  return ids.flatMap((id) => archives.ofRun(id)?.rows<ArchivedMoney>("ledger") ?? []);
}

/** Every running total as it is kept, in the same form. */
export function keptTotals(db: SqliteDatabase): Record<string, string> {
  const rows = db
    .prepare<[], { name: string; amount: string }>(
      `SELECT kind || ' ' || subject || ' ' || item || ' ' || source AS name, amount FROM totals
       UNION ALL SELECT 'hour ' || hour_ms, usd FROM sold_usd_hours
       UNION ALL SELECT 'day ' || day_ms, usd FROM sold_usd_days
       UNION ALL SELECT 'amount in ' || length_ms || ' ' || start_ms || ' ' || strategy || ' ' || token, amount FROM sold_by_time
       UNION ALL SELECT 'usd in ' || length_ms || ' ' || start_ms || ' ' || strategy || ' ' || token, usd FROM sold_by_time`,
    )
    .all();
  return asText(new Map(rows.map(({ name, amount }) => [name, BigInt(amount)])));
}

function asText(totals: ReadonlyMap<string, bigint>): Record<string, string> {
  const kept = [...totals].filter(([, amount]) => amount !== 0n).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(kept.map(([name, amount]) => [name, amount.toString()]));
}
