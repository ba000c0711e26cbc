import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NATIVE_TOKEN, toAddress } from "../../../src/domain/money/address.ts";
import { strategyEdited, strategyNeeds } from "../../../src/domain/strategy/strategy.ts";
import { legsIn, mixSpec, percent, RebalanceLife, RULES, target } from "./rebalance-world.ts";
import { DAI, of, USDC, WBTC, WETH } from "./world.ts";

const COLD = toAddress(`0x${"c".repeat(40)}`);
const halves = [target(WETH, 50), target(USDC, 50)];
const watching = { external: { watched: [{ address: COLD, tokens: [WETH, USDC] }], stated: [] } };

function life(change: Parameters<typeof mixSpec>[1], free: ConstructorParameters<typeof RebalanceLife>[1]) {
  return new RebalanceLife(mixSpec(halves, change), free);
}

describe("external holdings of a mix", () => {
  it("REB-29 what a watched address holds counts for the weights, and is not sold", () => {
    const one = life(watching, [
      [WETH, 1],
      [USDC, 6_000],
    ]);
    one.external = [
      [WETH, of(WETH, 3)],
      [USDC, 0n],
    ];
    // 4 WETH are 12,000 dollars of 18,000: a thousand of ether and half goes, of the wallet's own
    expect(legsIn(one.slot())).toEqual(["1 WETH -> USDC"]);
    expect(one.done).toMatchObject([{ sold: of(WETH, 1), bought: of(USDC, 3_000) }]);
    expect(strategyNeeds(one.spec, one.memory).external).toEqual([{ address: COLD, tokens: [WETH, USDC] }]);
  });

  it("REB-29 what is stated counts in the same way", () => {
    const stated = { external: { watched: [], stated: [{ token: WETH, raw: of(WETH, 1) }] } };
    const one = life(stated, [
      [WETH, 1],
      [USDC, 12_000],
    ]);
    // 6,000 of 18,000 dollars: another WETH is missing
    expect(legsIn(one.decide())).toEqual(["3000 USDC -> WETH"]);
  });

  it("REB-29 the detail of the run shows it, of a skipped one and of one that trades", () => {
    const one = life(watching, [
      [WETH, 1],
      [USDC, 6_000],
    ]);
    one.external = [
      [WETH, of(WETH, "1.5")],
      [USDC, of(USDC, "1500.5")],
    ];
    const weights = "WETH 49.9983% of 50% (1.5 WETH of it external), USDC 50.0016% of 50% (1500.5 USDC of it external)";
    expect(one.decide()).toEqual({ kind: "skip", reason: "within_bands", detail: weights });
    one.external = [
      [WETH, of(WETH, 4)],
      [USDC, 0n],
    ];
    expect(one.decide()).toMatchObject({
      kind: "swap",
      detail: "WETH 71.4285% of 50% (4 WETH of it external), USDC 28.5714% of 50%",
    });
  });

  it("REB-30 what is too much and lies elsewhere is left there, and the skipped run says so", () => {
    const one = life(watching, [
      [WETH, "0.01"],
      [USDC, 3_000],
    ]);
    one.external = [
      [WETH, of(WETH, 10)],
      [USDC, 0n],
    ];
    expect(one.decide()).toMatchObject({
      reason: "below_minimum_trade",
      detail: expect.stringMatching(/^what is too much of WETH is not here to be sold; WETH 90\.9/),
    });
    expect(one.pause).toBeUndefined();
  });

  it("REB-30 to the edge, what is missing is taken of the tokens that are here", () => {
    const bands = { relative: percent(20), absolute: undefined };
    const spec = mixSpec([target(WETH, 50), target(DAI, 20, { soft: bands }), target(USDC, 30)], {
      bands: RULES,
      destination: { to: "edge", inward: percent(0) },
      external: { watched: [{ address: COLD, tokens: [WETH] }], stated: [] },
    });
    const one = new RebalanceLife(spec, [
      [DAI, 2_300],
      [USDC, 1_700],
    ]);
    // 6,000 of 10,000 are ether in the vault, at its edge; dollars lack 700 until their own, and of DAI 300 are too much
    one.external = [[WETH, of(WETH, 2)]];
    expect(legsIn(one.decide())).toEqual(["300 DAI -> USDC"]);
  });

  it("REB-31 without a reading of the addresses nothing is traded", () => {
    const one = life(watching, [
      [WETH, 3],
      [USDC, 3_000],
    ]);
    expect(one.decide()).toEqual({
      ...{ kind: "skip", reason: "unpriceable" },
      detail: "what lies at the external addresses was not read",
    });
  });

  it("REB-32 cash, the sale to the last unit and new money are of the wallet alone", () => {
    const cash = life({ ...watching, cash: { token: USDC, min: of(USDC, 5_000) } }, [
      [WETH, 1],
      [USDC, 5_000],
    ]);
    cash.external = [
      [WETH, 0n],
      [USDC, of(USDC, 20_000)],
    ];
    // dollars are far too many, but those here are set aside
    expect(cash.decide()).toMatchObject({ reason: "below_minimum_trade" });
    const leaving = { watched: [{ address: COLD, tokens: [USDC] }], stated: [] };
    const spec = mixSpec([target(WBTC, 0, { exit: true }), target(USDC, 100)], { external: leaving });
    const exit = new RebalanceLife(spec, [[WBTC, "0.12345678"]]);
    exit.external = [[USDC, of(USDC, 1_000)]];
    exit.slot();
    expect(exit.free.get(WBTC)).toBe(0n);
    const fresh = life({ ...watching, onDeposit: "buy-underweight" }, [
      [WETH, 1],
      [USDC, 3_000],
    ]);
    fresh.external = [
      [WETH, 0n],
      [USDC, 0n],
    ];
    fresh.decide();
    fresh.external = [
      [WETH, 0n],
      [USDC, of(USDC, 500)],
    ];
    expect(fresh.pass(60_000).decide()).toMatchObject({ reason: "within_bands" });
    fresh.free.set(USDC, of(USDC, 3_500));
    expect(legsIn(fresh.pass(60_000).decide())).toEqual(["500 USDC -> WETH"]);
  });

  it("REB-24 other external holdings begin the confirmation anew", () => {
    const rules = { ...RULES, soft: { forSeconds: 3_600, cooldownSeconds: 0 } };
    const one = life({ ...watching, bands: rules }, [
      [WETH, 3],
      [USDC, 3_000],
    ]);
    one.external = [
      [WETH, 0n],
      [USDC, 0n],
    ];
    one.decide();
    expect(one.remembered().softSinceMs).toBe(one.nowMs);
    const more = mixSpec(halves, { bands: rules, external: { watched: [], stated: [] } });
    expect(strategyEdited(one.spec, one.spec, one.memory)).toMatchObject({ softSinceMs: one.nowMs });
    expect(strategyEdited(one.spec, more, one.memory)).not.toHaveProperty("softSinceMs", one.nowMs);
  });

  it("REB-34 cash that is missing in the wallet is not bought for somebody else", () => {
    const change = { ...watching, cash: { token: USDC, min: of(USDC, 5_000) }, recipient: COLD };
    const one = life(change, [
      [WETH, 1],
      [USDC, 1_000],
    ]);
    one.external = [
      [WETH, 0n],
      [USDC, of(USDC, 3_000)],
    ];
    expect(one.decide()).toMatchObject({ reason: "within_bands" });
  });

  it("REB-35 the coin counts with its wrapped token, here and elsewhere, and is never traded", () => {
    const ETH = { symbol: "ETH", address: NATIVE_TOKEN, decimals: 18 };
    const targets = [target(WETH, 50, { with: [ETH] }), target(USDC, 50)];
    const external = { watched: [{ address: COLD, tokens: [WETH, ETH, USDC] }], stated: [] };
    const one = new RebalanceLife(mixSpec(targets, { external }), [
      [WETH, "0.5"],
      [ETH, "1.5"],
      [USDC, 1_500],
    ]);
    one.external = [
      [WETH, 0n],
      [ETH, of(ETH, "0.5")],
      [USDC, 0n],
    ];
    expect(legsIn(one.decide())).toEqual(["0.5 WETH -> USDC"]);
    expect(one.slot()).toMatchObject({
      detail: "WETH 83.3333% of 50% (0.5 WETH of it external, 1.5 WETH of it as ETH), USDC 16.6666% of 50%",
    });
    expect(one.free.get(ETH)).toBe(of(ETH, "1.5"));
    expect(one.pass(60_000).decide()).toMatchObject({
      reason: "below_minimum_trade",
      detail: expect.stringContaining("what is too much of WETH is not here to be sold"),
    });
  });

  it("REB-29 whatever lies elsewhere, no more is sold than the wallet has, and it comes to rest", () => {
    const whole = fc.nat({ max: 100_000 });
    fc.assert(
      fc.property(fc.tuple(whole, whole, whole), fc.tuple(whole, whole, whole), (own, elsewhere) => {
        const spec = mixSpec([target(WETH, 40), target(WBTC, 30), target(USDC, 30)], {
          external: { watched: [{ address: COLD, tokens: [WETH, WBTC, USDC] }], stated: [] },
        });
        const tokens = [WETH, WBTC, USDC];
        const worth = [3_000, 60_000, 1];
        const raws = (dollars: readonly number[]) =>
          tokens.map((token, index) => [token, of(token, dollars[index] ?? 0) / BigInt(worth[index] ?? 1)] as const);
        const one = new RebalanceLife(spec, []);
        for (const [token, raw] of raws(own)) one.free.set(token, raw);
        one.external = raws(elsewhere);
        // the life throws where more is sold than the wallet has
        for (let slot = 0; slot < 6; slot += 1) one.pass(60_000).slot();
        expect(legsIn(one.pass(60_000).slot()).join()).toMatch(/within_bands|below_minimum_trade|insufficient_balance/);
        const sold = new Set(one.done.map(({ sell }) => sell));
        expect(one.done.filter(({ buy }) => sold.has(buy))).toEqual([]);
      }),
    );
  });
});
