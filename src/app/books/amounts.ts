import type { Quantity } from "../../domain/books/entry.ts";
import { formatUnits } from "../../domain/money/amount.ts";
import { USD_DECIMALS } from "../../domain/money/price.ts";

/** Exact, in whole units. */
export function exactAmount({ raw, asset }: Quantity): string {
  return formatUnits(raw, asset.decimals);
}

/** Exact dollars. */
export function exactDollars(usd: bigint): string {
  return formatUnits(usd, USD_DECIMALS);
}

/** `2026-01-31 09:00:00`, in UTC. */
export function utcSecond(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19).replace("T", " ");
}

/** `2026-01-31`, in UTC. */
export function utcDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}
