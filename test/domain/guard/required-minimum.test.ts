import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { requiredMinimum, slippageGuaranteeing } from "../../../src/domain/guard/required-minimum.ts";
import { lessShareUp, toPpm } from "../../../src/domain/money/fraction.ts";
import type { UsdPrice } from "../../../src/domain/money/price.ts";
import { priceSample } from "./swap-samples.ts";

const terms = {
  quotedOut: 10n ** 17n,
  slippage: toPpm(10_000),
  gross: 100_000_000n,
  sold: { decimals: 6, usd: priceSample("1").usd },
  bought: { decimals: 18, usd: priceSample("1000").usd },
  secondOut: undefined,
  tolerance: toPpm(15_000),
};

describe("the least output that may be signed for", () => {
  it("follows the quote when the quote is the better bound", () => {
    expect(requiredMinimum(terms)).toBe(99_000_000_000_000_000n);
  });

  it("follows the reference price when the service quotes too little", () => {
    expect(requiredMinimum({ ...terms, quotedOut: 90_000_000_000_000_000n })).toBe(98_500_000_000_000_000n);
  });

  it("is never zero, however little is sold", () => {
    expect(requiredMinimum({ ...terms, quotedOut: 0n, gross: 0n })).toBe(1n);
  });

  it("never lies below any bound, in exact arithmetic", () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 36n });
    const usd = fc.bigInt({ min: 1n, max: 10n ** 30n }).map((value) => value as UsdPrice);
    const share = fc.integer({ min: 0, max: 1_000_000 }).map(toPpm);
    const decimals = fc.integer({ min: 0, max: 24 });
    const property = fc.property(
      fc.record({ quotedOut: amount, gross: amount, slippage: share, tolerance: share, secondOut: fc.option(amount) }),
      fc.record({ decimals, usd }),
      fc.record({ decimals, usd }),
      (amounts, sold, bought) => {
        const secondOut = amounts.secondOut ?? undefined;
        const minimum = requiredMinimum({ ...amounts, secondOut, sold, bought });
        const bySecond = (secondOut ?? 0n) * (1_000_000n - amounts.tolerance) <= minimum * 1_000_000n;
        const byQuote = amounts.quotedOut * (1_000_000n - amounts.slippage) <= minimum * 1_000_000n;
        const worth = amounts.gross * sold.usd * 10n ** BigInt(bought.decimals) * (1_000_000n - amounts.tolerance);
        return byQuote && bySecond && worth <= minimum * bought.usd * 10n ** BigInt(sold.decimals) * 1_000_000n;
      },
    );
    fc.assert(property, { numRuns: 1_000 });
  });
});

describe("asking once more with a tighter slippage", () => {
  it("gives up when the quote itself is below the minimum", () => {
    expect(slippageGuaranteeing(11n, 10n)).toBeUndefined();
    expect(slippageGuaranteeing(1n, 0n)).toBeUndefined();
  });

  it("finds a slippage whose minimum, rounded by the service, reaches the required one", () => {
    const property = fc.property(
      fc.bigInt({ min: 1n, max: 10n ** 30n }),
      fc.bigInt({ min: 0n, max: 10n ** 30n }),
      (minimum, more) => {
        const slippage = slippageGuaranteeing(minimum, minimum + more);
        return slippage !== undefined && lessShareUp(minimum + more, slippage) >= minimum;
      },
    );
    fc.assert(property, { numRuns: 1_000 });
  });
});
