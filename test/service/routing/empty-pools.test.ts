import { expect, test } from "vitest";
import { toAddress } from "../../../src/domain/money/address.ts";
import { createRandom } from "../../../src/sandbox/market/random.ts";
import type { PoolState } from "../../../src/service/pools/pool.ts";
import { pairState } from "../../../src/service/pools/uniswap-v2/pair.ts";
import { concentratedPoolState } from "../../../src/service/pools/uniswap-v3/concentrated-pool.ts";
import { tickAtSqrtRatio } from "../../../src/service/pools/uniswap-v3/tick-math.ts";
import { bestRoute } from "../../../src/service/routing/best-route.ts";
import { type Fixture, type FixtureToken, fixtures } from "./support/fixtures.ts";
import { type FixtureTrade, gasRateOf, tradesOf } from "./support/trades.ts";

const SIZES = [1e5, 1e6];
/** In basis points: what two searches for the same differ by at most. */
const ALMOST_NOTHING = 0.1;
/** Nothing is left of most such pools, a few cents of others. */
const CENTS_IN_DOLLARS = 0.05;

function place([one, other]: readonly [FixtureToken, FixtureToken], index: number) {
  const [token0, token1] = one.address < other.address ? [one, other] : [other, one];
  const address = toAddress(`0x${index.toString(16).padStart(40, "d")}`);
  const unit = ({ dollars, decimals }: FixtureToken) => dollars / 10 ** decimals;
  const tokens = { address, token0: token0.address, token1: token1.address };
  return { tokens, units: [unit(token0), unit(token1)] as const };
}

/** Nobody has liquidity in it any more; the price of its last trade still stands there. */
function left(pair: readonly [FixtureToken, FixtureToken], index: number, off: number): PoolState {
  const { tokens, units } = place(pair, index);
  const price = BigInt(Math.round(Math.sqrt((units[0] / units[1]) * off) * 2 ** 48)) << 48n;
  const words = new Map(Array.from({ length: 40 }, (_, word) => [word - 20, 0n] as const));
  const curve = { price, tick: tickAtSqrtRatio(price), liquidity: 0n, words, nets: new Map<number, bigint>() };
  const pool = { kind: 2, protocol: 1, ...tokens, feePips: 10_000, tickSpacing: 200 };
  return concentratedPoolState(pool, curve, () => Promise.resolve());
}

/** Too little is in it for anybody to put its price right. */
function forgotten(pair: readonly [FixtureToken, FixtureToken], index: number, off: number): PoolState {
  const { tokens, units } = place(pair, index);
  const reserve = (unit: number) => BigInt(Math.max(1, Math.round(CENTS_IN_DOLLARS / 2 / unit)));
  const pool = { kind: 1, protocol: 0, ...tokens, feePips: 3_000, tickSpacing: 0 };
  return pairState(pool, reserve(units[0] * Math.sqrt(off)), reserve(units[1] / Math.sqrt(off)));
}

function everyPair(tokens: Fixture["tokens"]): (readonly [FixtureToken, FixtureToken])[] {
  const all = Object.values(tokens);
  return all.flatMap((one, index) => all.slice(index + 1).map((other) => [one, other] as const));
}

function netOf({ paths, trade }: FixtureTrade, gasRate: ReturnType<typeof gasRateOf>): number {
  const best = bestRoute(paths, trade, { gasRate, readsMore: false });
  if (best.kind !== "found") throw new Error(`no route for ${trade.amountIn}`);
  const { amountOut, gas } = best.route;
  return Number(amountOut - (gasRate === undefined ? 0n : (gas * gasRate.amount) / gasRate.gas));
}

test.each([
  ["nothing", left],
  ["a few cents", forgotten],
])("a pool for each two tokens that holds %s at a price of its own takes nothing off any route", (_, poolOf) => {
  const random = createRandom(7, 0, 0x6c656674);
  for (const fixture of fixtures().filter(({ name }) => name !== "stable")) {
    const off = () => Math.exp(0.1 * (2 * random.uniform() - 1));
    const more = everyPair(fixture.tokens).map((pair, index) => poolOf(pair, index + 1, off()));
    const among = tradesOf({ ...fixture, states: [...fixture.states, ...more] }, SIZES);
    for (const [index, trade] of tradesOf(fixture, SIZES).entries()) {
      for (const gwei of [0, 20]) {
        const gasRate = gasRateOf(trade, gwei);
        const lost = (1 - netOf(among[index]!, gasRate) / netOf(trade, gasRate)) * 1e4;
        const name = `${fixture.name}, $${trade.dollars} ${trade.sold.symbol} to ${trade.bought.symbol} at ${gwei} gwei`;
        expect(lost, name).toBeLessThan(ALMOST_NOTHING);
      }
    }
  }
});
