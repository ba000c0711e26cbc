import { describe, expect, test } from "vitest";
import { paidGas, startGas } from "../../../src/service/gas/evm-gas.ts";
import { fixtures } from "../routing/support/fixtures.ts";

describe("gas of a transaction", () => {
  test("begins with 21,000, four for each zero byte and sixteen for each other one", () => {
    expect(startGas("0x")).toBe(21_000n);
    expect(startGas("0x00")).toBe(21_004n);
    expect(startGas(`0x0a00a0${"00".repeat(10)}ff`)).toBe(21_000n + 3n * 16n + 11n * 4n);
  });

  test("is given back by a fifth at most", () => {
    expect(paidGas({ used: 200_000n, refund: 10_000n })).toBe(190_000n);
    expect(paidGas({ used: 200_000n, refund: 60_000n })).toBe(160_000n);
  });
});

/** What a search takes for granted of every pool before it looks (`LEAST_POOL_GAS`). */
const LEAST = 60_000n;

test.each(fixtures())("no leg of the fixture $name costs less gas than a search takes for granted", ({ states }) => {
  const gas: bigint[] = [];
  for (const state of states) {
    for (const token of [state.pool.token0, state.pool.token1]) {
      for (let amount = 1_000n; amount < 10n ** 27n; amount *= 1_000n) {
        const quote = state.quote(token, amount);
        if (quote.kind === "filled") gas.push(quote.gas);
      }
    }
  }
  expect(gas.length).toBeGreaterThan(states.length);
  expect(gas.filter((one) => one < LEAST)).toEqual([]);
});
