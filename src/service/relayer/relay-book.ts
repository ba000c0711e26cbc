import type { Address } from "../../domain/money/address.ts";
import type { SqliteDatabase } from "../../storage/database.ts";
import { migrate, readMigrations } from "../../storage/migrations.ts";
import { createReadMemory, type ReadMemory } from "../store/read-memory.ts";

/** What the relayer reckoned with when it accepted a swap; wei of the native token. */
export interface RelayTerms {
  /** what the swap fee is worth */
  readonly feeWorth: bigint;
  /** of gas and data */
  readonly expectedCost: bigint;
  /** what of it is for the transaction's data, on top of gas */
  readonly dataFee: bigint;
  /** who handed the swap over, as limits count callers */
  readonly caller: string;
  /** whether with a key */
  readonly isKeyed: boolean;
}

/** By whom losses are counted: a wallet, a caller, a bought token, or all callers without a key together. */
export type Loser =
  | { readonly kind: "wallet" | "caller" | "token"; readonly name: string }
  | { readonly kind: "keyless" };

/** What a transaction cost; wei. */
export interface RelayCost {
  readonly paid: bigint;
  readonly earned: bigint;
  readonly reverted: boolean;
  readonly atMs: number;
}

/**
 * What the relayer of one network earns and loses, besides its lane's rows. Writes join the transaction that is open.
 */
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
  /**
   * What swaps lost since then, wei. Of one wallet, caller or token what its fills earned beyond their cost is set off; of
   * all without a key together it is not, as for everybody's losses.
   */
  lostSince(loser: Loser, sinceMs: number): bigint;
  /** Whether a swap of the wallet reverted since then. */
  hasReverted(wallet: Address, sinceMs: number): boolean;
}

