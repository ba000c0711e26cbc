import { expect, test } from "vitest";
import { planText } from "../../src/app/commands/plan.ts";
import { bySender, type Plan } from "../../src/app/read-plan.ts";
import type { ForecastSlot } from "../../src/domain/forecast/forecast.ts";
import { dcaSpec, HUNDRED_USDC, ROUTER, USDC, WALLET, WETH } from "../support/builders.ts";

// A Safe sends nothing, and has no gas to pay: its owners do.

const swap = { sell: USDC, buy: WETH, amount: HUNDRED_USDC, bought: 1n };
const slotOf = (strategyId: string, problem?: ForecastSlot["swaps"][number]["problem"]) =>
  ({ strategyId, slotMs: 1, decision: "trade", swaps: [{ ...swap, problem }] }) as unknown as ForecastSlot;
const denied = { code: "MAX_TRADE_EXCEEDED", detail: "" } as unknown as NonNullable<
  ForecastSlot["swaps"][number]["problem"]
>;

test("what the owners of a Safe execute is no transaction of ours", () => {
  const specs = [
    { ...dcaSpec(), id: "own", gasless: "never" as const },
    { ...dcaSpec(), id: "order", gasless: "only" as const },
    { ...dcaSpec(), id: "treasury", gasless: "never" as const, wallet: { name: "treasury", address: ROUTER } },
  ];
  const strategies = specs.map((spec) => ({ spec, specHash: spec.id }));
  const slots = ["own", "order", "treasury", "treasury"].map((id) => slotOf(id));
  const sent = bySender([...slots, slotOf("treasury", denied)], { strategies, safes: new Set([ROUTER]) });
  expect([sent.own.length, sent.proposed.length]).toEqual([1, 2]);
  const none = bySender(slots, { strategies, safes: new Set([ROUTER, WALLET]) });
  expect([none.own.length, none.proposed.length]).toEqual([0, 3]);
});

test("a plan says who sends and pays", () => {
  const made: Plan = {
    ...{ nowMs: 1, slots: [], approvals: [], spenders: [], unread: [], unpriced: [], budgets: [], nativeSymbol: "ETH" },
    worstCase: { perDayUsd: 0n, perMonthUsd: 0n, perDayBounds: [], perMonthBounds: [] },
    gas: { transactions: 0, wei: 0n, balances: new Map() },
    proposals: 2,
    localTime: () => "",
  };
  expect(planText(made)).toContain("asked for 2 of these swaps: they execute them, and pay for the gas");
  expect(planText(made)).not.toContain("transactions of our own");
  expect(planText({ ...made, proposals: 0 })).not.toContain("Safes");
  const unread = [{ strategyId: "odd", detail: "0x01 refuses balanceOf: the call reverts" }];
  expect(planText({ ...made, unread })).toMatch(
    /odd is in none of this, not in the worst case either: 0x01 refuses balanceOf.*\n\nat worst: nothing is sold/,
  );
});
