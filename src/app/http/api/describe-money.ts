import type { z } from "zod";
import { formatUnits } from "../../../domain/money/amount.ts";
import { USD_DECIMALS, type UsdPrice, valueDown } from "../../../domain/money/price.ts";
import type { money } from "./shapes/values.ts";

/** A token as rows and configuration have it. */
export interface PlainToken {
  readonly symbol: string;
  readonly address: string;
  readonly decimals: number;
}

/** The network's own coin has so many decimals on every network. */
export const NATIVE_DECIMALS = 18;

/** An amount as the API writes it. */
export function moneyOf(raw: bigint, { symbol, address, decimals }: PlainToken): z.output<typeof money> {
  return { amount: formatUnits(raw, decimals), raw: raw.toString(), decimals, symbol, address };
}

/** The same of text out of a row, where there is any. */
export function moneyOrNull(raw: string | null | undefined, token: PlainToken): z.output<typeof money> | null {
  return raw === null || raw === undefined ? null : moneyOf(BigInt(raw), token);
}

/** Dollars (1e-18) as decimal text. */
export function dollarsOf(usd: bigint): string {
  return formatUnits(usd, USD_DECIMALS);
}

/** What an amount is worth; null without a price. */
export function worthOf(raw: bigint, decimals: number, usd: string | undefined): string | null {
  return usd === undefined ? null : dollarsOf(valueDown({ raw, decimals }, BigInt(usd) as UsdPrice));
}

/** How far a value is from another one, in basis points with two places; null where that is nothing. */
export function basisPointsFrom(value: bigint, from: bigint): string | null {
  if (from <= 0n) return null;
  return formatUnits(((value - from) * 1_000_000n) / from, 2);
}

/** An instant as the API writes it. */
export function instantOf(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** The same where there is one. */
export function instantOrNull(atMs: number | null | undefined): string | null {
  return atMs === null || atMs === undefined ? null : instantOf(atMs);
}
