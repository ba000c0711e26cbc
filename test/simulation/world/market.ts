import type { Chance } from "../chance.ts";
import { type SimToken, tokenAt } from "./places.ts";

/** Dollar prices of one block, with eight decimals. */
export interface Prices {
  dollars(token: SimToken): bigint;
  /** what the market gives, a tenth of a percent below the price */
  output(fromAsset: string, toAsset: string, amountIn: bigint): bigint;
}

const UNIT = 10n ** 8n;

/** Prices that wander by the number of the block, so that a reorganisation does not change them. */
export function createMarket(chance: Chance): (block: number) => Prices {
  const paths = new Map<string, bigint[]>();
  const priceAt = (token: SimToken, block: number): bigint => {
    const path = paths.get(token.feed) ?? [BigInt(Math.round(token.price * 1e8))];
    paths.set(token.feed, path);
    for (let next = path.length; next <= block; next++) {
      const before = path[next - 1] ?? UNIT;
      const sway = chance.between(-token.sway, token.sway, "price", token.feed, next);
      path.push(before + (before * BigInt(sway)) / 10_000n);
    }
    return path[block] ?? UNIT;
  };
  return (block) => ({
    dollars: (token) => priceAt(token, block),
    output: (fromAsset, toAsset, amountIn) => {
      const [from, to] = [tokenAt(fromAsset), tokenAt(toAsset)];
      if (from === undefined || to === undefined) return 0n;
      const value = amountIn * priceAt(from, block) * 10n ** BigInt(to.decimals);
      return (value * 999n) / (priceAt(to, block) * 10n ** BigInt(from.decimals) * 1_000n);
    },
  });
}
