import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  beginDrawdown,
  type DrawdownSample,
  type DrawdownState,
  fallOf,
  isBeyondStop,
  nextDrawdown,
} from "../../../src/domain/guard/drawdown.ts";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { USDC, usd, WETH } from "../../support/builders.ts";

const RULE = { stop: toPpm(200_000), overSeconds: 7 * 86_400 };
const HOUR_MS = 3_600_000;

interface Wallets {
  readonly usdc: bigint;
  readonly weth: bigint;
  /** what swaps of ours did over all time */
  readonly swapped?: { readonly usdc: bigint; readonly weth: bigint };
  readonly price?: string;
}

/** Dollars of USDC and thousandths of a WETH. */
function sample(
  atMs: number,
  { usdc, weth, swapped = { usdc: 0n, weth: 0n }, price = "1000" }: Wallets,
): DrawdownSample {
  const milli = 10n ** 15n;
  return {
    atMs,
    holdings: [
      { token: USDC.address, decimals: 6, raw: usdc * 10n ** 6n, net: swapped.usdc * 10n ** 6n, usd: usd("1") },
      { token: WETH.address, decimals: 18, raw: weth * milli, net: swapped.weth * milli, usd: usd(price) },
    ],
  };
}

function follow(samples: readonly DrawdownSample[], rule = RULE): DrawdownState {
  const [first, ...rest] = samples;
  if (first === undefined) throw new Error("an index needs a sample");
  return rest.reduce((state, next) => nextDrawdown(state, next, rule), beginDrawdown(first));
}

describe("the fall of the wallets' value", () => {
  test("follows prices: a stop is beyond its share, and not at it", () => {
    const at = (price: string) =>
      follow([sample(0, { usdc: 0n, weth: 1_000n }), sample(1, { usdc: 0n, weth: 1_000n, price })]);
    expect([fallOf(at("800")), isBeyondStop(at("800"), RULE)]).toEqual([200_000n, false]);
    expect([fallOf(at("799.999999")), isBeyondStop(at("799.999999"), RULE)]).toEqual([200_001n, true]);
    expect(fallOf(at("1200"))).toBe(0n);
  });

  test("counts a loss by a swap, also of money that was deposited just before it, against all of the money", () => {
    const before = sample(0, { usdc: 100n, weth: 0n });
    const lost = sample(1, { usdc: 50n, weth: 25n, swapped: { usdc: -50n, weth: 25n } });
    expect(fallOf(follow([before, lost]))).toBe(250_000n);
    const deposited = sample(1, { usdc: 1_050n, weth: 25n, swapped: { usdc: -50n, weth: 25n } });
    expect(fallOf(follow([before, deposited]))).toBe(22_728n);
    const dust = [
      sample(0, { usdc: 1n, weth: 0n }),
      sample(1, { usdc: 1n, weth: 990n, swapped: { usdc: -1_000n, weth: 990n } }),
    ];
    expect(fallOf(follow(dust))).toBe(9_991n);
  });

  test("is measured from the high of the window: what is older is forgotten, and what is in it is not", () => {
    const days = [1_000, 700, 690, 690, 690, 690, 690, 690, 690, 690];
    const falls = days.map((_, day) =>
      fallOf(
        follow(
          days.slice(0, day + 1).map((price, n) => sample(n * 24 * HOUR_MS, { usdc: 0n, weth: 1n, price: `${price}` })),
        ),
      ),
    );
    expect(falls.map(Number)).toEqual([0, 300_000, 310_000, 310_000, 310_000, 310_000, 310_000, 14_286, 0, 0]);
  });

  test("is measured from a high that a clock ahead saw for one window from now on, and not until that clock's time", () => {
    const held = { usdc: 0n, weth: 1_000n };
    const ahead = sample(3_650 * 24 * HOUR_MS, held);
    const low = (hours: number) => sample(hours * HOUR_MS, { ...held, price: "700" });
    expect(isBeyondStop(follow([ahead, low(1)]), RULE)).toBe(true);
    expect(isBeyondStop(follow([ahead, low(1), low(167)]), RULE)).toBe(true);
    expect(isBeyondStop(follow([ahead, low(1), low(170)]), RULE)).toBe(false);
  });

  test("keeps a bounded number of highs, however long it falls and however often it is looked at", () => {
    const week = Array.from({ length: 5_000 }, (_, n) =>
      sample(n * 120_000, { usdc: 0n, weth: 1_000n, price: `${9_000 - n}` }),
    );
    const state = follow(week);
    expect(state.highs.length).toBeLessThanOrEqual(258);
    expect(fallOf(state)).toBe(555_445n);
  });

  test("begins anew where nothing was held, and survives that everything is gone", () => {
    const empty = follow([sample(0, { usdc: 0n, weth: 0n }), sample(1, { usdc: 100n, weth: 0n })]);
    expect(fallOf(empty)).toBe(0n);
    const gone = follow([
      sample(0, { usdc: 100n, weth: 0n }),
      sample(1, { usdc: 0n, weth: 0n, swapped: { usdc: -100n, weth: 0n } }),
    ]);
    expect(fallOf(gone)).toBe(1_000_000n);
  });
});

const amount = fc.bigInt({ min: 0n, max: 10n ** 9n });

test("deposits and withdrawals alone never move it, whatever they are", () => {
  const flows = fc.array(fc.record({ usdc: amount, weth: amount }), { minLength: 2, maxLength: 30 });
  fc.assert(
    fc.property(flows, (wallets) => {
      const state = follow(wallets.map((wallet, n) => sample(n * HOUR_MS, wallet)));
      expect([fallOf(state), state.highs.length]).toEqual([0n, 1]);
    }),
  );
});

test("prices move it by what they do to the holdings, and a deposit or withdrawal at the same time changes nothing of that", () => {
  const price = fc.integer({ min: 1, max: 5_000 });
  const held = fc.bigInt({ min: 1n, max: 10n ** 6n });
  fc.assert(
    fc.property(price, price, held, amount, amount, (from, to, weth, laterWeth, laterUsdc) => {
      const before = sample(0, { usdc: 0n, weth, price: `${from}` });
      const still = follow([before, sample(1, { usdc: 0n, weth, price: `${to}` })]);
      const moved = follow([before, sample(1, { usdc: laterUsdc, weth: laterWeth, price: `${to}` })]);
      expect(moved.index).toBe(still.index);
      expect(isBeyondStop(still, RULE)).toBe(to * 10 < from * 8);
    }),
  );
});
