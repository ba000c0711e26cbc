import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ONE_PPM, toPpm } from "../../../src/domain/money/fraction.ts";
import {
  afterImpact,
  carriedImpact,
  IMPACT_LASTS_SECONDS,
  slippageWithImpact,
} from "../../../src/domain/paper/own-impact.ts";

const AT = 1_700_000_000;

describe("the impact of own fills on paper", () => {
  test("is whole at once, half after half of its time, and nothing at its end", () => {
    const shifts = [{ seconds: AT, ppm: 4_000n }];
    expect(carriedImpact(shifts, AT)).toBe(4_000n);
    expect(carriedImpact(shifts, AT + IMPACT_LASTS_SECONDS / 2)).toBe(2_000n);
    expect(carriedImpact(shifts, AT + IMPACT_LASTS_SECONDS)).toBe(0n);
    expect(carriedImpact(shifts, AT + 10 * IMPACT_LASTS_SECONDS)).toBe(0n);
  });

  test("of several fills compounds, and is never less than that of the largest", () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt(0n, ONE_PPM), { maxLength: 6 }), (shifts) => {
        const impact = carriedImpact(
          shifts.map((ppm) => ({ seconds: AT, ppm })),
          AT,
        );
        expect(impact).toBeLessThanOrEqual(ONE_PPM);
        for (const ppm of shifts) expect(impact).toBeGreaterThanOrEqual(ppm);
      }),
    );
  });

  test("a fill of a clock that ran ahead is no larger than one of now", () => {
    expect(carriedImpact([{ seconds: AT + 5_000, ppm: 4_000n }], AT)).toBe(4_000n);
  });

  test("the minimum that is asked for is never lower than the slippage below the quote with its impact", () => {
    const ppm = fc.bigInt(0n, 200_000n);
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 24n), ppm, ppm, (quoted, slippage, impact) => {
        const asked = slippageWithImpact(toPpm(slippage), toPpm(impact));
        const minimum = quoted - (quoted * asked) / ONE_PPM;
        const promised = afterImpact(quoted, toPpm(impact));
        expect(minimum).toBeGreaterThanOrEqual(promised - (promised * slippage) / ONE_PPM - 1n);
      }),
    );
  });
});
