import type { CostHistory, PricesHistory, SwapHistory } from "../../../ports/history.ts";
import { hasColumn, hasTable, type Statements } from "../statements.ts";
import type { Archive } from "./archive-reader.ts";

interface SwapRow {
  id: string;
  state: string;
  reason: string | null;
  mode: string | null;
  wallet: string;
  sell_symbol: string;
  sell_token: string;
  sell_decimals: number;
  buy_symbol: string;
  buy_token: string;
  buy_decimals: number;
  amount_in: string | null;
  sold: string | null;
  bought: string | null;
  hash: string | null;
  block_number: number | null;
  /** these four are missing in a database that no daemon of this release has opened yet */
  block_time_seconds?: number | null;
  swap_fee?: string | null;
  affiliate_fee?: string | null;
  price_evidence?: string | null;
  quote_id: string | null;
  recipient: string;
  nonce: string | null;
  deadline_seconds: number | null;
  distributions: string | null;
  service_record: string | null;
}

/** The swaps of a run, in their order. @param archive where the rest of the run's rows are, if they were archived */
export function readSwaps(sql: Statements, runId: string, archive: Archive | undefined): readonly SwapHistory[] {
  const rows = sql.all<SwapRow>("SELECT * FROM swaps WHERE run_id = ? ORDER BY position, attempt", runId);
  if (archive !== undefined) {
    const others = new Map(archive.rows<SwapRow>("swaps").map((row) => [row.id, row]));
    return rows.map((row) => ({
      ...decodeSwap({ ...row, ...others.get(row.id) }),
      costs: archivedCosts(archive, row.id),
    }));
  }
  const costsOf = hasTable(sql, "lane_costs") ? readCosts : () => [];
  return rows.map((row) => ({ ...decodeSwap(row), costs: costsOf(sql, row.id) }));
}

function decodeSwap(row: SwapRow): Omit<SwapHistory, "costs"> {
  return {
    id: row.id,
    state: row.state,
    reason: row.reason,
    mode: row.mode,
    wallet: row.wallet,
    sell: { symbol: row.sell_symbol, address: row.sell_token, decimals: row.sell_decimals },
    buy: { symbol: row.buy_symbol, address: row.buy_token, decimals: row.buy_decimals },
    gross: row.amount_in,
    sold: row.sold,
    bought: row.bought,
    hash: row.hash,
    blockNumber: row.block_number,
    blockTimeSeconds: row.block_time_seconds ?? null,
    fees: { swap: row.swap_fee ?? null, affiliate: row.affiliate_fee ?? null },
    prices: typeof row.price_evidence === "string" ? (JSON.parse(row.price_evidence) as PricesHistory) : null,
    quoteId: row.quote_id,
    recipient: row.recipient,
    nonce: row.nonce ?? null,
    deadlineSeconds: row.deadline_seconds ?? null,
    distributions: row.distributions,
    serviceRecord: row.service_record,
  };
}

/** A row of `lane_costs`. */
interface StoredCost {
  readonly intent_id: string;
  readonly hash: string;
  readonly succeeded: number;
  readonly block_number: number;
  readonly block_time_seconds: number;
  readonly gas_used: string;
  readonly gas_price: string;
  readonly data_fee: string | null;
}

function archivedCosts(archive: Archive, swapId: string): readonly CostHistory[] {
  const attempts = new Map(
    archive
      .rows<{ hash: string; kind: string; visibility?: string }>("lane_attempts")
      // Before there were others, all were public.
      .map(({ hash, kind, visibility = "public" }) => [hash, { kind, visibility }]),
  );
  const costs = new Map(archive.rows<StoredCost>("lane_costs").map((row) => [row.intent_id, row]));
  return archive
    .rows<{ id: string; purpose: string; nonce: number }>("lane_intents")
    .filter(({ id }) => id.startsWith(`${swapId}.`))
    .sort((one, other) => one.nonce - other.nonce)
    .flatMap(({ id, purpose }) => {
      const cost = costs.get(id);
      const attempt = cost === undefined ? undefined : attempts.get(cost.hash);
      return cost === undefined || attempt === undefined ? [] : [decodeCost(cost, { purpose, ...attempt })];
    });
}

/** For what a transaction was, and how it was sent. */
type SentAs = Pick<CostHistory, "purpose" | "kind" | "visibility">;

function decodeCost(row: StoredCost, of: SentAs): CostHistory {
  return {
    ...of,
    ...{ hash: row.hash, succeeded: row.succeeded === 1, blockNumber: row.block_number },
    ...{
      blockTimeSeconds: row.block_time_seconds,
      gasUsed: row.gas_used,
      gasPrice: row.gas_price,
      dataFee: row.data_fee,
    },
  };
}

/** Transactions are named after their swap, with a point behind it; `/` is the letter that follows the point. */
function readCosts(sql: Statements, swapId: string): readonly CostHistory[] {
  const visibility = hasColumn(sql, "lane_attempts", "visibility") ? "lane_attempts.visibility" : "'public'";
  return sql
    .all<StoredCost & SentAs>(
      `SELECT lane_intents.purpose, lane_attempts.kind, ${visibility} AS visibility, lane_costs.*
       FROM lane_costs JOIN lane_intents ON lane_intents.id = lane_costs.intent_id
         JOIN lane_attempts ON lane_attempts.hash = lane_costs.hash
       WHERE lane_costs.intent_id > ? AND lane_costs.intent_id < ? ORDER BY lane_intents.nonce`,
      `${swapId}.`,
      `${swapId}/`,
    )
    .map(({ purpose, kind, visibility: sent, ...cost }) => decodeCost(cost, { purpose, kind, visibility: sent }));
}
