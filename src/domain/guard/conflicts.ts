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
 * @param options.most so many pairs are reported; `isCut` says that there are more
 */
export function findConflicts(
  specs: readonly StrategySpec[],
  options: { readonly wrappedNative: Address; readonly most: number },
): { readonly conflicts: readonly Conflict[]; readonly isCut: boolean } {
  const found = new Map<string, Conflict>();
  for (const { seller, buyer } of crossingSides(specs, options.wrappedNative)) {
    const [first, second] = buyer.index < seller.index ? [buyer.spec, seller.spec] : [seller.spec, buyer.spec];
    const pair = `${first.id} ${second.id}`;
    const known = found.get(pair);
    if (known === undefined && found.size >= options.most) return { conflicts: [...found.values()], isCut: true };
    const crossing = { seller: seller.spec.id, sold: seller.token, buyer: buyer.spec.id, bought: buyer.token };
    found.set(pair, {
      first: first.id,
      second: second.id,
      wallet: seller.spec.wallet.name,
      crossings: known === undefined ? [crossing] : [...known.crossings, crossing],
    });
  }
  return { conflicts: [...found.values()], isCut: false };
}

/** One token that a strategy sells, or buys. */
interface Side {
  readonly spec: StrategySpec;
  readonly index: number;
  readonly token: Token;
}

/** Every sale with every purchase of the same coin by another strategy of the same wallet. */
function* crossingSides(specs: readonly StrategySpec[], wrappedNative: Address) {
  const traded = specs.map((spec, index) => ({ spec, index, ...tradedSides(spec) }));
  const sellers = traded.flatMap(({ sells, ...side }) => sells.map((token): Side => ({ ...side, token })));
  const buyers = traded.flatMap(({ buys, ...side }) => buys.map((token): Side => ({ ...side, token })));
  const coinOf = ({ spec, token: { address } }: Side): string =>
    `${spec.wallet.address} ${address === NATIVE_TOKEN ? wrappedNative : address}`;
  const buyersOf = Map.groupBy(buyers, coinOf);
  for (const seller of sellers) {
    for (const buyer of buyersOf.get(coinOf(seller)) ?? []) if (buyer.index !== seller.index) yield { seller, buyer };
  }
}
