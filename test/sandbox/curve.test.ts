import fc from "fast-check";
import { expect, it } from "vitest";
import {
  amountsOf,
  pushV2,
  pushV3,
  type Range,
  sqrtDown,
  sqrtPriceAtTick,
  sqrtPriceX96,
  tickAtSqrtPrice,
} from "../../src/sandbox/curve.ts";

it("takes square roots of any size exactly", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 1n << 512n }), (value) => {
      const root = sqrtDown(value);
      expect(root * root <= value && (root + 1n) * (root + 1n) > value).toBe(true);
    }),
  );
});

it("keeps decimals apart from prices: one whole WETH is 3000 whole USDC in either order", () => {
  const weth = { decimals: 18, price: 3000n };
  const usdc = { decimals: 6, price: 1n };
  expect((Number(sqrtPriceX96(weth, usdc)) / 2 ** 96) ** 2).toBeCloseTo(3000e-12, 15);
  expect((Number(sqrtPriceX96(usdc, weth)) / 2 ** 96) ** 2 / (1e12 / 3000)).toBeCloseTo(1, 12);
});

it("finds the tick of a price and the price of a tick over the whole range in use", () => {
  fc.assert(
    fc.property(fc.integer({ min: -500_000, max: 500_000 }), (tick) => {
      const sqrtX96 = sqrtPriceAtTick(tick);
      const middle = (sqrtX96 * 100_002n) / 100_000n;
      expect(tickAtSqrtPrice(middle)).toBe(tick);
    }),
  );
});

it("moves a V2 pair to the price asked for, whatever the reserves", () => {
  const reserve = fc.bigInt({ min: 10n ** 12n, max: 10n ** 27n });
  fc.assert(
    fc.property(reserve, reserve, fc.integer({ min: 500, max: 2000 }), (reserve0, reserve1, permille) => {
      const target = sqrtDown((((reserve1 << 192n) / reserve0) * BigInt(permille)) / 1000n);
      const push = pushV2({ reserve0, reserve1, feePips: 3000 }, target);
      if (push === undefined) {
        expect(permille).toBe(1000);
        return;
      }
      const [x, y] = push.zeroForOne ? [reserve0, reserve1] : [reserve1, reserve0];
      const afterFee = push.amountIn * 997n;
      const out = (afterFee * y) / (x * 1000n + afterFee);
      const [after0, after1] = push.zeroForOne ? [x + push.amountIn, y - out] : [y - out, x + push.amountIn];
      const reached = Number(after1) / Number(after0) / (Number(reserve1) / Number(reserve0));
      expect(reached / (permille / 1000)).toBeCloseTo(1, 6);
    }),
  );
});

it("sells into a V3 pool what its ranges hold between the two prices, and the fee on top", () => {
  const ranges: Range[] = [
    { tickLower: -1000, tickUpper: 1000, liquidity: 10n ** 21n },
    { tickLower: -100, tickUpper: 100, liquidity: 10n ** 22n },
  ];
  fc.assert(
    fc.property(fc.integer({ min: -900, max: 900 }), fc.integer({ min: -900, max: 900 }), (from, to) => {
      const [start, target] = [sqrtPriceAtTick(from), sqrtPriceAtTick(to)];
      const push = pushV3({ sqrtX96: start, ranges, feePips: 3000 }, target);
      if (push === undefined) {
        expect(to).toBe(from);
        return;
      }
      const side = push.zeroForOne ? "amount0" : "amount1";
      const held = ranges.map((range) => amountsOf(range, target)[side] - amountsOf(range, start)[side]);
      const net = held.reduce((sum, amount) => sum + amount, 0n);
      expect(Number((push.amountIn * 997n) / 1000n) / Number(net)).toBeCloseTo(1, 9);
    }),
  );
});
