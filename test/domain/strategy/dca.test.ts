import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { parseUsd, type UsdPrice } from "../../../src/domain/money/price.ts";
import type { DcaSpec } from "../../../src/domain/strategy/dca.ts";
import type { RunEnd } from "../../../src/domain/strategy/kind.ts";
import { decideStrategy, initialStrategyMemory, strategyRunEnded } from "../../../src/domain/strategy/strategy.ts";
import { common, DAI, GOLD, of, USDC, view, WBTC, WETH } from "./world.ts";

function spec(sellRaw: bigint, total?: bigint, change: Partial<DcaSpec> = {}): DcaSpec {
  return {
    ...common,
    kind: "dca",
    sell: { token: USDC, raw: sellRaw },
    buy: WETH,
    budget: total === undefined ? undefined : { total },
    ...change,
  };
}

type Seen = Parameters<typeof view>[0];

function sample(strategy: DcaSpec, seen: Seen, memory = initialStrategyMemory(strategy)) {
  return decideStrategy(strategy, view(seen), memory);
}

function decide(strategy: DcaSpec, seen: Seen) {
  return sample(strategy, seen).outcome;
}

/** What is sold for each token, in order. */
function amounts(outcome: ReturnType<typeof decide>): bigint[] {
  if (outcome.kind !== "swap") throw new Error(`no order: ${outcome.reason}: ${outcome.detail}`);
  return outcome.swaps.map(({ amount }) => {
    if (amount.kind !== "fixed") throw new Error("a dca order is a fixed amount");
    return amount.raw;
  });
}

const rich: Seen = { free: [[USDC, of(USDC, 1_000_000)]] };
const priced: Seen = {
  ...rich,
  prices: [
    [USDC, "1"],
    [WETH, "2000"],
  ],
};
const SLOT_MS = view({}).slotMs;

/** The end of the run of the view's slot, which sold so much for WETH. */
function end(sold: bigint, reason?: string): RunEnd {
  const swap = { position: 0, sell: USDC, buy: WETH, sold, bought: sold, reason };
  return { slotMs: SLOT_MS, nowMs: SLOT_MS, filled: sold > 0n, swaps: [swap] };
}

