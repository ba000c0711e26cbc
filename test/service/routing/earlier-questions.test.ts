import { expect, test } from "vitest";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import type { PoolState } from "../../../src/service/pools/pool.ts";
import { pairState } from "../../../src/service/pools/uniswap-v2/pair.ts";
import { type CurveState, concentratedPoolState } from "../../../src/service/pools/uniswap-v3/concentrated-pool.ts";
import { sqrtRatioAtTick } from "../../../src/service/pools/uniswap-v3/tick-math.ts";
import { bestRoute } from "../../../src/service/routing/best-route.ts";
import { Curve } from "../../../src/service/routing/curve.ts";
import { createEdge } from "../../../src/service/routing/edge.ts";
import { UNLIMITED } from "../../../src/service/routing/steps.ts";

const [SOLD, BOUGHT] = ["1", "2"].map((digit) => toAddress(`0x${digit.repeat(40)}`)) as [Address, Address];
const COIN = 10n ** 18n;
const SPACING = 200;

let pools = 0;

function poolOf(kind: number) {
  pools += 1;
  const address = toAddress(`0x${pools.toString(16).padStart(40, "c")}`);
  const place = { address, token0: SOLD, token1: BOUGHT };
  return { kind, protocol: kind - 1, ...place, feePips: 3_000, tickSpacing: kind === 2 ? SPACING : 0 };
}

// From all that an amount can be to a unit are 64 steps of a sixteenth.
test.each([0, 2, 8])(
  "a first question for all that an amount can be leaves a pool open that takes few units, %d places",
  (places) => {
    const unit = 10n ** BigInt(places);
    const curve = new Curve(pairState(poolOf(1), 1_000n * unit, 1_000n * COIN), SOLD);
    for (const _ of curve.reach(2 ** 256, UNLIMITED));
    for (const _ of curve.reach(100 * Number(unit), UNLIMITED));
    expect(curve.outputAt(100 * Number(unit))).toBeGreaterThan(85e18);
  },
);

/** Pays about a coin for a coin, of which the bought one has so many places. */
function pair(places: number): PoolState {
  return pairState(poolOf(1), 1_000_000n * COIN, 1_000_000n * 10n ** BigInt(places));
}

/** The same with liquidity at all prices below one that is so much lower, or that was not read so far. */
function curved(places: number, below?: { readonly ticks: number } | "unread"): PoolState {
  const tick = Math.round((Math.log(10) * (places - 18)) / Math.log(1.0001) / SPACING) * SPACING;
  const price = sqrtRatioAtTick(tick);
  const liquidity = (1_000_000n * COIN * price) >> 96n;
  const words = new Map(Array.from({ length: 40 }, (_, index) => [index - 20, 0n]));
  if (below === undefined) return curveOf({ price, tick, liquidity, words, nets: new Map() });
  if (below === "unread") {
    const read = Math.floor(tick / SPACING / 256);
    // So little that all of it is worth some smallest units.
    return curveOf({ price, tick, liquidity: 3n * 10n ** 6n, words: new Map([[read, 0n]]), nets: new Map() });
  }
  const begin = (tick - below.ticks) / SPACING;
  words.set(Math.floor(begin / 256), 1n << BigInt(((begin % 256) + 256) % 256));
  return curveOf({ price, tick, liquidity: 0n, words, nets: new Map([[begin * SPACING, -liquidity]]) });
}

function curveOf(curve: CurveState): PoolState {
  return concentratedPoolState(poolOf(2), curve, () => Promise.resolve());
}

function bought(states: readonly PoolState[], amountIn: bigint): bigint {
  const paths = [[createEdge(SOLD, BOUGHT, states)]];
  const best = bestRoute(paths, { from: SOLD, to: BOUGHT, amountIn }, { gasRate: undefined, readsMore: false });
  return best.kind === "found" ? best.route.amountOut : 0n;
}

const questions = [0, 2, 6, 8, 18].flatMap((places) => [1n, 10n ** 9n].map((first) => ({ places, first })));

// All quotes of a block share what was sampled of its pools: a question of one wei closed a pool to all later ones.
test.each([...questions, { places: 6, first: 2n ** 256n - 1n }])(
  "a first question for $first, $places places, leaves later quotes as they are",
  ({ places, first }) => {
    const states = () => [pair(places), pair(places), curved(places), curved(places)];
    const amountIn = 20_000n * COIN;
    const asked = states();
    bought(asked, first);
    const alone = bought(states(), amountIn);
    expect(alone).toBeGreaterThan(0n);
    const later = bought(asked, amountIn);
    // Each pool may round a unit off.
    expect(Number(later + 4n)).toBeGreaterThan(Number(alone) * (1 - 1e-6));
  },
);

test.each([1, 1e9])("a first question for %d wei leaves it open what lies where nothing was read", (first) => {
  const curve = new Curve(curved(6, "unread"), SOLD);
  for (const _ of curve.reach(first, UNLIMITED));
  for (const _ of curve.reach(1e21, UNLIMITED));
  expect(curve.unread).toBeDefined();
});

test.each([6, 18])("a pool with nothing near its price has what it has beyond, %d places", (places) => {
  const coins = 10n ** BigInt(places);
  for (const first of [1n, COIN]) {
    const asked = [curved(places, { ticks: SPACING })];
    bought(asked, first);
    expect(bought(asked, 1_000n * COIN)).toBeGreaterThan(960n * coins);
  }
});

test("a pool that keeps all as its fee pays nothing, whatever is asked first", () => {
  const state: PoolState = { ...pair(18), feePips: () => 1_000_000, quote: () => ({ kind: "short" }) };
  expect(bought([state], 1n)).toBe(0n);
  const curve = new Curve(state, SOLD);
  for (const _ of curve.reach(1_000, UNLIMITED));
  expect(curve.outputAt(1_000)).toBe(0);
});
