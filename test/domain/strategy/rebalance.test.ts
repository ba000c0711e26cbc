import { describe, expect, it } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import type { Token } from "../../../src/domain/money/token.ts";
import type { PlannedSwap } from "../../../src/domain/strategy/decision.ts";
import { resolvePlannedAmount } from "../../../src/domain/strategy/planned-amount.ts";
import type { RebalanceSpec } from "../../../src/domain/strategy/rebalance.ts";
import { decideStrategy } from "../../../src/domain/strategy/strategy.ts";
import { common, DAI, of, USDC, view, WBTC, WETH } from "./world.ts";

type Bands = Partial<RebalanceSpec["bands"]>;

function spec(targets: readonly (readonly [Token, number])[], bands: Bands, min = of(USDC, 50)): RebalanceSpec {
  return {
    ...common,
    kind: "rebalance",
    quote: USDC,
    targets: targets.map(([token, percent]) => ({ token, weight: toPpm(percent * 10_000) })),
    bands: { relative: undefined, absolute: undefined, ...bands },
    trades: { min },
  };
}

const prices = [
  [WETH, "3000"],
  [WBTC, "60000"],
  [DAI, "1"],
  [USDC, "1"],
] as const;

function decide(strategy: RebalanceSpec, free: readonly (readonly [Token, bigint])[]) {
  return decideStrategy(strategy, view({ free, prices }), { version: 1 }).outcome;
}

const half = spec(
  [
    [WETH, 50],
    [USDC, 50],
  ],
  { absolute: toPpm(50_000) },
);

describe("a band", () => {
  it("of points holds at its very edge and breaks just above it", () => {
    expect(
      decide(half, [
        [WETH, of(WETH, "0.55")],
        [USDC, of(USDC, 1_350)],
      ]),
    ).toMatchObject({ reason: "within_bands" });
    expect(
      decide(half, [
        [WETH, of(WETH, "0.551")],
        [USDC, of(USDC, 1_347)],
      ]),
    ).toMatchObject({ kind: "swap" });
  });

  it("in relation to the target is narrower for a small weight", () => {
    const targets = [
      [WETH, 90],
      [WBTC, 5],
      [USDC, 5],
    ] as const;
    const free = [
      [WETH, of(WETH, 30)],
      [WBTC, of(WBTC, "0.11")],
      [USDC, of(USDC, 3_400)],
    ] as const;
    expect(decide(spec(targets, { absolute: toPpm(50_000) }), free)).toMatchObject({ reason: "within_bands" });
    expect(decide(spec(targets, { relative: toPpm(200_000) }), free)).toMatchObject({ kind: "swap" });
    expect(decide(spec(targets, { relative: toPpm(400_000) }), free)).toMatchObject({ reason: "within_bands" });
    expect(decide(spec(targets, { absolute: toPpm(50_000), relative: toPpm(200_000) }), free).kind).toBe("swap");
  });
});

describe("trades", () => {
  it("sell what is overweight to its target, and say in detail why nothing was done", () => {
    expect(
      decide(half, [
        [WETH, of(WETH, 2)],
        [USDC, of(USDC, 2_000)],
      ]),
    ).toEqual({
      kind: "swap",
      swaps: [{ sell: WETH, buy: USDC, amount: { kind: "fixed", raw: of(WETH, 2) / 3n } }],
    });
    expect(
      decide(half, [
        [WETH, of(WETH, 1)],
        [USDC, of(USDC, 3_000)],
      ]),
    ).toEqual({
      kind: "skip",
      reason: "within_bands",
      detail: "WETH 50% of 50%, USDC 50% of 50%",
    });
  });

  it("buy from the quote token's own surplus when there is nothing to sell", () => {
    expect(decide(half, [[USDC, of(USDC, 6_000)]])).toEqual({
      kind: "swap",
      swaps: [{ sell: USDC, buy: WETH, amount: { kind: "fixed", raw: of(USDC, 3_000) } }],
    });
  });

  it("sell first, and size the buys from what the sells bring", () => {
    const mix = spec(
      [
        [WETH, 40],
        [WBTC, 40],
        [USDC, 20],
      ],
      { absolute: toPpm(10_000) },
    );
    const outcome = decide(mix, [
      [WETH, of(WETH, 10)],
      [USDC, 0n],
    ]);
    if (outcome.kind !== "swap") throw new Error("expected swaps");
    expect(outcome.swaps).toEqual([
      { sell: WETH, buy: USDC, amount: { kind: "fixed", raw: of(WETH, 6) } },
      {
        sell: USDC,
        buy: WBTC,
        amount: {
          kind: "proceeds",
          of: [0],
          base: -of(USDC, 6_000) - 1n,
          share: toPpm(1_000_000),
          max: of(USDC, 12_000),
          min: of(USDC, 50),
        },
      },
    ]);
    const buy = outcome.swaps[1] as PlannedSwap;
    expect(resolvePlannedAmount(buy.amount, () => of(USDC, 18_000))).toBe(of(USDC, 12_000) - 1n);
    expect(resolvePlannedAmount(buy.amount, () => of(USDC, 17_000))).toBe(of(USDC, 11_000) - 1n);
    expect(resolvePlannedAmount(buy.amount, () => of(USDC, 30_000))).toBe(of(USDC, 12_000));
    expect(resolvePlannedAmount(buy.amount, () => of(USDC, 6_040))).toBeUndefined();
    expect(resolvePlannedAmount(buy.amount, () => 0n)).toBeUndefined();
  });

  it("below the minimum are left out, and when none is left it says so", () => {
    const tight = spec(
      [
        [WETH, 50],
        [USDC, 50],
      ],
      { absolute: toPpm(0) },
    );
    expect(
      decide(tight, [
        [WETH, of(WETH, 1)],
        [USDC, of(USDC, 3_099)],
      ]),
    ).toMatchObject({ reason: "below_minimum_trade" });
    expect(
      decide(tight, [
        [WETH, of(WETH, 1)],
        [USDC, of(USDC, 3_100)],
      ]),
    ).toMatchObject({ kind: "swap" });
  });

  it("spend nothing of a quote token that is no part of the mix, but pass sells through it", () => {
    const mix = spec(
      [
        [WETH, 50],
        [WBTC, 50],
      ],
      { absolute: toPpm(10_000) },
    );
    const outcome = decide(mix, [
      [WETH, of(WETH, 10)],
      [USDC, of(USDC, 1_000_000)],
    ]);
    expect(outcome).toMatchObject({
      swaps: [
        { sell: WETH, amount: { raw: of(WETH, 5) } },
        { buy: WBTC, amount: { base: 0n, max: of(USDC, 15_000) } },
      ],
    });
  });
});

describe("nothing is done", () => {
  it("while any token of the mix or the quote token has no price", () => {
    const free = [
      [WETH, of(WETH, 10)],
      [USDC, of(USDC, 10)],
    ] as const;
    for (const missing of [WETH, USDC]) {
      const seen = view({ free, prices: prices.filter(([token]) => token !== missing) });
      expect(decideStrategy(half, seen, { version: 1 }).outcome).toEqual({
        kind: "skip",
        reason: "unpriceable",
        detail: `no reference price for ${missing.symbol}`,
      });
    }
    const zero = view({
      free,
      prices: [
        [WETH, "0"],
        [USDC, "1"],
      ],
    });
    expect(decideStrategy(half, zero, { version: 1 }).outcome).toMatchObject({ reason: "unpriceable" });
  });

  it("with an empty wallet", () => {
    expect(decide(half, [])).toMatchObject({ reason: "insufficient_balance" });
  });
});
