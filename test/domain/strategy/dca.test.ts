import fc from "fast-check";
import { expect, it } from "vitest";
import type { DcaSpec } from "../../../src/domain/strategy/dca.ts";
import { decideStrategy, initialStrategyMemory } from "../../../src/domain/strategy/strategy.ts";
import { common, of, USDC, view, WETH } from "./world.ts";

function spec(sellRaw: bigint, total?: bigint): DcaSpec {
  return {
    ...common,
    kind: "dca",
    sell: { token: USDC, raw: sellRaw },
    buy: WETH,
    budget: total === undefined ? undefined : { total },
  };
}

function decide(strategy: DcaSpec, seen: Parameters<typeof view>[0]) {
  return decideStrategy(strategy, view(seen), initialStrategyMemory(strategy)).outcome;
}

it("sells its amount at each slot, without a budget for ever", () => {
  expect(decide(spec(of(USDC, 100)), { free: [[USDC, of(USDC, 100)]], spent: [[USDC, of(USDC, 1_000_000)]] })).toEqual({
    kind: "swap",
    swaps: [{ sell: USDC, buy: WETH, amount: { kind: "fixed", raw: of(USDC, 100) } }],
  });
});

it("sells only what is left of the budget with its last order", () => {
  const strategy = spec(of(USDC, 100), of(USDC, 250));
  const outcome = decide(strategy, { free: [[USDC, of(USDC, 1_000)]], spent: [[USDC, of(USDC, 200)]] });
  expect(outcome).toMatchObject({ swaps: [{ amount: { raw: of(USDC, 50) } }] });
});

it("stops for good when the budget is spent, also when it was overspent by hand", () => {
  const strategy = spec(of(USDC, 100), of(USDC, 250));
  for (const spent of [250, 300]) {
    expect(decide(strategy, { free: [[USDC, of(USDC, 1_000)]], spent: [[USDC, of(USDC, spent)]] })).toEqual({
      kind: "skip",
      reason: "budget_spent",
      detail: `spent ${spent} USDC of 250 USDC`,
    });
  }
});

it("skips rather than sell less when the balance does not suffice, and when it is unknown", () => {
  const expected = { kind: "skip", reason: "insufficient_balance" };
  expect(decide(spec(of(USDC, 100)), { free: [[USDC, of(USDC, 100) - 1n]] })).toMatchObject(expected);
  expect(decide(spec(of(USDC, 100)), {})).toMatchObject(expected);
});

it("never spends more than the budget, and spends all of it, whatever fills and fails between", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 10n ** 12n }),
      fc.bigInt({ min: 1n, max: 10n ** 13n }),
      fc.array(fc.boolean(), { maxLength: 40 }),
      (sellRaw, total, fills) => {
        const strategy = spec(sellRaw, total);
        let spent = 0n;
        for (const filled of fills) {
          const outcome = decide(strategy, { free: [[USDC, total]], spent: [[USDC, spent]] });
          if (outcome.kind !== "swap") {
            expect(outcome.reason).toBe("budget_spent");
            expect(spent).toBe(total);
            continue;
          }
          const amount = outcome.swaps[0]?.amount;
          if (amount?.kind !== "fixed") throw new Error("a dca order is a fixed amount");
          expect(amount.raw).toBeGreaterThan(0n);
          expect(amount.raw).toBeLessThanOrEqual(sellRaw);
          if (filled) spent += amount.raw;
          expect(spent).toBeLessThanOrEqual(total);
        }
      },
    ),
  );
});

it("refuses a stored memory that is none of its kind instead of starting afresh", () => {
  const strategy = spec(1n);
  for (const memory of [undefined, null, {}, { version: 2 }, [], "x"]) {
    expect(() => decideStrategy(strategy, view({}), memory)).toThrow(/stored memory of strategy "test"/);
  }
});
