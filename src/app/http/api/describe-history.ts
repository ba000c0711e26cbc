import { type Address, NATIVE_TOKEN } from "../../../domain/money/address.ts";
import { formatUnits } from "../../../domain/money/amount.ts";
import { type UsdPrice, valueDown } from "../../../domain/money/price.ts";
import { isNative, type Token } from "../../../domain/money/token.ts";
import type { PriceBar } from "../../../domain/strategy/decision.ts";
import { HOUR_MS } from "../../../domain/time/durations.ts";
import type { Movement, SeenPrice } from "../../../ports/listing.ts";
import { dollarsOf } from "./describe-money.ts";
import type { AnswerOf } from "./operations.ts";
import { type Held, unreadTokens } from "./read-held.ts";

/** A part of time, Unix milliseconds, and how many points are wanted of it. */
export interface Span {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly points: number;
}

/** What was recorded of a price, oldest first: the end of each hour, and what swaps were judged by. */
export function joinPrices(bars: readonly PriceBar[], seen: readonly SeenPrice[]): readonly SeenPrice[] {
  const closes = bars.map(({ hourMs, close }) => ({ atMs: hourMs + HOUR_MS - 1, usd: close }));
  return [...closes, ...seen].sort((one, other) => one.atMs - other.atMs);
}

/** Recorded prices within a span: where there are more than are wanted, the last of each of as many equal parts. */
export function describePrices(token: Token, prices: readonly SeenPrice[], span: Span): AnswerOf<"getPrices"> {
  const within = prices.filter(({ atMs }) => atMs >= span.sinceMs && atMs <= span.untilMs);
  const kept = within.length <= span.points ? within : [...lastOfEachPart(within, span)];
  const { symbol, address, decimals } = token;
  return {
    token: { symbol, address, decimals },
    atSeconds: kept.map(({ atMs }) => Math.floor(atMs / 1_000)),
    usd: kept.map(({ usd }) => dollarsOf(usd)),
  };
}

function* lastOfEachPart(prices: readonly SeenPrice[], { points }: Span): Iterable<SeenPrice> {
  const [first, last] = [prices.at(0)?.atMs ?? 0, prices.at(-1)?.atMs ?? 0];
  const partOf = ({ atMs }: SeenPrice): number => Math.floor(((atMs - first) * points) / (last - first + 1));
  for (const [index, price] of prices.entries()) {
    const next = prices[index + 1];
    if (next === undefined || partOf(next) !== partOf(price)) yield price;
  }
}

/** What the value over time is calculated from. */
export interface HistoryParts {
  readonly wallets: readonly Address[];
  readonly tokens: readonly Token[];
  readonly known: ReadonlyMap<Address, Held>;
  /** what is the wallets' own of the native coin, which is not in `known`; missing where nobody knows it */
  readonly coins: ReadonlyMap<Address, Held>;
  /** from the newest block down */
  readonly movements: readonly Movement[];
  /** there are older ones that were not read */
  readonly isCut: boolean;
  /** oldest first, by token */
  readonly prices: ReadonlyMap<Address, readonly SeenPrice[]>;
  readonly span: Span;
}

/**
 * Value over time: what the wallets have, taken back fill by fill, at the price that was last recorded then. Where none
 * was recorded yet, before the oldest of the newest fills, and of what is not known now, there is no value. The native
 * coin, of which no rows know, is left out instead, as a whole.
 */
