import { describe, expect, test } from "vitest";
import {
  describeAmount,
  describeBoth,
  describeBothDollars,
  describeDollars,
  describeRate,
  roundedUnits,
} from "../../src/domain/money/for-people.ts";
import { USDC, usd, WBTC, WETH } from "../support/builders.ts";

describe("numbers for people", () => {
  test.each([
    [120_500_000n, 6, "120.5"],
    [0n, 18, "0"],
    [41_234_567_890_123_456n, 18, "0.0412345"],
    [1n, 18, "0.000000000000000001"],
    [1_234_567_899_999n, 6, "1234567.89"],
    [-3_999_999_999_999_999_999n, 18, "-3.99999"],
    [10n ** 20n, 18, "100"],
    [7n, 0, "7"],
  ])("%d with %d decimals is %s: rounded towards zero, all of the whole part", (raw, decimals, expected) => {
    expect(roundedUnits(raw, decimals)).toBe(expected);
  });

  test("amounts have their token, dollars their cents", () => {
    expect(describeAmount(120_500_000n, USDC)).toBe("120.5 USDC");
    expect(describeDollars(usd("11330.271665780999809959"))).toBe("11330.27 USD");
    expect(describeDollars(usd("5"))).toBe("5.00 USD");
    expect(describeDollars(usd("0.00312345678"))).toBe("0.00312345 USD");
    expect(describeDollars(0n)).toBe("0.00 USD");
    expect(describeDollars(-usd("2.999"))).toBe("-2.99 USD");
  });

  test("two amounts that differ never look the same", () => {
    expect(describeBoth(100_000_001n, 100_000_000n, USDC)).toEqual(["100.000001 USDC", "100 USDC"]);
    expect(describeBoth(10n ** 18n + 1n, 10n ** 18n, WETH)).toEqual(["1.000000000000000001 WETH", "1 WETH"]);
    expect(describeBoth(120_500_000n, 100_000_000n, USDC)).toEqual(["120.5 USDC", "100 USDC"]);
    expect(describeBoth(5n, 5n, USDC)).toEqual(["0.000005 USDC", "0.000005 USDC"]);
    expect(describeBothDollars(usd("100.001"), usd("100"))).toEqual(["100.001 USD", "100 USD"]);
    expect(describeBothDollars(usd("120.5"), usd("100"))).toEqual(["120.50 USD", "100.00 USD"]);
  });

  test("a rate is reported for one of the dearer token, whichever was sold", () => {
    const hundred = { raw: 100_000_000n, token: USDC };
    const ether = { raw: 41_200_000_000_000_000n, token: WETH };
    expect(describeRate(hundred, ether)).toBe("2427.18 USDC for 1 WETH");
    expect(describeRate(ether, hundred)).toBe("2427.18 USDC for 1 WETH");
    expect(describeRate({ raw: 10n ** 18n, token: WETH }, { raw: 2_000_000n, token: WBTC })).toBe("50 WETH for 1 WBTC");
    expect(describeRate(hundred, { raw: 0n, token: WETH })).toBeUndefined();
  });
});
