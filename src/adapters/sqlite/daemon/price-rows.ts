import type { UsdPrice } from "../../../domain/money/price.ts";
import { HOUR_MS } from "../../../domain/time/durations.ts";
import type { Statements } from "../statements.ts";
import type { RowStore } from "./row-store.ts";

interface BarColumns {
  hour_ms: number;
  high: string;
  low: string;
  close: string;
  samples: number;
}

/** Rows of reference prices by the hour. Prices are compared as bigint, never by SQL, which would compare text. */
export function createPriceRows(sql: Statements): Pick<RowStore, "addPriceSample" | "priceBars" | "prunePriceBars"> {
  return {
    addPriceSample: (token, atMs, usd) => {
      const hourMs = Math.floor(atMs / HOUR_MS) * HOUR_MS;
      const row = sql.get<BarColumns>("SELECT * FROM price_bars WHERE token = ? AND hour_ms = ?", token, hourMs);
      const high = row === undefined || usd > BigInt(row.high) ? usd : BigInt(row.high);
      const low = row === undefined || usd < BigInt(row.low) ? usd : BigInt(row.low);
      sql.run(
        `INSERT INTO price_bars (token, hour_ms, high, low, close, samples) VALUES (?, ?, ?, ?, ?, 1)
         ON CONFLICT (token, hour_ms) DO UPDATE SET
           high = excluded.high, low = excluded.low, close = excluded.close, samples = samples + 1`,
        token,
        hourMs,
        high.toString(),
        low.toString(),
        usd.toString(),
      );
    },
    priceBars: (token, sinceMs) =>
      sql
        .all<BarColumns>(
          "SELECT * FROM price_bars WHERE token = ? AND hour_ms >= ? ORDER BY hour_ms",
          token,
          Math.floor(sinceMs / HOUR_MS) * HOUR_MS,
        )
        .map((row) => ({
          hourMs: row.hour_ms,
          high: BigInt(row.high) as UsdPrice,
          low: BigInt(row.low) as UsdPrice,
          close: BigInt(row.close) as UsdPrice,
          samples: row.samples,
        })),
    prunePriceBars: (token, { sinceMs, untilMs }) => {
      sql.run("DELETE FROM price_bars WHERE token = ? AND hour_ms <= ?", token, sinceMs - HOUR_MS);
      sql.run("DELETE FROM price_bars WHERE token = ? AND hour_ms > ?", token, untilMs);
    },
  };
}
