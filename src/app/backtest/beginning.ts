import { LENT_WEI } from "../../adapters/paper/paper-book.ts";
import type { Configuration } from "../../config/configuration.ts";
import { type CandleSeries, priceWithin } from "../../domain/backtest/candles.ts";
import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { valueDown } from "../../domain/money/price.ts";
import type { Token } from "../../domain/money/token.ts";

type Held = ReadonlyMap<Address, ReadonlyMap<Address, bigint>>;

/** What all accounts begin with, and what of it is not theirs. */
export interface Beginning {
  readonly all: Held;
  readonly lentWei: bigint;
  /** names of the wallets whose gas was lent */
  readonly lent: readonly string[];
  readonly lentGas: ReadonlyMap<Address, bigint>;
}

/** The balances that were asked for, with gas where a wallet lists none, as on paper. */
export function beginningOf({
  configuration,
  balances,
}: {
  readonly configuration: Configuration;
  readonly balances: Held;
}): Beginning {
  const all = new Map<Address, ReadonlyMap<Address, bigint>>();
  const lent: string[] = [];
  const lentGas = new Map<Address, bigint>();
  for (const { name, address } of configuration.wallets.values()) {
    const own = balances.get(address);
    if (own === undefined) continue;
    const isLent = !own.has(NATIVE_TOKEN);
    if (isLent) {
      lent.push(name);
      lentGas.set(address, LENT_WEI);
    }
    all.set(address, isLent ? new Map([...own, [NATIVE_TOKEN, LENT_WEI]]) : own);
  }
  return { all, lent, lentGas, lentWei: BigInt(lent.length) * LENT_WEI };
}

/** What all accounts hold together by token, lent coins left out: what gas took of them is missing. */
export function summed(held: Held, lentWei: bigint): ReadonlyMap<Address, bigint> {
  const sum = new Map<Address, bigint>();
  for (const tokens of held.values()) for (const [token, raw] of tokens) sum.set(token, (sum.get(token) ?? 0n) + raw);
  return sum.set(NATIVE_TOKEN, (sum.get(NATIVE_TOKEN) ?? 0n) - lentWei);
}

/** What can be valued at some instant: what no price is of at all would leave the accounts without any value for good. */
export function pricedOf(
  amounts: ReadonlyMap<Address, bigint>,
  series: ReadonlyMap<Address, CandleSeries>,
): ReadonlyMap<Address, bigint> {
  return new Map([...amounts].filter(([token]) => series.has(token)));
}

/** Symbols of what is held at the beginning and has no price at all. */
export function unpricedOf(
  amounts: ReadonlyMap<Address, bigint>,
  at: { readonly tokens: ReadonlyMap<Address, Token>; readonly series: ReadonlyMap<Address, CandleSeries> },
): readonly string[] {
  return [...amounts].flatMap(([token, raw]) =>
    raw === 0n || at.series.has(token) ? [] : [at.tokens.get(token)?.symbol ?? token],
  );
}

/** Amounts with their value at an instant; what has no price is worth nothing there. */
export function valued(
  amounts: ReadonlyMap<Address, bigint>,
  at: {
    readonly tokens: ReadonlyMap<Address, Token>;
    readonly series: ReadonlyMap<Address, CandleSeries>;
    readonly fromMs: number;
  },
): ReadonlyMap<Address, { readonly raw: bigint; readonly usd: bigint }> {
  return new Map(
    [...amounts].map(([address, raw]) => {
      const series = at.series.get(address);
      const price = series && priceWithin(series, at.fromMs, "straight");
      const decimals = at.tokens.get(address)?.decimals ?? 18;
      return [address, { raw, usd: price === undefined ? 0n : valueDown({ raw, decimals }, price.usd) }];
    }),
  );
}

/** Every token that is configured, and the coin, by address. */
export function tokensOf({ tokens }: Configuration, native: Token): ReadonlyMap<Address, Token> {
  const all = [...tokens.values()].map(({ token }) => token);
  return new Map([native, ...all].map((token) => [token.address, token]));
}

/** Tokens that should be worth a dollar count as money. */
export function moneyOf({ tokens }: Configuration): ReadonlySet<Address> {
  return new Set([...tokens.values()].flatMap(({ token, peg }) => (peg === "USD" ? [token.address] : [])));
}
