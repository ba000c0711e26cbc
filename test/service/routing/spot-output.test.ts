import { expect, test } from "vitest";
import { toAddress } from "../../../src/domain/money/address.ts";
import type { PoolState } from "../../../src/service/pools/pool.ts";
import { pairState } from "../../../src/service/pools/uniswap-v2/pair.ts";
import { concentratedPoolState } from "../../../src/service/pools/uniswap-v3/concentrated-pool.ts";
import { PORTION_ALL, performHops, spotOutput } from "../../../src/service/routing/plan.ts";
import { runToEnd, UNLIMITED } from "../../../src/service/routing/steps.ts";

const FROM = toAddress(`0x${"1".repeat(40)}`);
const TO = toAddress(`0x${"2".repeat(40)}`);
const TOKENS = { address: toAddress(`0x${"3".repeat(40)}`), token0: FROM, token1: TO };
const FEE_PIPS = 500;
const SPACING = 200;
const LIQUIDITY = 10n ** 24n;
const LOWEST = -60_000;

/** Both tokens are worth the same: all liquidity is below that price, and nothing is between it and the pool's own. */
function pool({ price, tick, liquidity }: { price: number; tick: number; liquidity: bigint }): PoolState {
  const bitOf = (at: number) => ({
    word: Math.floor(at / SPACING / 256),
    bit: BigInt((((at / SPACING) % 256) + 256) % 256),
  });
  const words = new Map<number, bigint>(Array.from({ length: 40 }, (_, word) => [word - 20, 0n]));
  for (const { word, bit } of [bitOf(LOWEST), bitOf(0)]) words.set(word, (words.get(word) ?? 0n) | (1n << bit));
  const nets = new Map([
    [LOWEST, LIQUIDITY],
    [0, -LIQUIDITY],
  ]);
  const root = BigInt(Math.round(Math.sqrt(price) * 2 ** 48)) << 48n;
  const curve = { price: root, tick, liquidity, words, nets };
  const facts = { kind: 2, protocol: 1, ...TOKENS, feePips: FEE_PIPS, tickSpacing: SPACING };
  return concentratedPoolState(facts, curve, () => Promise.resolve());
}

/** A pool of Uniswap V4 at even prices, in which the protocol takes its own fee of what is sold first. */
function poolWithProtocolFee({ pips, of }: { pips: bigint; of: typeof FROM }): PoolState {
  const paid = (fee: bigint) => ({ pips: fee + 100n - (fee * 100n) / 1_000_000n, gas: 0n });
  const fees = { selling0: paid(of === FROM ? pips : 0n), selling1: paid(of === TO ? pips : 0n) };
  const words = new Map(Array.from({ length: 20 }, (_, word) => [word - 10, 0n]));
  const curve = { price: 1n << 96n, tick: 0, liquidity: 10n ** 30n, words, nets: new Map(), fees };
  const facts = { kind: 6, protocol: 1, ...TOKENS, feePips: 100, tickSpacing: SPACING };
  return concentratedPoolState(facts, curve, () => Promise.resolve());
}

/** What the route loses to the price before it. */
function impactOf(state: PoolState, amountIn: bigint): number {
  const hops = [{ state, tokenIn: FROM, tokenOut: TO, portion: PORTION_ALL }];
  const trade = { from: FROM, to: TO, amountIn };
  const performed = runToEnd(performHops(hops, trade, UNLIMITED));
  if (performed.kind !== "filled") throw new Error(performed.kind);
  return 1 - Number(performed.amountOut) / Number(spotOutput(hops, trade));
}

test("a price at which a pool has nothing to sell is none: the first of what it sells counts", () => {
  const amountIn = 10n ** 21n;
  const atMarket = impactOf(pool({ price: 0.999_99, tick: -1, liquidity: LIQUIDITY }), amountIn);
  expect(atMarket).toBeGreaterThan(0.000_5);
  expect(atMarket).toBeLessThan(0.002);
  for (const [price, tick] of [
    [8, 20_795],
    [1e6, 138_162],
  ] as const) {
    const behind = impactOf(pool({ price, tick, liquidity: 0n }), amountIn);
    expect(behind, `${price}`).toBeGreaterThanOrEqual(0);
    expect(behind, `${price}`).toBeLessThan(0.02);
  }
});

test("where a pool sells at its price, that is exact: also of an amount so small that it rounds, and one that takes most of it", () => {
  const facts = { kind: 1, protocol: 0, ...TOKENS, feePips: 3_000, tickSpacing: 0 };
  const reserve = 10n ** 12n;
  const state = pairState(facts, reserve, reserve);
  const hops = [{ state, tokenIn: FROM, tokenOut: TO, portion: PORTION_ALL }];
  for (const amountIn of [1_000n, 10n ** 6n, 10n ** 9n, 10n ** 12n])
    expect(spotOutput(hops, { from: FROM, to: TO, amountIn })).toBe((amountIn * 997n) / 1_000n);
});

test("where a pool rounds what it takes, down to whole units after its fee, no small amount has a worse price for that", () => {
  const state = pool({ price: 0.999_99, tick: -1, liquidity: LIQUIDITY });
  const { numerator, denominator } = state.spot(FROM);
  for (const amountIn of [1_000n, 2_000n, 2_500n, 5_000n, 20_000n, 50_000n, 99_999n, 10n ** 6n]) {
    const hops = [{ state, tokenIn: FROM, tokenOut: TO, portion: PORTION_ALL }];
    const atSpot = (amountIn * numerator * 999_500n) / (denominator * 1_000_000n);
    expect(spotOutput(hops, { from: FROM, to: TO, amountIn }), `${amountIn}`).toBe(atSpot);
  }
});

test("what the protocol takes of what is sold in a pool of Uniswap V4 is part of its fee, by direction, and no price impact", () => {
  for (const [of, feePips] of [
    [FROM, 1_100],
    [TO, 100],
  ] as const) {
    const state = poolWithProtocolFee({ pips: 1_000n, of });
    expect(impactOf(state, 10n ** 18n)).toBeLessThan(0.000_001);
    const hops = [{ state, tokenIn: FROM, tokenOut: TO, portion: PORTION_ALL }];
    const performed = runToEnd(performHops(hops, { from: FROM, to: TO, amountIn: 10n ** 18n }, UNLIMITED));
    expect(performed).toMatchObject({ kind: "filled", hops: [{ feePips }] });
  }
});