export const WEI_PER_GWEI = 10n ** 9n;

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
    `INSERT INTO relays (intent_id, fee_worth, expected_cost, data_fee, caller, keyed, created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const terms = db.prepare<[string], Record<Exclude<keyof RelayTerms, "isKeyed">, string> & { keyed: 0 | 1 }>(
    `SELECT fee_worth AS feeWorth, expected_cost AS expectedCost, data_fee AS dataFee, caller, keyed
     FROM relays WHERE intent_id = ?`,
  );
  return {
    insert(intentId, { feeWorth, expectedCost, dataFee, caller, isKeyed }, atMs) {
      const amounts = [feeWorth, expectedCost, dataFee].map(String);
      insert.run(intentId, ...amounts, caller, isKeyed ? 1 : 0, atMs);
    },
    terms(intentId) {
      const row = terms.get(intentId);
      if (row === undefined) return undefined;
      const amounts = { feeWorth: BigInt(row.feeWorth), expectedCost: BigInt(row.expectedCost) };
      return { ...amounts, dataFee: BigInt(row.dataFee), caller: row.caller, isKeyed: row.keyed === 1 };
    },
  };
}

function costRows(db: SqliteDatabase, network: string): Omit<RelayBook, "insert" | "terms"> {
  const write = db.prepare(
    `INSERT OR REPLACE INTO relay_costs
       (intent_id, gas_paid, loss, paid_at_ms, paid_gwei, loss_gwei, earned_gwei, reverted,
        network, wallet, to_token, caller, keyed)
     SELECT @intentId, @paid, @loss, @atMs, @paidGwei, @lossGwei, @earnedGwei, @reverted,
       network, wallet, to_token, coalesce(caller, ''), coalesce(keyed, 0)
     FROM swaps LEFT JOIN relays USING (intent_id) WHERE intent_id = @intentId`,
  );
  const forget = db.prepare("DELETE FROM relay_costs WHERE intent_id = ?");
  const paid = db.prepare<[string], number>("SELECT 1 FROM relay_costs WHERE intent_id = ?").pluck();
  const sums = db.prepare<[string, number], { paid: number; lost: number; oldestMs: number | null }>(
    `SELECT coalesce(sum(paid_gwei), 0) AS paid, coalesce(sum(loss_gwei), 0) AS lost, min(paid_at_ms) AS oldestMs
     FROM relay_costs WHERE network = ? AND paid_at_ms >= ?`,
  );
  const since = createSums(createReadMemory(db));
  const reverted = db
    .prepare<[string, Address, number], number>(
      "SELECT 1 FROM relay_costs WHERE network = ? AND wallet = ? AND paid_at_ms >= ? AND reverted = 1 LIMIT 1",
    )
    .pluck();
  return {
    lostSince: lostRows(db, network, since),
    writeCost(intentId, { paid: spent, earned, reverted: hasReverted, atMs }) {
      const loss = spent > earned ? spent - earned : 0n;
      const gwei = { paidGwei: gweiOf(spent), lossGwei: gweiOf(loss), earnedGwei: Number(earned / WEI_PER_GWEI) };
      const { changes } = write.run({
        ...{ intentId, atMs, ...gwei, reverted: hasReverted ? 1 : 0 },
        ...{ paid: spent.toString(), loss: loss.toString() },
      });
      if (changes !== 1) throw new Error(`there is no swap of the intent ${intentId}, whose cost is to be written`);
    },
    forgetCost: (intentId) => void forget.run(intentId),
    isPaid: (intentId) => paid.get(intentId) !== undefined,
    costsSince(sinceMs) {
      const { paid: spent, lost } = since("all", sinceMs, () => sums.get(network, sinceMs));
      return { paid: BigInt(spent) * WEI_PER_GWEI, lost: BigInt(lost) * WEI_PER_GWEI };
    },
    hasReverted: (wallet, sinceMs) => reverted.get(network, wallet, sinceMs) !== undefined,
  };
}

interface Sum {
  /** the oldest cost in it; null: there is none */
  readonly oldestMs: number | null;
}

/** A sum since an instant, which is also the one since a later instant until the oldest cost in it is older than that. */
type Sums = <T extends Sum>(name: string, sinceMs: number, read: () => T | undefined) => T;

/** Sums of a day's thousands of costs, which each quote asks for several times, are read anew only where they may differ. */
function createSums(memory: ReadMemory): Sums {
  return <T extends Sum>(name: string, sinceMs: number, read: () => T | undefined) => {
    const readSum = () => {
      const sum = read();
      if (sum === undefined) throw new Error(`the database gave no sum of costs (${name})`);
      return { sum, sinceMs };
    };
    const isSame = (kept: ReturnType<typeof readSum>) =>
      kept.sinceMs <= sinceMs && (kept.sum.oldestMs === null || sinceMs <= kept.sum.oldestMs);
    return memory.read(name, readSum, isSame).sum;
  };
}

function lostRows(db: SqliteDatabase, network: string, since: Sums): RelayBook["lostSince"] {
  type Lost = Sum & { readonly gwei: number };
  const ofOne = (column: string) =>
    db.prepare<[string, string, number], Lost>(
      `SELECT coalesce(sum(paid_gwei - earned_gwei), 0) AS gwei, min(paid_at_ms) AS oldestMs FROM relay_costs
       WHERE network = ? AND ${column} = ? AND paid_at_ms >= ?`,
    );
  const sums = { wallet: ofOne("wallet"), caller: ofOne("caller"), token: ofOne("to_token") };
  const ofKeyless = db.prepare<[string, number], Lost>(
    `SELECT coalesce(sum(loss_gwei), 0) AS gwei, min(paid_at_ms) AS oldestMs FROM relay_costs
     WHERE network = ? AND paid_at_ms >= ? AND keyed = 0`,
  );
  return (loser, sinceMs) => {
    const { gwei } =
      loser.kind === "keyless"
        ? since("keyless", sinceMs, () => ofKeyless.get(network, sinceMs))
        : since(`${loser.kind} ${loser.name}`, sinceMs, () => sums[loser.kind].get(network, loser.name, sinceMs));
    return BigInt(Math.max(0, gwei)) * WEI_PER_GWEI;
  };
}
