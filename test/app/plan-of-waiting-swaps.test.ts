import { expect, test } from "vitest";
import { planText } from "../../src/app/commands/plan.ts";
import type { Plan } from "../../src/app/read-plan.ts";
import type { ForecastSlot, ForecastSwap } from "../../src/domain/forecast/forecast.ts";
import { HUNDRED_USDC, USDC, usd, WETH } from "../support/builders.ts";

// A swap that only a person lets go is not done by the daemon alone.

function textOf(change: Partial<ForecastSwap>): string {
  const swap: ForecastSwap = { sell: USDC, buy: WETH, amount: HUNDRED_USDC, bought: 10n ** 17n, problem: undefined };
  const slot: ForecastSlot = {
    ...{
      strategyId: "weekly",
      slotMs: 1,
      isAtOnce: false,
      isAfterOpenRun: false,
      decision: "swap",
      reason: undefined,
      detail: undefined,
    },
    swaps: [{ ...swap, ...change }],
  };
  const made: Plan = {
    ...{ nowMs: 1, slots: [slot], approvals: [], spenders: [], unread: [], unpriced: [], budgets: [], proposals: 0 },
    ...{ nativeSymbol: "ETH", localTime: () => "" },
    worstCase: { perDayUsd: 0n, perMonthUsd: 0n, perDayBounds: [], perMonthBounds: [] },
    gas: { transactions: 0, wei: 0n, balances: new Map() },
  };
  return planText(made);
}

test("a plan says which swap waits for an approval, and which is announced first", () => {
  expect(textOf({})).toMatch(/weekly +swap +100 USDC -> 0.1 WETH$/m);
  expect(textOf({ waitsFor: { kind: "approval", aboveUsd: usd("99") } })).toMatch(
    /weekly +swap, once approved +100 USDC/,
  );
  expect(textOf({ waitsFor: { kind: "announcement", seconds: 1_800 } })).toMatch(
    /weekly +swap, announced 30m before +100 USDC/,
  );
  const problem = { code: "DAILY_CAP_EXCEEDED", detail: "too much" };
  expect(textOf({ problem, waitsFor: { kind: "approval", aboveUsd: usd("99") } })).toMatch(/weekly +DENIED +100 USDC/);
});

test("a plan says which swap is its quote's word alone, because nothing could try it out", () => {
  expect(textOf({ untried: "simulation: no RPC endpoint shows it with other balances" })).toContain(
    "0.1 WETH, by its quote alone: it could not be tried out (simulation: no RPC endpoint shows it with other balances)",
  );
});
