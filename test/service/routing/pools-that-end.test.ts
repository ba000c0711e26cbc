import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import { createRandom } from "../../../src/sandbox/market/random.ts";
import type { PoolState } from "../../../src/service/pools/pool.ts";
import { pairState } from "../../../src/service/pools/uniswap-v2/pair.ts";
import { concentratedPoolState } from "../../../src/service/pools/uniswap-v3/concentrated-pool.ts";
import { sqrtRatioAtTick } from "../../../src/service/pools/uniswap-v3/tick-math.ts";
import { bestRoute } from "../../../src/service/routing/best-route.ts";
import { createEdge } from "../../../src/service/routing/edge.ts";

const [A, B, C] = ["1", "2", "3"].map((digit) => toAddress(`0x${digit.repeat(40)}`)) as [Address, Address, Address];
const UNIT = 10n ** 18n;
const SPACING = 10;
const REACH = 100;
/** Words of the tick bitmap on each side of the price: to the end of all prices. */
const WORDS = 400;

let pools = 0;

function poolOf(kind: number, [token0, token1]: readonly [Address, Address], feePips: number) {
  pools += 1;
  const address = toAddress(`0x${pools.toString(16).padStart(40, "c")}`);
  return { kind, protocol: kind - 1, address, token0, token1, feePips, tickSpacing: kind === 2 ? SPACING : 0 };
}

/** Pays for so many whole coins at about one for one, and for none beyond: all its liquidity is within one per cent. */
function ending(tokens: readonly [Address, Address], coins: number): PoolState {
  const step = (sqrtRatioAtTick(REACH) * 1_000_000n) / 2n ** 96n - 1_000_000n;
  const liquidity = (BigInt(Math.round(coins * 1e6)) * UNIT) / step;
  const words = new Map(Array.from({ length: 2 * WORDS + 1 }, (_, index) => [index - WORDS, 0n]));
  for (const tick of [-REACH, REACH]) {
    const [word, bit] = [Math.floor(tick / SPACING / 256), (tick / SPACING + 256) % 256];
    words.set(word, (words.get(word) ?? 0n) | (1n << BigInt(bit)));
  }
  const nets = new Map([
    [-REACH, liquidity],
    [REACH, -liquidity],
  ]);
  const curve = { price: sqrtRatioAtTick(0), tick: 0, liquidity, words, nets };
  return concentratedPoolState(poolOf(2, tokens, 500), curve, () => Promise.resolve());
}

function endless(tokens: readonly [Address, Address], coins: number): PoolState {
  const reserve = BigInt(Math.round(coins * 1e6)) * 10n ** 12n;
  return pairState(poolOf(1, tokens, 3_000), reserve, reserve);
}

function output(state: PoolState, amountIn: bigint): bigint {
  const quote = state.quote(A, amountIn);
  return quote.kind === "filled" ? quote.amountOut : 0n;
}

const PARTS = 60n;

/** What the two pools pay at most: the first one takes all that it can, or as much as is worth the same in both. */
function mostOf(one: PoolState, other: PoolState, amountIn: bigint): bigint {
  let [most, best, step] = [0n, 0n, amountIn];
  for (let finer = 0; finer < 4; finer += 1) {
    const from = best > step ? best - step : 0n;
    const parts = finer === 0 ? PARTS : 2n * PARTS;
    step /= PARTS;
    for (let part = 0n; part <= parts && from + part * step <= amountIn; part += 1n) {
      const first = from + part * step;
      const paid = output(one, first);
      const both = paid + output(other, amountIn - first);
      if ((first > 0n && paid === 0n) || both <= most) continue;
      [most, best] = [both, first];
    }
  }
  return most;
}

function outputOf(edges: readonly (readonly [Address, Address, readonly PoolState[]])[], amountIn: bigint): bigint {
  const path = edges.map(([from, to, states]) => createEdge(from, to, states));
  const trade = { from: A, to: edges.at(-1)![1], amountIn };
  const best = bestRoute([path], trade, { gasRate: undefined, readsMore: false });
  return best.kind === "found" ? best.route.amountOut : 0n;
}

const seed = Number(process.env.SWAPD_TEST_SEED ?? randomInt(1 << 30));

test(`a pool whose liquidity ends before the trade takes what it can, and others take the rest (seed ${seed})`, () => {
  const random = createRandom(seed, 0, 0x656e64);
  for (let round = 0; round < 12; round += 1) {
    const trade = 1_000 * 100 ** random.uniform();
    const one = ending([A, B], trade * (0.02 + 0.96 * random.uniform()));
    const other = endless([A, B], trade * (1 + 9 * random.uniform()));
    const amountIn = BigInt(Math.round(trade * 1e6)) * 10n ** 12n;
    const most = mostOf(one, other, amountIn);
    const bought = outputOf([[A, B, [one, other]]], amountIn);
    expect(bought * 10_000n, `round ${round}, seed ${seed}`).toBeGreaterThan(most * 9_998n);
  }
});

test("pools that all end take a trade together that none of them takes alone", () => {
  const states = [ending([A, B], 400), ending([A, B], 400), ending([A, B], 400)];
  expect(outputOf([[A, B, states]], 1_000n * UNIT)).toBeGreaterThan(990n * UNIT);
  expect(outputOf([[A, B, states]], 1_300n * UNIT)).toBe(0n);
});

test("a pool that ends in the middle of a path takes what it can there", () => {
  const first = [endless([A, C], 100_000)];
  const second = [ending([B, C], 500), endless([B, C], 5_000)];
  const bought = outputOf(
    [
      [A, C, first],
      [C, B, second],
    ],
    1_000n * UNIT,
  );
  const all = outputOf([[A, C, first]], 1_000n * UNIT);
  const quote = second[1]!.quote(C, all);
  expect(quote.kind === "filled" && bought > (quote.amountOut * 105n) / 100n).toBe(true);
});
