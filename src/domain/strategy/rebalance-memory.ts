import { isCount, isRecord } from "../json.ts";
import { parseRaw } from "../money/amount.ts";
import { HOUR_MS } from "../time/durations.ts";

/** Amounts by token address, as decimal text. */
export type RawByToken = Readonly<Record<string, string>>;

/** What the open run is about, so that its end can be understood without a second look at the market. */
export interface RunNote {
  readonly slotMs: number;
  /** `deposit` spends new money only, `owed` what an earlier run sold without buying */
  readonly purpose: "mix" | "deposit" | "owed";
  /** a limit left something of the way for the next slots */
  readonly isCut: boolean;
  /** one entry a swap */
  readonly legs: readonly {
    /** share of the mix's value that it moves, in parts per million */
    readonly turnover: number;
    /** the swaps whose proceeds it spends */
    readonly of: readonly number[];
  }[];
  /** proceeds that are needed to refill the token that swaps go over, in its smallest unit */
  readonly hole: string;
  /** proceeds below this are no trade of their own */
  readonly least: string;
}

/** What a rebalance strategy remembers. */
export interface RebalanceMemory {
  readonly version: 2;
  /** since when a weight has been outside its soft or hard band */
  readonly softSinceMs?: number | undefined;
  readonly hardSinceMs?: number | undefined;
  /** when the bands were last checked */
  readonly lookedMs?: number | undefined;
  /** end of the last rebalance that reached its destination: the cooldown counts from here */
  readonly doneMs?: number | undefined;
  /** a rebalance has begun that a limit spreads over several slots */
  readonly isConverging: boolean;
  /** turnover of the last day, by the hour */
  readonly turnover: readonly { readonly hourMs: number; readonly ppm: number }[];
  readonly run?: RunNote | undefined;
  /** balances less what our swaps did to them, when last seen: what they rise by is a deposit */
  readonly outside: RawByToken;
  /** deposits that were not put to work yet */
  readonly fresh: RawByToken;
  /** what sells brought whose buys brought nothing: spent before anything else is sold again */
  readonly owed: RawByToken;
}

/** The memory of a strategy that has never decided. */
export const NO_MEMORY: RebalanceMemory = {
  version: 2,
  isConverging: false,
  turnover: [],
  outside: {},
  fresh: {},
  owed: {},
};

/** Reads stored memory. Version 1 remembered nothing. */
export function parseRebalanceMemory(json: unknown): RebalanceMemory | undefined {
  if (!isRecord(json)) return undefined;
  if (json.version === 1) return NO_MEMORY;
  const { softSinceMs, hardSinceMs, lookedMs, doneMs, isConverging, turnover, run, outside, fresh, owed } = json;
  const instants = [softSinceMs, hardSinceMs, lookedMs, doneMs];
  const isRight =
    json.version === 2 &&
    instants.every((instant) => instant === undefined || isCount(instant)) &&
    typeof isConverging === "boolean" &&
    Array.isArray(turnover) &&
    turnover.every((entry) => isRecord(entry) && isCount(entry.hourMs) && isCount(entry.ppm)) &&
    (run === undefined || isRunNote(run)) &&
    [outside, fresh, owed].every(isRawByToken);
  return isRight ? (json as unknown as RebalanceMemory) : undefined;
}

function isRunNote(json: unknown): boolean {
  if (!isRecord(json) || !isCount(json.slotMs) || typeof json.isCut !== "boolean") return false;
  if (json.purpose !== "mix" && json.purpose !== "deposit" && json.purpose !== "owed") return false;
  if (parseRaw(json.hole) === undefined || parseRaw(json.least) === undefined || !Array.isArray(json.legs))
    return false;
  return json.legs.every(
    (leg) => isRecord(leg) && isCount(leg.turnover) && Array.isArray(leg.of) && leg.of.every(isCount),
  );
}

/** Money from outside may be negative: what we sold may have been bought elsewhere. */
function isRawByToken(json: unknown): boolean {
  return isRecord(json) && Object.values(json).every((raw) => typeof raw === "string" && /^-?[0-9]{1,80}$/.test(raw));
}

/** An amount of a token; zero when nothing is noted. */
export function rawIn(amounts: RawByToken, address: string): bigint {
  return BigInt(amounts[address] ?? "0");
}

/** The amounts with one of them changed; nothing is noted of a token that has none. */
export function withRaw(amounts: RawByToken, address: string, raw: bigint): RawByToken {
  const { [address]: _before, ...others } = amounts;
  return raw === 0n ? others : { ...others, [address]: raw.toString() };
}

/** What a clock that ran ahead noted of the future is of now: a cooldown begins, and turnover counts, from now on. */
export function withoutFuture(memory: RebalanceMemory, nowMs: number): RebalanceMemory {
  const doneMs = memory.doneMs === undefined ? undefined : Math.min(memory.doneMs, nowMs);
  const ahead = memory.turnover.filter(({ hourMs }) => hourMs > nowMs);
  const known = { ...memory, doneMs, turnover: memory.turnover.filter(({ hourMs }) => hourMs <= nowMs) };
  return withTurnover(known, sumOf(ahead), nowMs);
}

/** Turnover of at least the last 24 hours: an hour counts until its end is a day ago. */
export function turnoverOfDay(memory: RebalanceMemory, nowMs: number): bigint {
  return BigInt(sumOf(memory.turnover.filter(({ hourMs }) => hourMs + 25 * HOUR_MS > nowMs)));
}

/** More hours than a day has, so that none of a day is forgotten, whatever a clock said in between. */
const MOST_HOURS = 48;

/** Notes turnover in its hour, and forgets the oldest hours. */
export function withTurnover(memory: RebalanceMemory, ppm: number, nowMs: number): RebalanceMemory {
  if (ppm === 0) return memory;
  const hourMs = nowMs - (nowMs % HOUR_MS);
  const before = memory.turnover.find((entry) => entry.hourMs === hourMs)?.ppm ?? 0;
  const others = memory.turnover.filter((entry) => entry.hourMs !== hourMs);
  return { ...memory, turnover: [...others, { hourMs, ppm: before + ppm }].slice(-MOST_HOURS) };
}

function sumOf(turnover: RebalanceMemory["turnover"]): number {
  return turnover.reduce((sum, { ppm }) => sum + ppm, 0);
}
