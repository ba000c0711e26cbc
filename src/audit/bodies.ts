import type SqliteConstructor from "better-sqlite3";
import { z } from "zod";
import type { ArchivedRows } from "./archives.ts";
import type { SwapRow } from "./rows.ts";

/** What the body of a swap says, alongside what its columns say; `readable` is 0 where it is no JSON. */
export interface BodyRow {
  readonly id: string;
  readonly readable: number;
  readonly quote_id: string | null;
  readonly body_quote_id: string | null;
  readonly amount_out_min: string | null;
  readonly body_amount_out_min: string | null;
}

/** Bodies are long: SQLite compares them, and only those that differ are read. What a body does not say is no difference. */
export function differingBodies(db: SqliteConstructor.Database, where: string): BodyRow[] {
  const text = `SELECT * FROM (
    SELECT id, json_valid(body) AS readable, quote_id, amount_out_min,
      iif(json_valid(body), json_extract(body, '$.quote.id'), NULL) AS body_quote_id,
      iif(json_valid(body), json_extract(body, '$.terms.amountOutMin."$bigint"'), NULL) AS body_amount_out_min
    FROM swaps WHERE ${where}
  ) WHERE readable = 0 OR (body_quote_id IS NOT NULL AND body_quote_id IS NOT quote_id)
    OR (body_amount_out_min IS NOT NULL AND body_amount_out_min IS NOT amount_out_min)`;
  return db.prepare<[], BodyRow>(text).all();
}

/** The same of swaps whose body is in an archive. */
export function archivedBodies(archived: ArchivedRows, swaps: ReadonlyMap<string, SwapRow>): BodyRow[] {
  return archived.of("swaps").map((row) => {
    const body = z.object({ quote, terms }).safeParse(parseOrUndefined(String(row.body)));
    const [id, quoteId] = [String(row.id), row.quote_id === null ? null : String(row.quote_id)];
    return {
      id,
      readable: body.success ? 1 : 0,
      quote_id: quoteId,
      body_quote_id: body.data?.quote?.id ?? null,
      amount_out_min: swaps.get(id)?.amount_out_min?.toString() ?? null,
      body_amount_out_min: body.data?.terms?.amountOutMin?.$bigint ?? null,
    };
  });
}

const quote = z.object({ id: z.string().optional() }).optional();
const terms = z.object({ amountOutMin: z.object({ $bigint: z.string().optional() }).optional() }).optional();

/** What a text says as JSON; undefined where it is none. */
export function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: the caller reports it.
    return undefined;
  }
}
