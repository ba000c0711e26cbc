import { isCount, isRecord } from "../json.ts";
import { type Address, parseAddress } from "../money/address.ts";
import { parseRaw } from "../money/amount.ts";
import type { Token } from "../money/token.ts";
import type { Carry, DcaLeg } from "./dca-order.ts";
import type { RunEnd } from "./kind.ts";

/**
 * What a DCA strategy remembers. What it spent is counted from the recorded swaps, not here. Amounts are in the sold
 * token's smallest unit.
 */
export interface DcaMemory {
  readonly version: 1;
  /** runs that bought something */
  readonly runs: number;
  /** what fees kept from being sold, by the address of the token that it shall buy */
  readonly carry: Readonly<Record<Address, string>>;
  /** the order that is being executed: what each leg sells, and what had been spent before it */
  readonly open?: { readonly slotMs: number; readonly spent: string; readonly legs: readonly OpenLeg[] } | undefined;
}

interface OpenLeg {
  readonly buy: Address;
  readonly own: string;
  readonly carried: string;
}

/** Why a leg sold nothing when only its fees were in the way. */
const FEES_TOO_HIGH: ReadonlySet<string> = new Set(["FEE_CAP_EXCEEDED", "SWAP_FEE_TOO_HIGH"]);

/** Why a swap was not signed that is worth less than the policy lets any be. */
const TOO_SMALL = "TRADE_TOO_SMALL";

/** The memory of a strategy that has never decided. */
export function emptyMemory(): DcaMemory {
  return { version: 1, runs: 0, carry: {} };
}

/** The memory while an order is being executed. */
export function withOrder(
  memory: DcaMemory,
  order: { slotMs: number; spent: bigint; legs: readonly DcaLeg[]; left: Carry },
): DcaMemory {
  const legs = order.legs.map(({ buy, own, carried }) => ({
    buy: buy.address,
    own: own.toString(),
    carried: carried.toString(),
  }));
  const open = { slotMs: order.slotMs, spent: order.spent.toString(), legs };
  return { version: 1, runs: memory.runs, carry: writeCarry(order.left), open };
}

/** What is carried over to the next order. */
export function carryOf(memory: DcaMemory): Carry {
  return new Map(Object.entries(memory.carry).map(([token, raw]) => [token as Address, BigInt(raw)]));
}

/**
 * The memory after a run. What fees alone kept from being sold is carried over; what an order had taken of the carry goes
 * back to it when the leg sold nothing for another reason, or in a dry run. Amounts of another token than `sell` mean
 * nothing any more.
 */
export function afterRun(memory: DcaMemory, end: RunEnd, rule: { sell: Token; carries: boolean }): DcaMemory {
  const runs = memory.runs + (end.filled ? 1 : 0);
  const { open } = memory;
  if (open?.slotMs !== end.slotMs || !rule.carries)
    return { version: 1, runs, carry: rule.carries ? memory.carry : {} };
  const carry = new Map(carryOf(memory));
  for (const swap of end.swaps) {
    const leg = open.legs[swap.position];
    if (leg === undefined || swap.sold > 0n || swap.sell.address !== rule.sell.address) continue;
    const tooDear = end.dry !== true && swap.reason !== undefined && FEES_TOO_HIGH.has(swap.reason);
    const back = BigInt(leg.carried) + (tooDear ? BigInt(leg.own) : 0n);
    carry.set(leg.buy, (carry.get(leg.buy) ?? 0n) + back);
  }
  return { version: 1, runs, carry: writeCarry(carry) };
}

/** What a strategy had spent once this run had ended, by its measured fills; undefined when it is not its open order. */
export function spentAfter(memory: DcaMemory, end: RunEnd, sell: Token): bigint | undefined {
  if (memory.open?.slotMs !== end.slotMs) return undefined;
  const sold = end.swaps.filter((swap) => swap.sell.address === sell.address);
  if (sold.length < end.swaps.length) return undefined;
  return sold.reduce((sum, swap) => sum + swap.sold, BigInt(memory.open.spent));
}

/** Whether the order was all that its budget leaves, and the policy calls each part of it too small: so is what remains. */
export function isRestTooSmall({ open }: DcaMemory, end: RunEnd, total: bigint): boolean {
  if (open?.slotMs !== end.slotMs || end.dry === true) return false;
  const ordered = open.legs.map(({ own, carried }) => BigInt(own) + BigInt(carried));
  const isAll = ordered.reduce((sum, raw) => sum + raw, BigInt(open.spent)) >= total;
  return isAll && end.swaps.every(({ reason }) => reason === TOO_SMALL);
}

/** Reads stored memory. Version 1 began without any field of its own: what is absent is empty. */
export function parseDcaMemory(json: unknown): DcaMemory | undefined {
  if (!isRecord(json) || json.version !== 1) return undefined;
  const { runs = 0, carry = {}, open } = json;
  if (!isCount(runs) || !isCarry(carry)) return undefined;
  if (open === undefined) return { version: 1, runs, carry };
  return isOpen(open) ? { version: 1, runs, carry, open } : undefined;
}

function isCarry(json: unknown): json is DcaMemory["carry"] {
  return (
    isRecord(json) &&
    Object.entries(json).every(([token, raw]) => parseAddress(token) !== undefined && parseRaw(raw) !== undefined)
  );
}

function isOpen(json: unknown): json is NonNullable<DcaMemory["open"]> {
  if (!isRecord(json)) return false;
  const { slotMs, spent, legs } = json;
  return isCount(slotMs) && parseRaw(spent) !== undefined && Array.isArray(legs) && legs.every(isOpenLeg);
}

function isOpenLeg(json: unknown): json is OpenLeg {
  if (!isRecord(json)) return false;
  const { buy, own, carried } = json;
  return (
    typeof buy === "string" &&
    parseAddress(buy) !== undefined &&
    [own, carried].every((raw) => parseRaw(raw) !== undefined)
  );
}

function writeCarry(carry: Carry): DcaMemory["carry"] {
  return Object.fromEntries([...carry].filter(([, raw]) => raw > 0n).map(([token, raw]) => [token, raw.toString()]));
}
