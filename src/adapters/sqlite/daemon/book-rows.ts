import { isRecord } from "../../../domain/json.ts";
import { type Hex, toAddress } from "../../../domain/money/address.ts";
import type { PriceEvidence } from "../../../domain/run/records.ts";
import type { BookBaseline, BookFill, BookRows, BookTransaction } from "../../../ports/book-rows.ts";
import { readPaperHolding } from "../paper/paper-rows.ts";
import { hasColumn, hasTable, type Statements } from "../statements.ts";
import { type Archive, createArchiveReader } from "./archive-reader.ts";
import { readLotOrders } from "./lot-order-rows.ts";
import { decodePrices } from "./price-codec.ts";

/** The columns of a swap that books need; the last four are missing in a database of an older release. */
interface SwapRow {
  readonly id: string;
  readonly strategy: string;
  readonly slot_ms: number;
  readonly archive?: number | null;
  readonly run_id: string;
  readonly state: string;
  readonly mode: BookFill["mode"] | null;
  readonly wallet: string;
  readonly recipient: string;
  readonly sell_token: string;
  readonly sell_symbol: string;
  readonly sell_decimals: number;
  readonly buy_token: string;
  readonly buy_symbol: string;
  readonly buy_decimals: number;
  readonly sold: string;
  readonly bought: string;
  readonly hash: Hex;
  readonly block_number: number;
  readonly body: string;
  /** of a row whose body is in an archive */
  readonly isAssumed?: boolean;
  readonly block_time_seconds?: number | null;
  readonly swap_fee?: string | null;
  readonly affiliate_fee?: string | null;
  readonly price_evidence?: string | null;
}

/** A transaction's cost, with what its intent and its attempt say of it. */
interface CostRow {
  readonly id: string;
  readonly account: string;
  readonly purpose: string;
  readonly kind: string;
  readonly hash: Hex;
  readonly succeeded: number;
  readonly block_number: number;
  readonly block_time_seconds: number;
  readonly gas_used: string;
  readonly gas_price: string;
  readonly data_fee: string | null;
}

/** What an archive has of a swap, for the books: of its body no more is kept than what they ask of it. */
type ArchivedSwap = Pick<SwapRow, "isAssumed" | "price_evidence">;

/** Reads all that books are made of, archived runs too. What is not final is named and left out. */
export function readBookRows(sql: Statements): BookRows {
  const { created_at_ms: createdAtMs = 0 } =
    sql.get<{ created_at_ms: number }>("SELECT created_at_ms FROM identity") ?? {};
  const archived = readArchived(sql);
  const swapOf = (id: string): SwapRow | undefined => {
    const row = sql.get<SwapRow>(`${SELECT_SWAPS} WHERE swaps.id = ?`, id);
    return row === undefined ? undefined : { ...row, ...archived.swaps.get(id) };
  };
  // One after the other: the bodies of all swaps at once would take many times the room of what is kept of them.
  const fills = sql
    .column<string>("SELECT id FROM swaps WHERE block_number IS NOT NULL AND state = 'final' ORDER BY block_number")
    .flatMap((id) => {
      const row = swapOf(id);
      return row === undefined ? [] : [decodeFill(row)];
    });
  // A swap has several transactions: its prices are there once.
  const known = new Map(fills.map((fill) => [fill.swapId, fill]));
  const tradeOf = (id: string): BookTransaction["swap"] => {
    const fill = known.get(id);
    if (fill !== undefined) return { id, strategy: fill.strategy, prices: fill.prices };
    const row = swapOf(id);
    return row === undefined ? undefined : { id, strategy: row.strategy, prices: pricesOf(row) };
  };
  return {
    createdAtMs,
    baselines: readBaselines(sql),
    fills,
    transactions: [...archived.costs, ...readCosts(sql)].map((row) => decodeTransaction(row, tradeOf)),
    open: sql.all(
      `SELECT id AS swapId, state FROM swaps
       WHERE state IN ('signed', 'submitted', 'mined', 'confirmed', 'unknown') ORDER BY id`,
    ),
    lotOrders: readLotOrders(sql),
    isPaper: hasTable(sql, "paper_starts"),
  };
}

const SELECT_SWAPS = "SELECT swaps.*, runs.strategy, runs.slot_ms FROM swaps JOIN runs ON runs.id = swaps.run_id";

/** What stands in archives: the rest of each swap's row, and what transactions cost. */
function readArchived(sql: Statements): {
  readonly swaps: ReadonlyMap<string, ArchivedSwap>;
  readonly costs: readonly CostRow[];
} {
  const swaps = new Map<string, ArchivedSwap>();
  const costs: CostRow[] = [];
  if (!hasColumn(sql, "runs", "archive")) return { swaps, costs };
  const archives = createArchiveReader(sql);
  for (const id of sql.column<string>("SELECT id FROM runs WHERE archive IS NOT NULL ORDER BY archive")) {
    const archive = archives.ofRun(id);
    if (archive === undefined) continue;
    for (const { id: swapId, body, price_evidence = null } of archive.rows<SwapRow>("swaps"))
      swaps.set(swapId, { isAssumed: isAssumed(body), price_evidence });
    costs.push(...archivedCosts(archive));
  }
  return { swaps, costs };
}

