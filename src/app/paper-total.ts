import type { Configuration } from "../config/configuration.ts";
import type { Address } from "../domain/money/address.ts";
import { formatUnits } from "../domain/money/amount.ts";
import { describeDollars } from "../domain/money/for-people.ts";
import { formatPercent, ONE_PPM } from "../domain/money/fraction.ts";
import { USD_DECIMALS, type UsdPrice, valueDown } from "../domain/money/price.ts";
import type { Token } from "../domain/money/token.ts";
import type { PaperHolding } from "../ports/read-model.ts";
import { CommandFailure } from "./exit-codes.ts";
import { openChain } from "./open-chain.ts";
import { openPrices } from "./open-prices.ts";
import { createCommandRuntime } from "./runtime.ts";

/** What is held on paper against what it began with, both at the reference prices of now. */
export interface PaperTotal {
  readonly holdings: readonly {
    readonly wallet: string;
    readonly token: string;
    readonly began: string;
    readonly now: string;
  }[];
  /** undefined where a price could not be read */
  readonly value: { readonly heldUsd: bigint; readonly beganUsd: bigint } | undefined;
  /** why there is no value, or what is left out of it */
  readonly unpriced: readonly string[];
}

/** Adds up what is held on paper, with prices that are read now. */
export async function totalOnPaper(
  configuration: Configuration,
  env: NodeJS.ProcessEnv,
  holdings: readonly PaperHolding[],
): Promise<PaperTotal> {
  const known = new Map([...configuration.tokens.values()].map(({ token }) => [token.address, token]));
  const names = new Map([...configuration.wallets.values()].map(({ name, address }) => [address, name]));
  const moved = holdings.filter(({ began, now }) => began !== 0n || now !== 0n);
  const { prices, unpriced } = await pricesOf(configuration, env, tokensOf(moved, known));
  const unnamed = new Set(moved.filter(({ token }) => !known.has(token)).map(({ token }) => token));
  const worthOf = (amountOf: (one: PaperHolding) => bigint): bigint =>
    moved.reduce((sum, one) => {
      const [token, usd] = [known.get(one.token), prices.get(one.token)];
      if (token === undefined || usd === undefined) return sum;
      const raw = amountOf(one);
      const value = valueDown({ raw: raw < 0n ? -raw : raw, decimals: token.decimals }, usd);
      return raw < 0n ? sum - value : sum + value;
    }, 0n);
  const shown = moved.map(({ account, token, began, now }) => {
    const of = known.get(token);
    const text = (raw: bigint): string => (of === undefined ? raw.toString() : formatUnits(raw, of.decimals));
    return { wallet: names.get(account) ?? account, token: of?.symbol ?? token, began: text(began), now: text(now) };
  });
  const value =
    prices.size === 0 ? undefined : { heldUsd: worthOf(({ now }) => now), beganUsd: worthOf(({ began }) => began) };
  const gone = [...unnamed].map(
    (token) => `${token}: no token of the configuration, which names its decimals and feed`,
  );
  return { holdings: shown, value, unpriced: [...unpriced, ...gone] };
}

function tokensOf(holdings: readonly PaperHolding[], known: ReadonlyMap<Address, Token>): readonly Token[] {
  return [...new Set(holdings.map(({ token }) => token))].flatMap((address) => known.get(address) ?? []);
}

async function pricesOf(
  configuration: Configuration,
  env: NodeJS.ProcessEnv,
  tokens: readonly Token[],
): Promise<{ readonly prices: ReadonlyMap<Address, UsdPrice>; readonly unpriced: readonly string[] }> {
  const source = sourceOf(configuration, env);
  if (typeof source === "string") return { prices: new Map(), unpriced: [source] };
  const prices = new Map<Address, UsdPrice>();
  const unpriced: string[] = [];
  for (const token of tokens) {
    const price = await source.price(token);
    if ("missing" in price) unpriced.push(`${token.symbol}: ${price.detail}`);
    else prices.set(token.address, price.usd);
  }
  return { prices, unpriced };
}

/** @returns why no price can be asked for: this shell may not have what the daemon's has */
function sourceOf(configuration: Configuration, env: NodeJS.ProcessEnv): ReturnType<typeof openPrices> | string {
  try {
    return openPrices(configuration, openChain(configuration, createCommandRuntime(env).secrets));
  } catch (error) {
    if (error instanceof CommandFailure) return error.message;
    throw error;
  }
}

/** The total in a sentence, and what it leaves out. */
export function describeTotal({ value, unpriced }: PaperTotal): readonly string[] {
  const left = unpriced.map((why) => `left out of it, without a price now: ${why}`);
  if (value === undefined) return ["no total against holding: no price could be read", ...left];
  const { heldUsd, beganUsd } = value;
  const apart = heldUsd - beganUsd;
  const share = beganUsd <= 0n ? undefined : (apart * ONE_PPM) / beganUsd;
  const sign = apart < 0n ? "less" : "more";
  const percent = share === undefined ? "" : ` (${formatPercent(share < 0n ? -share : share)})`;
  const gap = `${describeDollars(apart < 0n ? -apart : apart)}${percent} ${sign}`;
  return [
    `at today's reference prices it holds ${describeDollars(heldUsd)}; what it began with would be ${describeDollars(beganUsd)}: ${gap} than holding`,
    ...left,
  ];
}

/** The total as machines read it. */
export function totalJson({ holdings, value, unpriced }: PaperTotal): Record<string, unknown> {
  const usd = (raw: bigint | undefined): string | null => (raw === undefined ? null : formatUnits(raw, USD_DECIMALS));
  const difference = value === undefined ? undefined : value.heldUsd - value.beganUsd;
  return {
    holdings,
    heldUsd: usd(value?.heldUsd),
    beganUsd: usd(value?.beganUsd),
    differenceUsd: usd(difference),
    unpriced,
  };
}
