import { describe, expect, test } from "vitest";
import { findConflicts } from "../../../src/domain/guard/conflicts.ts";
import type { StrategySpec } from "../../../src/domain/strategy/spec.ts";
import { dcaSpec, ETH, RELAYER, rebalanceSpec, thresholdSpec, USDC, WBTC, WETH } from "../../support/builders.ts";

function conflictsOf(specs: readonly StrategySpec[], most = 10) {
  const { conflicts, isCut } = findConflicts(specs, { wrappedNative: WETH.address, most });
  const reported = conflicts.map(({ first, second, crossings }) => {
    const crossed = crossings.map(
      ({ seller, sold, buyer, bought }) => `${seller} ${sold.symbol} > ${buyer} ${bought.symbol}`,
    );
    return `${first}+${second}: ${crossed.join(", ")}`;
  });
  return { reported, isCut };
}

describe("strategies of one wallet", () => {
  test("conflict where one sells what the other buys, reported once a pair with all their tokens", () => {
    expect(conflictsOf([dcaSpec(), thresholdSpec()]).reported).toEqual([
      "weekly+take-profit: weekly USDC > take-profit USDC, take-profit WETH > weekly WETH",
    ]);
  });

  test("conflict over the native coin and its wrapped form, which are one thing", () => {
    const allocation = dcaSpec({ id: "allocation", sell: { token: ETH, raw: 1n }, buy: WBTC });
    expect(conflictsOf([dcaSpec(), allocation]).reported).toEqual(["weekly+allocation: allocation ETH > weekly WETH"]);
  });

  test("do not conflict when they buy the same, or one strategy trades both ways", () => {
    expect(conflictsOf([dcaSpec(), dcaSpec({ id: "other" }), dcaSpec({ id: "btc", buy: WBTC })]).reported).toEqual([]);
    expect(conflictsOf([rebalanceSpec()]).reported).toEqual([]);
  });

  test("do not conflict with those of another wallet", () => {
    const elsewhere = thresholdSpec({ wallet: { name: "other", address: RELAYER }, buy: USDC });
    expect(conflictsOf([dcaSpec(), elsewhere]).reported).toEqual([]);
  });

  test("are reported up to a number of pairs, and that there are more", () => {
    const many = [1, 2, 3].map((number) => dcaSpec({ id: `dca-${number}` }));
    expect(conflictsOf([...many, thresholdSpec()], 2)).toMatchObject({ reported: { length: 2 }, isCut: true });
    expect(conflictsOf([...many, thresholdSpec()], 3)).toMatchObject({ reported: { length: 3 }, isCut: false });
  });
});
