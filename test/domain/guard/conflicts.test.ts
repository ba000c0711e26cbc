import { describe, expect, test } from "vitest";
import { findConflicts, findRivals, type Side } from "../../../src/domain/guard/conflicts.ts";
import type { StrategySpec } from "../../../src/domain/strategy/spec.ts";
import {
  dcaSpec,
  ETH,
  RELAYER,
  rebalanceSpec,
  thresholdSpec,
  USDC,
  WALLET,
  WBTC,
  WETH,
} from "../../support/builders.ts";

function conflictsOf(specs: readonly StrategySpec[]): readonly string[] {
  const named = (sides: readonly Side[]): string =>
    sides.map(({ strategy, token }) => `${strategy} ${token.symbol}`).join(", ");
  return findConflicts(specs, WETH.address).map(
    ({ wallet, sellers, buyers }) => `${wallet}: ${named(sellers)} > ${named(buyers)}`,
  );
}

describe("strategies of one wallet", () => {
  test("conflict where one sells what the other buys, reported once a coin", () => {
    expect(conflictsOf([dcaSpec(), thresholdSpec()])).toEqual([
      "main: weekly USDC > take-profit USDC",
      "main: take-profit WETH > weekly WETH",
    ]);
  });

  test("conflict in one line, however many they are", () => {
    const many = [1, 2, 3].map((number) => dcaSpec({ id: `dca-${number}`, sell: { token: WBTC, raw: 1n } }));
    expect(conflictsOf([...many, thresholdSpec()])).toEqual([
      "main: take-profit WETH > dca-1 WETH, dca-2 WETH, dca-3 WETH",
    ]);
  });

  test("conflict over the native coin and its wrapped form, which are one thing", () => {
    const allocation = dcaSpec({ id: "allocation", sell: { token: ETH, raw: 1n }, buy: WBTC });
    expect(conflictsOf([dcaSpec(), allocation])).toEqual(["main: allocation ETH > weekly WETH"]);
  });

  test("do not conflict when they buy the same, or one strategy trades both ways", () => {
    expect(conflictsOf([dcaSpec(), dcaSpec({ id: "other" }), dcaSpec({ id: "btc", buy: WBTC })])).toEqual([]);
    expect(conflictsOf([rebalanceSpec()])).toEqual([]);
  });

  test("do not conflict with those of another wallet", () => {
    const elsewhere = thresholdSpec({ wallet: { name: "other", address: RELAYER }, buy: USDC });
    expect(conflictsOf([dcaSpec(), elsewhere])).toEqual([]);
  });
});

describe("two mixes", () => {
  const pairOf = (specs: readonly StrategySpec[]) =>
    findRivals(specs, WETH.address).map(
      ({ first, second, tokens }) => `${first}+${second}: ${tokens.map(({ symbol }) => symbol).join(" ")}`,
    );
  const two = rebalanceSpec({ id: "two", targets: rebalanceSpec().targets.slice(1) });

  test("that hold a token of one wallet at weights are rivals, each with the first that does", () => {
    expect(pairOf([rebalanceSpec(), dcaSpec(), two, { ...two, id: "three" }])).toEqual([
      "mix+two: WBTC USDC",
      "mix+three: WBTC USDC",
    ]);
  });

  test("are rivals over the native coin and its wrapped form", () => {
    const [, , usdc] = rebalanceSpec().targets;
    const [weth] = rebalanceSpec().targets;
    if (weth === undefined || usdc === undefined) throw new Error("the sample mix has three tokens");
    const one = rebalanceSpec({
      targets: [
        { ...weth, token: ETH },
        { ...usdc, token: WBTC },
      ],
    });
    expect(pairOf([one, rebalanceSpec({ id: "two", targets: [weth, usdc] })])).toEqual(["mix+two: WETH"]);
  });

  test("of two wallets, or without a token in common, are none", () => {
    const other = { name: "other", address: RELAYER };
    expect(pairOf([rebalanceSpec(), { ...two, wallet: other }])).toEqual([]);
    expect(pairOf([rebalanceSpec({ targets: rebalanceSpec().targets.slice(0, 1) }), two])).toEqual([]);
    expect(rebalanceSpec().wallet.address).toBe(WALLET);
    expect(two.quote).toBe(USDC);
  });
});
