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
  /** who handed the swap over, as limits count callers */
  readonly caller: string;
}

/** Whose swaps reverted when they were sent. */
export interface Reverter {
  readonly kind: "wallet" | "caller";
  readonly name: string;
}

/** What a transaction cost; wei. */
export interface RelayCost {
  readonly paid: bigint;
  readonly earned: bigint;
  readonly reverted: boolean;
  readonly atMs: number;
}

/** What the relayer of one network earns and loses, beside its lane's rows. Writes join the transaction that is open. */
export interface RelayBook {
  insert(intentId: string, terms: RelayTerms, atMs: number): void;
  /** undefined for a swap that an earlier release accepted */
  terms(intentId: string): RelayTerms | undefined;
  /** Writes down what a transaction cost, in place of what was written for its intent before. */
  writeCost(intentId: string, cost: RelayCost): void;
  /** A reorganisation took the transaction back. */
  forgetCost(intentId: string): void;
  isPaid(intentId: string): boolean;
  /**
   * What was paid since then, and what of it was lost; what other swaps earned is not set off against losses. Wei, each
   * cost rounded up to a gwei.
   */
  costsSince(sinceMs: number): { readonly paid: bigint; readonly lost: bigint };
  /** How many swaps of a wallet or a caller reverted since then. */
  revertsSince(of: Reverter, sinceMs: number): number;
}

const WEI_PER_GWEI = 10n ** 9n;

/** Rounded up: a sum of many is never less than what was paid. */
function gweiOf(wei: bigint): number {
  return Number((wei + WEI_PER_GWEI - 1n) / WEI_PER_GWEI);
}

/**
 * Opens the book in the service's database, created or migrated as needed. Costs are those of the network's own swaps:
 * wei of different native tokens are not one sum.
 * @throws MigrationError
 */
export function openRelayBook(db: SqliteDatabase, network: string): RelayBook {
  migrate(db, { set: "relay", migrations: readMigrations(new URL("./migrations/", import.meta.url)), backup: true });
  return { ...termRows(db), ...costRows(db, network) };
}

function termRows(db: SqliteDatabase): Pick<RelayBook, "insert" | "terms"> {
  const insert = db.prepare(
    "INSERT INTO relays (intent_id, fee_worth, expected_cost, data_fee, caller, created_at_ms) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const terms = db.prepare<[string], Record<keyof RelayTerms, string>>(
    `SELECT fee_worth AS feeWorth, expected_cost AS expectedCost, data_fee AS dataFee, caller
     FROM relays WHERE intent_id = ?`,
  );
  return {
    insert: (intentId, { feeWorth, expectedCost, dataFee, caller }, atMs) =>
      void insert.run(intentId, feeWorth.toString(), expectedCost.toString(), dataFee.toString(), caller, atMs),
    terms(intentId) {
      const row = terms.get(intentId);
      if (row === undefined) return undefined;
      const { feeWorth, expectedCost, dataFee, caller } = row;
      return { feeWorth: BigInt(feeWorth), expectedCost: BigInt(expectedCost), dataFee: BigInt(dataFee), caller };
    },
  };
}

function costRows(db: SqliteDatabase, network: string): Omit<RelayBook, "insert" | "terms"> {
  const write = db.prepare(
    `INSERT OR REPLACE INTO relay_costs
       (intent_id, gas_paid, loss, paid_at_ms, paid_gwei, loss_gwei, reverted, network, wallet, caller)
     SELECT @intentId, @paid, @loss, @atMs, @paidGwei, @lossGwei, @reverted, network, wallet, coalesce(caller, '')
     FROM swaps LEFT JOIN relays USING (intent_id) WHERE intent_id = @intentId`,
  );
  const forget = db.prepare("DELETE FROM relay_costs WHERE intent_id = ?");
  const paid = db.prepare<[string], number>("SELECT 1 FROM relay_costs WHERE intent_id = ?").pluck();
  const sums = db.prepare<[string, number], { paid: number; lost: number }>(
    `SELECT coalesce(sum(paid_gwei), 0) AS paid, coalesce(sum(loss_gwei), 0) AS lost FROM relay_costs
     WHERE network = ? AND paid_at_ms >= ?`,
  );
  const reverts = (column: string) =>
    db
      .prepare<[string, string, number], number>(
        `SELECT count(*) FROM relay_costs WHERE network = ? AND ${column} = ? AND paid_at_ms >= ? AND reverted = 1`,
      )
      .pluck();
  const revertsOf = { wallet: reverts("wallet"), caller: reverts("caller") };
  return {
    writeCost(intentId, { paid: spent, earned, reverted, atMs }) {
      const loss = spent > earned ? spent - earned : 0n;
      const gwei = { paidGwei: gweiOf(spent), lossGwei: gweiOf(loss) };
      const { changes } = write.run({
        ...{ intentId, atMs, ...gwei, reverted: reverted ? 1 : 0 },
        ...{ paid: spent.toString(), loss: loss.toString() },
      });
      if (changes !== 1) throw new Error(`there is no swap of the intent ${intentId}, whose cost is to be written`);
    },
    forgetCost: (intentId) => void forget.run(intentId),
    isPaid: (intentId) => paid.get(intentId) !== undefined,
    costsSince(sinceMs) {
      const { paid: spent, lost } = sums.get(network, sinceMs) ?? { paid: 0, lost: 0 };
      return { paid: BigInt(spent) * WEI_PER_GWEI, lost: BigInt(lost) * WEI_PER_GWEI };
    },
    revertsSince: ({ kind, name }, sinceMs) => revertsOf[kind].get(network, name, sinceMs) ?? 0,
  };
}
