import { type Address, NATIVE_TOKEN } from "../money/address.ts";
import type { Token } from "../money/token.ts";
import type { StrategySpec } from "../strategy/spec.ts";
import { tradedSides } from "../strategy/strategy.ts";

/** What one strategy sells and the other buys: one token, or the native coin on one side and its wrapped form on the other. */
export interface Crossing {
  readonly seller: string;
  readonly sold: Token;
  readonly buyer: string;
  readonly bought: Token;
}

/** Two strategies of one wallet that may trade against each other. It may be meant so; then each round trip pays fees twice. */
export interface Conflict {
  /** ids, in the order in which the strategies were given */
  readonly first: string;
  readonly second: string;
  readonly wallet: string;
  readonly crossings: readonly [Crossing, ...Crossing[]];
}

/**
 * Pairs of strategies of one wallet where one sells what the other buys.
 * @param options.most so many pairs are told; `isCut` says that there are more
 */
export function findConflicts(
  specs: readonly StrategySpec[],
  options: { readonly wrappedNative: Address; readonly most: number },
): { readonly conflicts: readonly Conflict[]; readonly isCut: boolean } {
  const sides = specs.map((spec, index) => ({ spec, index, ...tradedSides(spec) }));
  const coinOf = (spec: StrategySpec, { address }: Token): string =>
    `${spec.wallet.address} ${address === NATIVE_TOKEN ? options.wrappedNative : address}`;
  const buyers = new Map<string, { spec: StrategySpec; index: number; token: Token }[]>();
  for (const { spec, index, buys } of sides) {
    for (const token of buys) {
      const coin = coinOf(spec, token);
      const known = buyers.get(coin) ?? [];
      known.push({ spec, index, token });
      buyers.set(coin, known);
    }
  }
  const found = new Map<string, Conflict>();
  for (const { spec: seller, index, sells } of sides) {
    for (const sold of sells) {
      for (const buyer of buyers.get(coinOf(seller, sold)) ?? []) {
        if (buyer.index === index) continue;
        const [first, second] = buyer.index < index ? [buyer.spec, seller] : [seller, buyer.spec];
        const pair = `${first.id} ${second.id}`;
        const known = found.get(pair);
        if (known === undefined && found.size >= options.most) return { conflicts: [...found.values()], isCut: true };
        const crossing = { seller: seller.id, sold, buyer: buyer.spec.id, bought: buyer.token };
        found.set(pair, {
          first: first.id,
          second: second.id,
          wallet: seller.wallet.name,
          crossings: known === undefined ? [crossing] : [...known.crossings, crossing],
        });
      }
    }
  }
  return { conflicts: [...found.values()], isCut: false };
}
