import { isCount, isRecord } from "../json.ts";
import type { Address } from "../money/address.ts";
import { mulDivUp, parseRaw } from "../money/amount.ts";
import { smaller } from "../money/bigint.ts";
import { HOUR_MS } from "../time/durations.ts";
import type { RunEnd } from "./kind.ts";
import { restUntil } from "./rest.ts";

/** What one hour's runs sold, in dollars (1e-18, decimal text). */
interface HourSold {
  readonly hour: number;
  readonly usd: string;
}

/** What a run that has not ended yet may sell, by position. */
interface PendingSale {
  readonly hour: number;
  readonly sales: readonly { readonly raw: string; readonly usd: string }[];
}

/** Which tokens are being sold down, until when it rests, and what it sold in the last day. */
export interface SweepMemory {
  readonly version: 1;
  /** addresses of tokens that passed their mark and are not down to what is kept yet */
  readonly sweeping: readonly string[];
  readonly restsUntilMs: number;
  readonly sold: readonly HourSold[];
  readonly pending: PendingSale | null;
}

/** One swap of a run as it is planned: how much of its token, and what that is worth, rounded up. */
export interface PlannedSale {
  readonly raw: bigint;
  readonly usd: bigint;
}

const DAY_HOURS = 24;

/** More hours than a day has, so that none of a day is forgotten, whatever a clock said in between. */
const MOST_HOURS = 48;

/** The memory of a sweep before its first check. */
export const FRESH_SWEEP: SweepMemory = { version: 1, sweeping: [], restsUntilMs: 0, sold: [], pending: null };

/**
 * Dollars sold in the last day. Counted by the hour, and an hour that is only partly within the day counts whole, so the
 * day is never shorter than 24 hours.
 */
export function soldInDay(memory: SweepMemory, nowMs: number): bigint {
  return recent(memory.sold, nowMs).reduce((sum, { usd }) => sum + BigInt(usd), 0n);
}

function recent(sold: readonly HourSold[], nowMs: number): readonly HourSold[] {
  const hour = Math.floor(nowMs / HOUR_MS);
  return sold.filter((entry) => entry.hour >= hour - DAY_HOURS);
}

/** What a clock that ran ahead noted of the future is of now: a cooldown begins, and a sale counts, from now on. */
export function withoutFuture(memory: SweepMemory, cooldownSeconds: number, nowMs: number): SweepMemory {
  const hour = Math.floor(nowMs / HOUR_MS);
  const { sold, pending } = memory;
  const ahead = sold.filter((entry) => entry.hour > hour).reduce((sum, { usd }) => sum + BigInt(usd), 0n);
  const known = sold.filter((entry) => entry.hour <= hour);
  return {
    ...memory,
    restsUntilMs: restUntil(memory.restsUntilMs, cooldownSeconds, nowMs),
    sold: ahead === 0n ? sold : added(known, hour, ahead),
    pending: pending === null ? null : { ...pending, hour: Math.min(pending.hour, hour) },
  };
}

/** What a run is about to sell counts from its decision on, so a run that never reports its end counts too. */
export function withPlanned(memory: SweepMemory, sales: readonly PlannedSale[], nowMs: number): SweepMemory {
  const hour = Math.floor(nowMs / HOUR_MS);
  const usd = sales.reduce((sum, sale) => sum + sale.usd, 0n);
  const pending = { hour, sales: sales.map((sale) => ({ raw: sale.raw.toString(), usd: sale.usd.toString() })) };
  return { ...memory, sold: added(memory.sold, hour, usd), pending };
}

/**
 * After its end a run counts as much as it sold, at the prices of its decision, rounded up, and from its end on: a swap that
 * a person approves is sold long after its decision.
 */
export function withMeasured(memory: SweepMemory, end: RunEnd): SweepMemory {
  const { pending } = memory;
  if (pending === null) return memory;
  const planned = pending.sales.reduce((sum, { usd }) => sum + BigInt(usd), 0n);
  const measured = pending.sales.reduce((sum, { raw, usd }, position) => {
    const sold = end.swaps.find((swap) => swap.position === position)?.sold ?? 0n;
    const worth = BigInt(raw) === 0n ? 0n : mulDivUp(sold, BigInt(usd), BigInt(raw));
    return sum + smaller(worth, BigInt(usd));
  }, 0n);
  const hour = Math.max(pending.hour, Math.floor(end.nowMs / HOUR_MS));
  return { ...memory, sold: added(added(memory.sold, pending.hour, -planned), hour, measured), pending: null };
}

function added(sold: readonly HourSold[], hour: number, usd: bigint): readonly HourSold[] {
  const before = sold.find((entry) => entry.hour === hour);
  const sum = BigInt(before?.usd ?? "0") + usd;
  const others = sold.filter((entry) => entry.hour !== hour);
  return sum > 0n ? [...others, { hour, usd: sum.toString() }].slice(-MOST_HOURS) : others;
}

/** Whether a token passed its threshold and is not down to what is kept yet. */
export function isSweeping(memory: SweepMemory, token: Address): boolean {
  return memory.sweeping.includes(token);
}

/** Reads stored memory. @returns undefined when it is none of a sweep */
export function parseSweepMemory(json: unknown): SweepMemory | undefined {
  if (!isRecord(json) || json.version !== 1) return undefined;
  const { sweeping, restsUntilMs, sold, pending } = json;
  if (!Array.isArray(sweeping) || !sweeping.every((token) => typeof token === "string")) return undefined;
  if (!isCount(restsUntilMs) || !Array.isArray(sold) || !sold.every(isHourSold)) return undefined;
  if (pending !== null && !isPending(pending)) return undefined;
  return { version: 1, sweeping, restsUntilMs, sold, pending };
}

function isHourSold(json: unknown): json is HourSold {
  return isRecord(json) && isCount(json.hour) && parseRaw(json.usd) !== undefined;
}

function isPending(json: unknown): json is PendingSale {
  if (!isRecord(json) || !isCount(json.hour) || !Array.isArray(json.sales)) return false;
  return json.sales.every(
    (sale: unknown) => isRecord(sale) && parseRaw(sale.raw) !== undefined && parseRaw(sale.usd) !== undefined,
  );
}
