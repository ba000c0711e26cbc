import { setImmediate } from "node:timers/promises";
import type { FillHistory } from "../../../ports/read-model.ts";
import { hasColumn, type Statements } from "../statements.ts";
import type { ArchiveReader } from "./archive-reader.ts";
import { decodePrices } from "./price-codec.ts";

/** So many archives are unpacked before the daemon has its turn again. */
const AT_ONCE = 25;

interface FillRow {
  readonly id: string;
  readonly run_id: string;
  readonly sold: string;
  readonly bought: string;
  readonly sell_decimals: number;
  readonly buy_decimals: number;
  readonly price_evidence: string | null;
}

/**
 * The newest fills that have reference prices of their decision, those of archived runs too. A database of before these
 * were kept has none.
 */
export async function readFills(
  sql: Statements,
  archives: ArchiveReader,
  limit: number,
): Promise<readonly FillHistory[]> {
  if (!hasColumn(sql, "swaps", "price_evidence")) return [];
  const rows = sql.all<FillRow>(
    `SELECT id, run_id, sold, bought, sell_decimals, buy_decimals, price_evidence FROM swaps
     WHERE block_number IS NOT NULL ORDER BY block_number DESC LIMIT ?`,
    limit,
  );
  const fills: FillHistory[] = [];
  let unpacked = 0;
  for (const row of rows) {
    if (row.price_evidence === null && ++unpacked % AT_ONCE === 0) await setImmediate();
    const evidence = row.price_evidence ?? archivedEvidence(archives, row);
    const prices = typeof evidence === "string" ? decodePrices(evidence) : undefined;
    if (prices?.sold === undefined || prices.bought === undefined) continue;
    fills.push({
      sold: { raw: BigInt(row.sold), decimals: row.sell_decimals, usd: prices.sold.usd },
      bought: { raw: BigInt(row.bought), decimals: row.buy_decimals, usd: prices.bought.usd },
    });
  }
  return fills;
}

type ArchivedPrices = Pick<FillRow, "id" | "price_evidence">;

/** An archive that somebody made unreadable, which `db check` tells of, has no prices and keeps nobody from the others. */
function archivedEvidence(archives: ArchiveReader, { id, run_id: runId }: FillRow): string | null | undefined {
  try {
    const swaps = archives.ofRun(runId)?.rows<ArchivedPrices>("swaps");
    return swaps?.find((swap) => swap.id === id)?.price_evidence;
  } catch {
    return undefined;
  }
}
