import { type Address, NATIVE_TOKEN } from "../money/address.ts";
import type { Token } from "../money/token.ts";
import type { StrategySpec } from "../strategy/spec.ts";
import { managedTokens, tradedSides, watchedHolders } from "../strategy/strategy.ts";

/** A strategy that sells a coin, or buys it, and how it names it: the native coin and its wrapped form are one coin. */
export interface Side {
  readonly strategy: string;
  readonly token: Token;
}

/**
 * A coin of one wallet that some strategies sell and others buy. It may be meant so; then each round trip pays fees twice.
 * Both lists are in the order in which the strategies were given, and name at least two strategies together.
 */
export interface Conflict {
  readonly wallet: string;
  readonly sellers: readonly [Side, ...Side[]];
  readonly buyers: readonly [Side, ...Side[]];
}

/** Coins of one wallet that one strategy sells and another one buys. */
export function findConflicts(specs: readonly StrategySpec[], wrappedNative: Address): readonly Conflict[] {
  const traded = specs.map((spec) => ({ spec, ...tradedSides(spec) }));
  const coinOf = keyOf(wrappedNative);
  const sellers = Map.groupBy(
    traded.flatMap(({ spec, sells }) => sells.map((token) => ({ spec, token }))),
    coinOf,
  );
  const buyers = Map.groupBy(
    traded.flatMap(({ spec, buys }) => buys.map((token) => ({ spec, token }))),
    coinOf,
  );
  return [...sellers].flatMap(([coin, sold]) => {
    const [seller, ...otherSellers] = sold.map(sideOf);
    const [buyer, ...otherBuyers] = (buyers.get(coin) ?? []).map(sideOf);
    const [first] = sold;
    if (seller === undefined || buyer === undefined || first === undefined) return [];
    const isAlone = otherSellers.length + otherBuyers.length === 0 && seller.strategy === buyer.strategy;
    if (isAlone) return [];
    return [
      { wallet: first.spec.wallet.name, sellers: [seller, ...otherSellers], buyers: [buyer, ...otherBuyers] } as const,
    ];
  });
}

/** Two strategies that hold the same coins of one wallet at weights: each would undo what the other trades. */
export interface Rivals {
  readonly first: string;
  readonly second: string;
  readonly wallet: string;
  /** as the second one names them */
  readonly tokens: readonly [Token, ...Token[]];
}

/** Every strategy that manages a coin of its wallet which an earlier one manages already, with the first such one. */
export function findRivals(specs: readonly StrategySpec[], wrappedNative: Address | undefined): readonly Rivals[] {
  const coinOf = keyOf(wrappedNative ?? NATIVE_TOKEN);
  const holders = new Map<string, string>();
  return specs.flatMap((spec) => {
    const tokens = managedTokens(spec).map((token) => ({ token, coin: coinOf({ spec, token }) }));
    const first = tokens.map(({ coin }) => holders.get(coin)).find((id) => id !== undefined);
    const [shared, ...others] = tokens.filter(({ coin }) => first !== undefined && holders.get(coin) === first);
    for (const { coin } of tokens) if (!holders.has(coin)) holders.set(coin, spec.id);
    if (first === undefined || shared === undefined) return [];
    const both = [shared.token, ...others.map(({ token }) => token)] as const;
    return [{ first, second: spec.id, wallet: spec.wallet.name, tokens: both }];
  });
}

/** A mix that counts what another one holds at weights in its own wallet: both would trade the same drift. */
export interface CountedMix {
  readonly strategy: string;
  readonly holder: string;
  readonly wallet: string;
  readonly token: Token;
}

/** Every strategy that counts a wallet which another one keeps at weights, with the first coin of each. */
export function findCountedMixes(
  specs: readonly StrategySpec[],
  wrappedNative: Address | undefined,
): readonly CountedMix[] {
  const coinOf = keyOf(wrappedNative ?? NATIVE_TOKEN);
  const held = specs.flatMap((spec) => managedTokens(spec).map((token) => [coinOf({ spec, token }), spec] as const));
  const holders = new Map(held.reverse());
  return specs.flatMap((spec) =>
    watchedHolders(spec).flatMap(({ address, tokens }) => {
      const wallet = { ...spec.wallet, address };
      for (const token of tokens) {
        const holder = holders.get(coinOf({ spec: { wallet }, token }));
        if (holder !== undefined) return [{ strategy: spec.id, holder: holder.id, wallet: holder.wallet.name, token }];
      }
      return [];
    }),
  );
}

interface Traded {
  readonly spec: StrategySpec;
  readonly token: Token;
}

function sideOf({ spec, token }: Traded): Side {
  return { strategy: spec.id, token };
}

/** One coin of one account; the native coin and its wrapped form are the same one. */
function keyOf(
  wrappedNative: Address,
): (coin: { readonly spec: Pick<StrategySpec, "wallet">; readonly token: Token }) => string {
  return ({ spec, token: { address } }) =>
    `${spec.wallet.address} ${address === NATIVE_TOKEN ? wrappedNative : address}`;
}
