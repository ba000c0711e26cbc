import { expect, test } from "vitest";
import { planText } from "../../src/app/commands/plan.ts";
import { type Plan, plannedApprovals } from "../../src/app/read-plan.ts";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import type { ForecastSlot } from "../../src/domain/forecast/forecast.ts";
import { HUNDRED_USDC, SLOT_MS, USDC, WETH } from "../support/builders.ts";
import { createOutside, openLife } from "../support/engine-life.ts";

const REFUSAL = "0x01 refuses allowance: the call reverts";

test("a token that does not tell its allowance is named, and hides no other approval", async () => {
  const outside = createOutside(SLOT_MS, {});
  const { context, engine } = openLife(outside);
  const [strategy] = context.settings.strategies;
  const allowance = outside.chain.allowance.bind(outside.chain);
  outside.chain.allowance = async (grant) => {
    if (grant.token === USDC.address) throw new ChainReadError("reverted", REFUSAL);
    return await allowance(grant);
  };
  const swaps = [
    { sell: USDC, buy: WETH, amount: HUNDRED_USDC },
    { sell: WETH, buy: USDC, amount: 1n },
  ];
  const slots = [{ strategyId: strategy?.spec.id, slotMs: 1, decision: "trade", swaps }] as unknown as ForecastSlot[];
  const approvals = await plannedApprovals(context, slots);
  expect(approvals).toMatchObject([
    { token: USDC, needed: HUNDRED_USDC, allowance: REFUSAL },
    { token: WETH, needed: 1n, allowance: 0n },
  ]);
  const made: Plan = {
    ...{ nowMs: 1, slots: [], approvals, spenders: [], unread: [], unpriced: [], budgets: [], nativeSymbol: "ETH" },
    worstCase: { perDayUsd: 0n, perMonthUsd: 0n, perDayBounds: [], perMonthBounds: [] },
    gas: { transactions: 0, wei: 0n, balances: new Map() },
    proposals: 0,
    localTime: () => "",
  };
  expect(planText(made)).toContain(`allows of USDC already is not known, and nothing is sold until it is: ${REFUSAL}`);
  expect(planText(made)).not.toContain("allows of WETH");
  await engine.stop();
});

test("a node that is away ends a plan, as before", async () => {
  const outside = createOutside(SLOT_MS, {});
  const { context } = openLife(outside);
  outside.chain.allowance = () => Promise.reject(new ChainReadError("unreachable", "connection refused"));
  const swaps = [{ sell: USDC, buy: WETH, amount: HUNDRED_USDC }];
  const id = context.settings.strategies[0]?.spec.id;
  const slots = [{ strategyId: id, slotMs: 1, decision: "trade", swaps }] as unknown as ForecastSlot[];
  await expect(plannedApprovals(context, slots)).rejects.toThrow("connection refused");
});