describe("how much is sold", () => {
  it("DCA-1 sells its amount at each slot, without a budget for ever", () => {
    const seen: Seen = { free: [[USDC, of(USDC, 100)]], spent: [[USDC, of(USDC, 1_000_000)]] };
    expect(decide(spec(of(USDC, 100)), seen)).toEqual({
      kind: "swap",
      swaps: [{ sell: USDC, buy: WETH, amount: { kind: "fixed", raw: of(USDC, 100) } }],
    });
  });

  it("DCA-2 sells a share of what is free, rounded down, and never more than all of it", () => {
    const strategy = spec(0n, undefined, { sell: { token: USDC, share: toPpm(20_000) } });
    expect(amounts(decide(strategy, { free: [[USDC, 12_345_678n]] }))).toEqual([246_913n]);
    const most = { ...strategy, sell: { token: USDC, share: toPpm(600_000) } };
    expect(amounts(decide(most, { free: [[USDC, 99n]], slots: 2 }))).toEqual([99n]);
    expect(decide(strategy, { free: [[USDC, 0n]] })).toMatchObject({ reason: "insufficient_balance" });
  });

  it("DCA-3 sells what is worth so many dollars, and asks again while nobody knows the price", () => {
    const usd = parseUsd("100") as UsdPrice;
    const strategy = spec(0n, undefined, { sell: { token: WETH, usd }, buy: USDC });
    const free: Seen["free"] = [[WETH, of(WETH, 1)]];
    expect(amounts(decide(strategy, { free, prices: [[WETH, "3000"]] }))).toEqual([33_333_333_333_333_333n]);
    expect(decide(strategy, { free })).toMatchObject({ kind: "defer", reason: "unpriceable" });
  });

  it.each([
    ["a share of what is free", { token: GOLD, share: toPpm(20_000) }],
    ["what is worth so many dollars", { token: GOLD, usd: parseUsd("100") as UsdPrice }],
  ])("DCA-6 %s that comes to less than one unit is no want of balance", (_name, sell) => {
    const strategy = spec(0n, undefined, { sell, buy: USDC, onInsufficient: "pause" });
    const prices = [[GOLD, "250"]] as const;
    expect(sample(strategy, { free: [[GOLD, 40n]], prices })).toMatchObject({
      outcome: {
        ...{ kind: "skip", reason: "below_minimum_trade" },
        detail: "the slot's amount is less than the smallest unit, 1 GOLD",
      },
      pause: undefined,
    });
    expect(sample(strategy, { free: [[GOLD, 0n]], prices }).outcome).toMatchObject({ reason: "insufficient_balance" });
  });

  it("DCA-4 sells what an amount costs, rounded up, within max_sell, which binds the signature too", () => {
    const sell = { token: USDC, bought: of(WETH, "0.01"), most: of(USDC, 20) };
    const strategy = spec(0n, undefined, { sell });
    const at = (dollars: string, slots = 1) =>
      decide(strategy, {
        ...rich,
        slots,
        prices: [
          [USDC, "1"],
          [WETH, dollars],
        ],
      });
    expect(at("1999.99999")).toMatchObject({ swaps: [{ floor: { bought: sell.bought, sold: sell.most } }] });
    expect(amounts(at("1999.99999"))).toEqual([20_000_000n]);
    expect(amounts(at("1500.00001"))).toEqual([15_000_001n]);
    expect(at("2000.0001")).toMatchObject({ kind: "defer", reason: "max_sell_exceeded" });
    // Two slots' amounts may cost twice as much.
    expect(amounts(at("2000", 2))).toEqual([of(USDC, 40)]);
    expect(decide(strategy, { ...rich, prices: [[USDC, "1"]] })).toMatchObject({
      kind: "defer",
      reason: "unpriceable",
    });
  });

  it("DCA-5 splits an order exactly, in the order of the file, whatever the amount and the shares", () => {
    const weights = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 30n }), weights, (raw, parts) => {
        const tokens = [WETH, WBTC, DAI];
        const given = parts.slice(0, -1).map((part) => toPpm(part * 300));
        const rest = toPpm(1_000_000n - given.reduce((sum, part) => sum + part, 0n));
        const buy = [...given, rest].map((weight, index) => ({ token: tokens[index] ?? WETH, weight }));
        const outcome = decide(spec(raw, undefined, { buy }), { free: [[USDC, raw]] });
        const sold = amounts(outcome);
        expect(sold.reduce((sum, part) => sum + part, 0n)).toBe(raw);
        expect(sold.every((part) => part > 0n)).toBe(true);
        if (outcome.kind !== "swap") return;
        const order = outcome.swaps.map((swap) => buy.findIndex(({ token }) => token === swap.buy));
        expect(order).toEqual([...order].sort());
        for (const [index, part] of sold.entries()) {
          const weight = buy[order[index] ?? -1]?.weight ?? 0n;
          expect(part * 1_000_000n).toBeGreaterThan(raw * weight - 1_000_000n);
        }
      }),
    );
    const buy = [
      { token: WETH, weight: toPpm(600_000) },
      { token: WBTC, weight: toPpm(400_000) },
    ];
    expect(amounts(decide(spec(101n, undefined, { buy }), rich))).toEqual([60n, 41n]);
  });

  it("DCA-6 leaves out an order that is not worth it", () => {
    const strategy = spec(0n, undefined, { sell: { token: USDC, share: toPpm(20_000) }, minSell: of(USDC, 10) });
    expect(decide(strategy, { free: [[USDC, of(USDC, 499)]] })).toMatchObject({
      kind: "skip",
      reason: "below_minimum_trade",
    });
    expect(amounts(decide(strategy, { free: [[USDC, of(USDC, 500)]] }))).toEqual([of(USDC, 10)]);
  });

  it("DCA-7 sells for all the slots that a run stands for, and says so", () => {
    expect(decide(spec(of(USDC, 100)), { ...rich, slots: 3 })).toMatchObject({
      swaps: [{ amount: { raw: of(USDC, 300) } }],
      detail: "sells 300 USDC: for 3 slots",
    });
    expect(amounts(decide(spec(of(USDC, 100), of(USDC, 250)), { ...rich, slots: 3 }))).toEqual([of(USDC, 250)]);
  });
});

