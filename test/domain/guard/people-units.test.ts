import { describe, expect, test } from "vitest";
import type { Check } from "../../../src/domain/guard/check.ts";
import { checkSwap } from "../../../src/domain/guard/check-swap.ts";
import type { SwapFacts } from "../../../src/domain/guard/swap-facts.ts";
import { describePrice } from "../../../src/domain/money/for-people.ts";
import { usd } from "../../support/builders.ts";
import { decodedSample, factsSample, GROSS } from "./swap-samples.ts";

function checksOf(change: Partial<SwapFacts> = {}): readonly Check[] {
  return checkSwap(factsSample(change)).checks;
}

function reported(code: string, change: Partial<SwapFacts>): string {
  const check = checksOf(change).find((one) => one.code === code && !one.ok);
  return check === undefined ? "passed" : `${check.subject}: ${check.value}, allowed: ${check.limit}`;
}

const { limits } = factsSample();

describe("what was compared is reported in people's units", () => {
  test("a price just below a dollar keeps the digits that tell it from a lost peg", () => {
    expect(describePrice(usd("0.999889"))).toBe("0.999889 USD");
    expect(describePrice(usd("2994.931234"))).toBe("2994.93 USD");
  });

  test("of a whole swap: no number is that of smallest units", () => {
    for (const { value, limit } of checksOf()) expect(`${value} ${limit}`).not.toMatch(/(^|\s)[0-9]{9,}/);
  });

  test.each<[string, Partial<SwapFacts>, string]>([
    [
      "DAILY_CAP_EXCEEDED",
      { spentTodayUsd: usd("20.5"), limits: { ...limits, maxPerDayUsd: usd("100") } },
      "value of the trades of 24 hours, this one included: 120.50 USD, allowed: at most 100.00 USD (policy: max_per_day)",
    ],
    [
      "RUN_CAP_EXCEEDED",
      { limits: { ...limits, maxTradeUsd: usd("99.999999") } },
      "value of the trade: 100.00 USD, allowed: at most 99.99 USD (policy: max_trade)",
    ],
    [
      "MONTHLY_CAP_EXCEEDED",
      { spentMonthUsd: usd("0.001"), limits: { ...limits, maxPerMonthUsd: usd("100") } },
      "value of the trades of 30 days, this one included: 100.001 USD, allowed: at most 100 USD (policy: max_per_month)",
    ],
    [
      "TRADE_TOO_SMALL",
      { limits: { ...limits, minTradeUsd: usd("250") } },
      "value of the trade: 100.00 USD, allowed: at least 250.00 USD (policy: min_trade)",
    ],
    [
      "BALANCE_TOO_LOW",
      { balances: { sold: 99_500_000n, native: 10n ** 18n } },
      "balance of USDC: 99.5 USDC, allowed: at least 100 USDC",
    ],
    [
      "BALANCE_TOO_LOW",
      { balances: { sold: GROSS - 1n, native: 10n ** 18n } },
      "balance of USDC: 99.9999 USDC, allowed: at least 100 USDC",
    ],
    [
      "GAS_PRICE_TOO_HIGH",
      { mode: "self-executed", gas: { limit: 1n, maxFeePerGas: 2_500_000_000_000n } },
      expect.stringMatching(/^fee per gas: 2500 gwei, allowed: at most [0-9.]+ gwei \(max_gas_price\)$/) as never,
    ],
    [
      "GAS_RESERVE_TOO_LOW",
      {
        ...{ mode: "self-executed", gas: { limit: 1n, maxFeePerGas: 0n } },
        ...{ balances: { sold: GROSS, native: 3_727_738_995_643_824n } },
        limits: { ...limits, gasReserve: 10n ** 16n },
      },
      "native token left after the swap: 0.00372773 ETH, allowed: at least 0.01 ETH (policy: gas_reserve)",
    ],
    [
      "SWAP_FEE_TOO_HIGH",
      { decoding: { ok: true, swap: decodedSample({ swapFee: 7_000_000n }) } },
      expect.stringMatching(/^swapFee: 7 USDC, allowed: at most [0-9.]+ USDC$/) as never,
    ],
    [
      "DEADLINE_OUT_OF_BOUNDS",
      { decoding: { ok: true, swap: decodedSample({ deadline: 1_699_999_990n }) } },
      "deadline: 10 s ago, allowed: later than now, at most in 300 s",
    ],
    [
      "OUTPUT_BELOW_MINIMUM",
      { decoding: { ok: true, swap: decodedSample({ amountOutMin: 41_200_000_000_000_000n }) } },
      expect.stringMatching(/^amountOutMin: 0\.0412 WETH, allowed: at least 0\.09[0-9]* WETH$/) as never,
    ],
  ])("%s", (code, change, expected) => {
    expect(reported(code, change)).toEqual(expected);
  });
});
