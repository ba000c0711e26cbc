import type { Address } from "../../../../src/domain/money/address.ts";
import type { GasRate } from "../../../../src/service/routing/best-path.ts";
import { createEdge, type Edge } from "../../../../src/service/routing/edge.ts";
import { findPaths, type Path } from "../../../../src/service/routing/path.ts";
import { type Bound, dualBound } from "./dual-bound.ts";
import type { Fixture, FixtureToken } from "./fixtures.ts";

/** A trade on a fixture. */
export interface FixtureTrade {
  readonly fixture: Fixture;
  readonly sold: FixtureToken;
  readonly bought: FixtureToken;
  readonly dollars: number;
  readonly trade: { readonly from: Address; readonly to: Address; readonly amountIn: bigint };
  readonly paths: readonly Path[];
}

const HUBS = ["WETH", "USDC", "USDT", "DAI", "WBTC"];

/** Pairs to trade on each fixture, with the most dollars: what the pools hold of a token bounds what can be asked. */
const PAIRS: Readonly<Record<string, readonly (readonly [sold: string, bought: string, most: number])[]>> = {
  deep: [
    ["WETH", "USDC", 15e6],
    ["USDC", "WETH", 15e6],
    ["WBTC", "DAI", 15e6],
    ["DAI", "USDT", 15e6],
    ["USDT", "WBTC", 15e6],
  ],
  sandbox: [
    ["WETH", "USDC", 15e6],
    ["USDC", "WETH", 15e6],
    ["USDT", "WBTC", 15e6],
    ["WBTC", "DAI", 3e6],
    ["DAI", "USDT", 3e6],
  ],
  far: [
    ["LINK", "UNI", 15e6],
    ["UNI", "LINK", 15e6],
    ["LINK", "DAI", 15e6],
  ],
  stable: [
    ["USDC", "USDT", 15e6],
    ["DAI", "USDC", 15e6],
    ["USDT", "DAI", 15e6],
    ["WETH", "DAI", 15e6],
    ["USDT", "WBTC", 15e6],
  ],
};

const SIZES = [1e3, 1e4, 1e5, 1e6, 3e6, 15e6];

/** All trades of the certificate on a fixture, of these sizes in dollars. */
export function tradesOf(fixture: Fixture, sizes: readonly number[] = SIZES): readonly FixtureTrade[] {
  return (PAIRS[fixture.name] ?? []).flatMap(([soldSymbol, boughtSymbol, most]) => {
    const [sold, bought] = [fixture.tokens[soldSymbol]!, fixture.tokens[boughtSymbol]!];
    const paths = pathsOf(fixture, sold, bought);
    return sizes
      .filter((dollars) => dollars <= most)
      .map((dollars): FixtureTrade => {
        const whole = BigInt(Math.round((dollars / sold.dollars) * 1e6));
        const amountIn = (whole * 10n ** BigInt(sold.decimals)) / 1_000_000n;
        return { fixture, sold, bought, dollars, paths, trade: { from: sold.address, to: bought.address, amountIn } };
      });
  });
}

function pathsOf({ tokens, states }: Fixture, sold: FixtureToken, bought: FixtureToken): readonly Path[] {
  const edges = new Map<string, Edge | undefined>();
  const edgeOf = (tokenIn: Address, tokenOut: Address): Edge | undefined => {
    const key = tokenIn + tokenOut;
    if (edges.has(key)) return edges.get(key);
    const between = states.filter(({ pool }) =>
      [pool.token0, pool.token1].every((one) => one === tokenIn || one === tokenOut),
    );
    edges.set(key, between.length === 0 ? undefined : createEdge(tokenIn, tokenOut, between));
    return edges.get(key);
  };
  const via = HUBS.map((symbol) => tokens[symbol]!.address);
  return findPaths({ from: sold.address, to: bought.address, via, maxHops: 3 }, edgeOf);
}

/** The bound of a trade, starting from the prices on which the fixture's pools agree. */
export function boundOf({ fixture, trade }: FixtureTrade): Bound {
  const prices = Object.values(fixture.tokens).map(({ address, dollars, decimals }): [Address, number] => {
    return [address, dollars / 10 ** decimals];
  });
  return dualBound(fixture.states, trade, new Map(prices));
}

const DOLLARS_OF_COIN = 3_000;
const GAS = 300_000;

/** What gas costs in the token bought, at so many gwei. */
export function gasRateOf({ bought }: FixtureTrade, gwei: number): GasRate | undefined {
  const dollars = (gwei / 1e9) * GAS * DOLLARS_OF_COIN;
  const amount = BigInt(Math.round((dollars / bought.dollars) * 10 ** bought.decimals));
  return gwei === 0 ? undefined : { amount, gas: BigInt(GAS) };
}