export function describePortfolioHistory(parts: HistoryParts): AnswerOf<"getPortfolioHistory"> {
  const { span, movements, isCut } = parts;
  const unread = unreadIn(parts);
  const tokens = parts.tokens.filter((token) => !unread.has(token));
  const instants = instantsOf(span);
  const oldest = isCut ? movements.at(-1) : undefined;
  const knownMs = oldest === undefined ? 0 : timeOf(oldest);
  const columns = tokens.flatMap((token) => {
    const amounts = amountsOf(parts, token.address, instants);
    if (amounts.every((raw) => raw === 0n)) return [];
    const prices = pricesAt(parts.prices.get(token.address) ?? [], instants);
    const values = amounts.map((raw, index) =>
      (instants[index] ?? 0) < knownMs ? undefined : worth(raw, token, prices[index]),
    );
    return [{ token, amounts, values }];
  });
  const others = columns.filter(({ token }) => !isNative(token));
  const totalsOf = (some: typeof columns) =>
    instants.map((_, index) => (unread.size > 0 ? null : totalOf(some.map(({ values }) => values[index]))));
  const [whole, withoutCoin] = [totalsOf(columns), totalsOf(others)];
  const isCoinKnown =
    parts.wallets.every((wallet) => parts.coins.has(wallet)) &&
    whole.every((total, index) => total !== null || withoutCoin[index] === null);
  const counted = isCoinKnown ? columns : others;
  return {
    atSeconds: instants.map((atMs) => Math.floor(atMs / 1_000)),
    totalUsd: isCoinKnown ? whole : withoutCoin,
    without: isCoinKnown ? [] : parts.tokens.filter(isNative).map(({ symbol }) => symbol),
    tokens: counted.map(({ token: { symbol, address, decimals }, amounts, values }) => ({
      token: { symbol, address, decimals },
      amount: amounts.map((raw) => formatUnits(raw, decimals)),
      usd: values.map((value) => (value === undefined ? null : dollarsOf(value))),
    })),
  };
}

/** Tokens of which it is not known what some wallet has. */
function unreadIn({ wallets, tokens, known }: HistoryParts): ReadonlySet<Token> {
  const asked = tokens.map((token) => ({ token }));
  return new Set(wallets.flatMap((wallet) => unreadTokens(known.get(wallet), asked)));
}

function instantsOf({ sinceMs, untilMs, points }: Span): readonly number[] {
  const step = (untilMs - sinceMs) / (points - 1);
  return Array.from({ length: points }, (_, index) => Math.round(sinceMs + index * step));
}

/** Balances of a token in all wallets together at instants, oldest first; never below zero. */
function amountsOf(parts: HistoryParts, token: Address, instants: readonly number[]): bigint[] {
  const { movements } = parts;
  const wallets = new Set(parts.wallets);
  const known = token === NATIVE_TOKEN ? parts.coins : parts.known;
  let raw = [...known.values()].reduce((sum, { balances }) => sum + (balances.get(token) ?? 0n), 0n);
  // What a fill changed after a wallet's balances were read is in none of them.
  for (const movement of movements)
    raw += change(movement, token, (wallet) => {
      return wallets.has(wallet) && movement.block > (known.get(wallet)?.block ?? Number.MAX_SAFE_INTEGER);
    });
  const amounts: bigint[] = [];
  let index = 0;
  for (const atMs of instants.toReversed()) {
    for (let next = movements[index]; next !== undefined && timeOf(next) > atMs; next = movements[index]) {
      raw -= change(next, token, (wallet) => wallets.has(wallet));
      index += 1;
    }
    amounts.push(raw < 0n ? 0n : raw);
  }
  return amounts.toReversed();
}

function timeOf({ atSeconds }: Movement): number {
  return (atSeconds ?? 0) * 1_000;
}

function change(
  { wallet, recipient, sell, sold, buy, bought }: Movement,
  token: Address,
  counts: (wallet: Address) => boolean,
): bigint {
  const out = sell === token && counts(wallet) ? sold : 0n;
  const into = buy === token && counts(recipient) ? bought : 0n;
  return into - out;
}

/** The price that was recorded last before each instant. */
function pricesAt(prices: readonly SeenPrice[], instants: readonly number[]): readonly (bigint | undefined)[] {
  let index = 0;
  let last: bigint | undefined;
  return instants.map((atMs) => {
    for (let next = prices[index]; next !== undefined && next.atMs <= atMs; next = prices[index]) {
      last = next.usd;
      index += 1;
    }
    return last;
  });
}

function worth(raw: bigint, { decimals }: Token, usd: bigint | undefined): bigint | undefined {
  if (raw === 0n) return 0n;
  return usd === undefined ? undefined : valueDown({ raw, decimals }, usd as UsdPrice);
}

/** A sum of which a part is not known is not known. */
function totalOf(values: readonly (bigint | undefined)[]): string | null {
  if (values.length === 0 || values.some((value) => value === undefined)) return null;
  return dollarsOf(values.reduce<bigint>((sum, value) => sum + (value ?? 0n), 0n));
}