describe("where it ends", () => {
  it("DCA-8 sells only what is left of the budget with its last order", () => {
    const strategy = spec(of(USDC, 100), of(USDC, 250));
    const outcome = decide(strategy, { free: [[USDC, of(USDC, 1_000)]], spent: [[USDC, of(USDC, 200)]] });
    expect(outcome).toMatchObject({ swaps: [{ amount: { raw: of(USDC, 50) } }] });
  });

  it("DCA-9 has completed when the budget is spent, also when it was overspent by hand", () => {
    const strategy = spec(of(USDC, 100), of(USDC, 250));
    for (const spent of [250, 300]) {
      const detail = `spent ${spent} USDC of 250 USDC`;
      expect(sample(strategy, { ...rich, spent: [[USDC, of(USDC, spent)]] })).toMatchObject({
        outcome: { kind: "skip", reason: "budget_spent", detail },
        pause: { code: "completed", detail },
      });
    }
  });

  it("DCA-9 completes with the run that used the budget up, by what was measured, and not with one that did not", () => {
    const strategy = spec(of(USDC, 100), of(USDC, 250));
    const { memory } = sample(strategy, { ...rich, spent: [[USDC, of(USDC, 200)]] });
    expect(strategyRunEnded(strategy, memory, end(of(USDC, 50)))).toMatchObject({ pause: { code: "completed" } });
    expect(strategyRunEnded(strategy, memory, end(of(USDC, 50) - 1n)).pause).toBeUndefined();
    expect(strategyRunEnded(strategy, memory, end(0n, "quote_unavailable")).pause).toBeUndefined();
    // What is left is not worth an order.
    const worth = { ...strategy, minSell: of(USDC, 10) };
    expect(strategyRunEnded(worth, memory, end(of(USDC, 41))).pause).toMatchObject({ code: "completed" });
    expect(strategyRunEnded(worth, memory, end(of(USDC, 40))).pause).toBeUndefined();
    // The budget was raised while the run was open.
    expect(strategyRunEnded(spec(of(USDC, 100), of(USDC, 251)), memory, end(of(USDC, 50))).pause).toBeUndefined();
  });

  it("DCA-9 completes where the rest of its budget is less than the policy lets any swap be, and for nothing else", () => {
    const strategy = spec(of(USDC, 100), of(USDC, 205));
    const tooSmall = end(0n, "TRADE_TOO_SMALL");
    const { memory } = sample(strategy, { ...rich, spent: [[USDC, of(USDC, 200)]] });
    const detail = "spent 200 USDC of 205 USDC, and the policy's min_trade is more than the rest";
    expect(strategyRunEnded(strategy, memory, tooSmall).pause).toEqual({ code: "completed", detail });
    expect(strategyRunEnded(strategy, memory, { ...tooSmall, dry: true }).pause, "nothing is over in a dry run").toBe(
      undefined,
    );
    expect(strategyRunEnded(strategy, memory, end(0n, "FEE_CAP_EXCEEDED")).pause).toBe(undefined);
    expect(strategyRunEnded(spec(of(USDC, 100), of(USDC, 206)), memory, tooSmall).pause, "raised").toBe(undefined);
    const whole = sample(strategy, { ...rich, spent: [[USDC, of(USDC, 100)]] }).memory;
    expect(strategyRunEnded(strategy, whole, tooSmall).pause, "more is left than this order").toBe(undefined);
    const parts = { buy: [WETH, WBTC].map((token) => ({ token, weight: toPpm(500_000) })) };
    const split = sample({ ...strategy, ...parts }, { ...rich, spent: [[USDC, of(USDC, 200)]] }).memory;
    const [first] = tooSmall.swaps;
    const mixed = [first, { ...first, position: 1, reason: "quote_unavailable" }] as RunEnd["swaps"];
    expect(strategyRunEnded({ ...strategy, ...parts }, split, { ...tooSmall, swaps: mixed }).pause).toBe(undefined);
  });

  it("DCA-10 buys at its last instant and completes at the first slot after it", () => {
    const strategy = spec(of(USDC, 100), undefined, { budget: { untilMs: SLOT_MS } });
    expect(decide(strategy, rich).kind).toBe("swap");
    expect(sample(strategy, { ...rich, nowMs: SLOT_MS + 1_000 })).toMatchObject({
      outcome: { kind: "skip", reason: "ended", detail: "its end lies 1s before this slot" },
      pause: { code: "completed" },
    });
  });

  it("DCA-11 counts the runs that bought something, and completes with the last of them", () => {
    const strategy = spec(of(USDC, 100), undefined, { budget: { maxRuns: 2 } });
    let memory = initialStrategyMemory(strategy);
    for (const [sold, completed] of [
      [of(USDC, 100), false],
      [0n, false],
      [of(USDC, 100), true],
    ] as const) {
      const decision = sample(strategy, rich, memory);
      expect(decision.outcome.kind).toBe("swap");
      const after = strategyRunEnded(strategy, decision.memory, end(sold, sold > 0n ? undefined : "wallet_busy"));
      expect(after.pause?.code).toBe(completed ? "completed" : undefined);
      memory = after.memory;
    }
    // Resumed without a larger number it says the same again.
    expect(sample(strategy, rich, memory)).toMatchObject({
      outcome: { reason: "ended" },
      pause: { code: "completed" },
    });
  });

  it("DCA-12 buys nothing before its start and nothing more for it afterwards", () => {
    const strategy = spec(of(USDC, 100), undefined, { startMs: SLOT_MS + 60_000 });
    expect(sample(strategy, rich)).toMatchObject({
      outcome: { kind: "skip", reason: "not_started" },
      pause: undefined,
    });
    expect(amounts(decide(strategy, { ...rich, nowMs: SLOT_MS + 60_000 }))).toEqual([of(USDC, 100)]);
  });
});

