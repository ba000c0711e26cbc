import type { SqliteDatabase } from "../../storage/database.ts";
import { migrate, readMigrations } from "../../storage/migrations.ts";

/** What the relayer reckoned with when it accepted a swap; wei of the native token. */
export interface RelayTerms {
  /** what the swap fee is worth */
  readonly feeWorth: bigint;
  /** of gas and data */
  readonly expectedCost: bigint;
  /** what of it is for the transaction's data, beside gas */
  readonly dataFee: bigint;
}

/** What the relayer of one network earns and loses, beside its lane's rows. Writes join the transaction that is open. */
export interface RelayBook {
  insert(intentId: string, terms: RelayTerms, atMs: number): void;
  /** undefined for a swap that an earlier release accepted */
  terms(intentId: string): RelayTerms | undefined;
  /** Writes down what a transaction cost, in place of what was written for its intent before. */
  writeCost(intentId: string, cost: { paid: bigint; earned: bigint; atMs: number }): void;
  /** A reorganisation took the transaction back. */
  forgetCost(intentId: string): void;
  isPaid(intentId: string): boolean;
  /** The sum of all losses since then; what other swaps earned is not set off against them. */
  lossesSince(sinceMs: number): bigint;
}

/**
 * Opens the book in the service's database, created or migrated as needed. Losses are those of the network's own swaps:
 * wei of different native tokens are not one sum.
 * @throws MigrationError
 */
export function openRelayBook(db: SqliteDatabase, network: string): RelayBook {
  migrate(db, { set: "relay", migrations: readMigrations(new URL("./migrations/", import.meta.url)), backup: true });
  const insert = db.prepare(
    "INSERT INTO relays (intent_id, fee_worth, expected_cost, data_fee, created_at_ms) VALUES (?, ?, ?, ?, ?)",
  );
  const terms = db.prepare<[string], Record<keyof RelayTerms, string>>(
    `SELECT fee_worth AS feeWorth, expected_cost AS expectedCost, data_fee AS dataFee
     FROM relays WHERE intent_id = ?`,
  );
  const write = db.prepare(
    "INSERT OR REPLACE INTO relay_costs (intent_id, gas_paid, loss, paid_at_ms) VALUES (?, ?, ?, ?)",
  );
  const forget = db.prepare("DELETE FROM relay_costs WHERE intent_id = ?");
  const paid = db.prepare<[string], number>("SELECT 1 FROM relay_costs WHERE intent_id = ?").pluck();
  const losses = db
    .prepare<[string, number], string>(
      `SELECT loss FROM relay_costs JOIN swaps USING (intent_id)
       WHERE swaps.network = ? AND loss <> '0' AND paid_at_ms >= ?`,
    )
    .pluck();
  return {
    insert: (intentId, { feeWorth, expectedCost, dataFee }, atMs) =>
      void insert.run(intentId, feeWorth.toString(), expectedCost.toString(), dataFee.toString(), atMs),
    terms(intentId) {
      const row = terms.get(intentId);
      if (row === undefined) return undefined;
      const { feeWorth, expectedCost, dataFee } = row;
      return { feeWorth: BigInt(feeWorth), expectedCost: BigInt(expectedCost), dataFee: BigInt(dataFee) };
    },
    writeCost(intentId, { paid: spent, earned, atMs }) {
      const loss = spent > earned ? spent - earned : 0n;
      write.run(intentId, spent.toString(), loss.toString(), atMs);
    },
    forgetCost: (intentId) => void forget.run(intentId),
    isPaid: (intentId) => paid.get(intentId) !== undefined,
    lossesSince: (sinceMs) => losses.all(network, sinceMs).reduce((sum, loss) => sum + BigInt(loss), 0n),
  };
}