function archivedCosts(archive: Archive): CostRow[] {
  const kinds = new Map(
    archive.rows<{ hash: string; kind: string }>("lane_attempts").map((row) => [row.hash, row.kind]),
  );
  const intents = new Map(
    archive.rows<Pick<CostRow, "id" | "account" | "purpose">>("lane_intents").map((row) => [row.id, row]),
  );
  return archive.rows<Omit<CostRow, "id"> & { intent_id: string }>("lane_costs").flatMap((cost) => {
    const intent = intents.get(cost.intent_id);
    const kind = kinds.get(cost.hash);
    if (intent === undefined || kind === undefined) return [];
    return [{ ...cost, id: intent.id, account: intent.account, purpose: intent.purpose, kind }];
  });
}

function readCosts(sql: Statements): readonly CostRow[] {
  if (!hasTable(sql, "lane_costs")) return [];
  return sql.all<CostRow>(
    `SELECT lane_intents.id, account, purpose, lane_attempts.kind, lane_costs.*
     FROM lane_costs JOIN lane_intents ON lane_intents.id = lane_costs.intent_id
       JOIN lane_attempts ON lane_attempts.hash = lane_costs.hash
     WHERE lane_intents.state = 'final' AND purpose <> 'relay' ORDER BY lane_costs.block_number, lane_intents.nonce`,
  );
}

function readBaselines(sql: Statements): readonly BookBaseline[] {
  const rows = sql.all<{
    wallet: string;
    token: string;
    symbol: string;
    decimals: number;
    block_number: number;
    block_time_seconds?: number | null;
    balance: string;
  }>("SELECT * FROM baselines ORDER BY block_number, wallet, token");
  const isPaper = hasTable(sql, "paper_starts");
  return rows.map(({ wallet: account, token: address, symbol, decimals, balance, ...row }) => {
    const [wallet, token] = [toAddress(account), toAddress(address)];
    // On paper the chain shows what is lent for gas beside what a wallet has.
    const own = isPaper ? readPaperHolding(sql, { account: wallet, token }, row.block_number) : undefined;
    return {
      wallet,
      token: { symbol, address: token, decimals },
      blockNumber: row.block_number,
      blockTimeSeconds: row.block_time_seconds ?? undefined,
      balance: own === undefined ? BigInt(balance) : own > 0n ? own : 0n,
    };
  });
}

function decodeFill(row: SwapRow): BookFill {
  const { sell_symbol: sellSymbol, buy_symbol: buySymbol } = row;
  return {
    ...{ swapId: row.id, strategy: row.strategy, slotMs: row.slot_ms, mode: row.mode ?? undefined },
    ...{ wallet: toAddress(row.wallet), recipient: toAddress(row.recipient) },
    sell: { symbol: sellSymbol, address: toAddress(row.sell_token), decimals: row.sell_decimals },
    buy: { symbol: buySymbol, address: toAddress(row.buy_token), decimals: row.buy_decimals },
    ...{ sold: BigInt(row.sold), bought: BigInt(row.bought), hash: row.hash, blockNumber: row.block_number },
    ...{ swapFee: amountOf(row.swap_fee), affiliateFee: amountOf(row.affiliate_fee) },
    blockTimeSeconds: row.block_time_seconds ?? undefined,
    prices: pricesOf(row),
    isAssumed: row.isAssumed ?? isAssumed(row.body),
  };
}

function amountOf(text: string | null | undefined): bigint | undefined {
  return typeof text === "string" ? BigInt(text) : undefined;
}

function pricesOf({ price_evidence: text }: SwapRow): PriceEvidence | undefined {
  return typeof text === "string" ? decodePrices(text) : undefined;
}

function isAssumed(body: string): boolean {
  const stored: unknown = JSON.parse(body);
  return isRecord(stored) && isRecord(stored.fill) && stored.fill.assumed === true;
}

/** Transactions of a swap are named after it, with a point and their purpose behind its id. */
function decodeTransaction(row: CostRow, tradeOf: (id: string) => BookTransaction["swap"]): BookTransaction {
  return {
    id: row.id,
    account: toAddress(row.account),
    purpose: row.purpose as BookTransaction["purpose"],
    isCancellation: row.kind === "cancel" || row.id.startsWith("gap."),
    succeeded: row.succeeded === 1,
    ...{ hash: row.hash, blockNumber: row.block_number, blockTimeSeconds: row.block_time_seconds },
    cost: BigInt(row.gas_used) * BigInt(row.gas_price) + BigInt(row.data_fee ?? 0),
    swap: tradeOf(row.id.slice(0, Math.max(0, row.id.lastIndexOf(".")))),
  };
}
