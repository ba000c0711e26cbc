import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  asDecimal,
  asDollars,
  basisPoints,
  dollars,
  group,
  percent,
  round,
  shareOf,
  shorten,
  shortHex,
} from "../../dashboard/source/format/decimal.ts";

describe("amounts as text", () => {
  it("rounds half away from zero, without a floating point number", () => {
    expect(round("1.005", 2)).toBe("1.01");
    expect(round("-1.005", 2)).toBe("-1.01");
    expect(round("9.999", 2)).toBe("10.00");
    expect(round("90071992547409931234.5", 0)).toBe("90071992547409931235");
    expect(round("-0.001", 2)).toBe("0.00");
  });

  it("stays within half a unit of the last digit, for any amount", () => {
    const amounts = fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.integer({ min: 0, max: 18 }));
    fc.assert(
      fc.property(amounts, ([raw, places]) => {
        const digits = `${raw}`.padStart(19, "0");
        const text = `${digits.slice(0, -18)}.${digits.slice(-18)}`;
        const rounded = round(text, places).replace(".", "");
        const distance = BigInt(rounded) * 10n ** BigInt(18 - places) - raw;
        const half = 5n * 10n ** BigInt(17 - Math.min(places, 17));
        expect(distance <= half && distance >= -half).toBe(true);
      }),
    );
  });

  it("shortens what is long and shows what is small", () => {
    expect(shorten("1234.56789012")).toBe("1,234.57");
    expect(shorten("0.000000123456789")).toBe("0.0000001235");
    expect(shorten("1234567890.123")).toBe("1,234,567,890");
    expect(shorten("500.000000")).toBe("500");
    expect(shorten("0")).toBe("0");
    expect(shorten("0.00")).toBe("0");
  });

  it("writes dollars with cents, and less than a cent as what it is", () => {
    expect(dollars("1234.5")).toBe("$1,234.50");
    expect(dollars("0.0031234")).toBe("$0.0031");
    expect(dollars("-12.345")).toBe("-$12.35");
    expect(dollars("0")).toBe("$0.00");
  });

  it("writes a price from a chart with digits that say something, however cheap the token is", () => {
    expect([0.00001234, 3e-12, 0.42, 1.5, 3_012.4].map(asDollars)).toEqual([
      ...["$0.000012", "$0.000000000003", "$0.42", "$1.50", "$3,012.00"],
    ]);
    expect([0.0000000004567, 0, 61_234.56].map((value) => shorten(asDecimal(value)))).toEqual([
      ...["0.0000000004567", "0", "61,234.6"],
    ]);
  });

  it("leaves what is no number as it is", () => {
    for (const write of [dollars, shorten, group, percent]) expect(write("<b>1e9</b>")).toContain("<b>1e9</b>");
  });

  it("gives basis points their sign", () => {
    expect(basisPoints("3.14159")).toBe("+3.1 bp");
    expect(basisPoints("-0.04")).toBe("0 bp");
    expect(basisPoints("-12")).toBe("-12 bp");
  });

  it("fills a bar from nothing to all, and never beyond", () => {
    expect(shareOf("50", "200")).toBe(0.25);
    expect(shareOf("300", "200")).toBe(1);
    expect(shareOf("-5", "200")).toBe(0);
    expect(shareOf("5", "0")).toBe(0);
    expect(shareOf("x", "y")).toBe(0);
  });

  it("cuts hashes, and nothing that is no hash", () => {
    expect(shortHex(`0x${"ab".repeat(32)}`)).toBe("0xababab…ababab");
    expect(shortHex("0x<script>alert(1)</script>")).toBe("0x<script>alert(1)</script>");
  });
});