describe("what it waits for", () => {
  it.each([
    ["<=", "2000", true],
    ["<=", "2000.000001", false],
    ["<", "2000", false],
    ["<", "1999.999999", true],
    [">=", "2000", true],
    [">=", "1999.999999", false],
    [">", "2000", false],
    [">", "2000.000001", true],
  ] as const)("DCA-13 a price that must be %s 2000 opens the gate at %s: %s", (comparison, dollars, open) => {
    const onlyIf = { of: WETH, comparison, price: { quote: USDC, raw: of(USDC, 2_000) } };
    const strategy = spec(of(USDC, 100), undefined, { onlyIf });
    const outcome = decide(strategy, {
      ...rich,
      prices: [
        [USDC, "1"],
        [WETH, dollars],
      ],
    });
    expect(outcome).toMatchObject(open ? { kind: "swap" } : { kind: "defer", reason: "price_gate" });
  });

  it("DCA-13 keeps the gate shut while a price is not known, and prices in the other token", () => {
    const onlyIf = { of: WETH, comparison: "<=", price: { quote: DAI, raw: of(DAI, 1_000) } } as const;
    const strategy = spec(of(USDC, 100), undefined, { onlyIf });
    expect(decide(strategy, priced)).toMatchObject({ kind: "defer", reason: "unpriceable" });
    expect(
      decide(strategy, {
        ...rich,
        prices: [
          [WETH, "2000"],
          [DAI, "2"],
        ],
      }).kind,
    ).toBe("swap");
  });

  it("DCA-13 asks again every half a minute, or twenty times where the window is short", () => {
    const onlyIf = { of: WETH, comparison: "<", price: { quote: USDC, raw: 1n } } as const;
    for (const [retryForSeconds, ms] of [
      [60, 3_000],
      [600, 30_000],
      [3_600, 30_000],
    ] as const) {
      const strategy = spec(of(USDC, 100), undefined, { onlyIf, retryForSeconds });
      expect(decide(strategy, priced)).toMatchObject({ kind: "defer", untilMs: SLOT_MS + ms });
    }
  });

  it("DCA-14 skips rather than sell less when the balance does not suffice, and when it is unknown", () => {
    const expected = { kind: "skip", reason: "insufficient_balance" };
    expect(decide(spec(of(USDC, 100)), { free: [[USDC, of(USDC, 100) - 1n]] })).toMatchObject(expected);
    expect(decide(spec(of(USDC, 100)), {})).toMatchObject(expected);
    expect(sample(spec(of(USDC, 100)), {}).pause).toBeUndefined();
  });

  it("DCA-14 sells what is free, or stops, when it was told to", () => {
    const partial = spec(of(USDC, 100), undefined, { onInsufficient: "partial", minSell: of(USDC, 10) });
    expect(amounts(decide(partial, { free: [[USDC, of(USDC, 10)]] }))).toEqual([of(USDC, 10)]);
    expect(decide(partial, { free: [[USDC, of(USDC, 10) - 1n]] })).toMatchObject({ reason: "insufficient_balance" });
    expect(decide({ ...partial, minSell: undefined }, {})).toMatchObject({ reason: "insufficient_balance" });
    expect(sample(spec(of(USDC, 100), undefined, { onInsufficient: "pause" }), {})).toMatchObject({
      outcome: { kind: "skip", reason: "insufficient_balance" },
      pause: { code: "insufficient_balance", detail: "needs 100 USDC, free are 0 USDC" },
    });
  });
});

it("DCA-8 never spends more than the budget, and spends all of it, whatever fills and fails between", () => {
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
          const [raw = 0n] = amounts(outcome);
          expect(raw).toBeGreaterThan(0n);
          expect(raw).toBeLessThanOrEqual(sellRaw);
          if (filled) spent += raw;
          expect(spent).toBeLessThanOrEqual(total);
        }
      },
    ),
  );
});

it("refuses a stored memory that is none of its kind instead of starting afresh", () => {
  const strategy = spec(1n);
  for (const memory of [
    ...[undefined, null, {}, { version: 2 }, [], "x", { version: 1, runs: -1 }, { version: 1, carry: { x: "1" } }],
    ...[
      { version: 1, carry: { [WETH.address]: "-1" } },
      { version: 1, open: {} },
      { version: 1, runs: "1" },
    ],
  ]) {
    expect(() => decideStrategy(strategy, view({}), memory)).toThrow(/stored memory of strategy "test"/);
  }
});

it("goes on with the memory of a release that kept nothing in it", () => {
  const strategy = spec(of(USDC, 100));
  expect(sample(strategy, rich, { version: 1 })).toMatchObject({
    outcome: { kind: "swap" },
    memory: { version: 1, runs: 0 },
  });
});
