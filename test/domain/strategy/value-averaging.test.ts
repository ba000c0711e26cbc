import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import {
  decideStrategy,
  initialStrategyMemory,
  strategyEdited,
  strategyNeeds,
} from "../../../src/domain/strategy/strategy.ts";
import type { ValueAveragingSpec } from "../../../src/domain/strategy/value-averaging.ts";
import { pathValue } from "../../../src/domain/strategy/value-path.ts";
import { common, of, USDC, view, WETH } from "./world.ts";

const DAY = 86_400_000;
const START = 20_000 * DAY;

/** The worth of its ether rises by 100 USDC a day. */
function spec(change: Partial<ValueAveragingSpec> = {}): ValueAveragingSpec {
  return {
    ...common,
    kind: "value-averaging",
    schedule: { kind: "every", seconds: 86_400 },
    pay: USDC,
    buy: WETH,
    path: { step: of(USDC, 100), growth: toPpm(0) },
    maxContribution: of(USDC, 300),
    min: of(USDC, 10),
    budget: undefined,
    allowSell: false,
    startMs: undefined,
    onInsufficient: "skip",
    ...change,
  };
}

interface Moment {
  readonly day?: number;
  readonly instants?: number;
  readonly price?: string;
  readonly paid?: bigint;
  readonly bought?: bigint;
  readonly sold?: bigint;
  /** of what it sold, what a person accepted */
  readonly accepted?: bigint;
  readonly free?: bigint;
  readonly freeWeth?: bigint;
}

/** At its `n`-th slot, counted before. */
const atSlot = (slots: number) => ({ version: 1, slots: slots - 1, lastMs: START - DAY });

function decide(strategy: ValueAveragingSpec, at: Moment, memory: unknown = initialStrategyMemory(strategy)) {
  const slotMs = START + (at.day ?? 0) * DAY;
  const seen = view({
    slotMs,
    nowMs: slotMs,
    instants: at.instants ?? 1,
    free: [
      [USDC, at.free ?? of(USDC, 1_000_000)],
      [WETH, at.freeWeth ?? of(WETH, 1_000)],
    ],
    spent: [
      [USDC, at.paid ?? 0n],
      [WETH, at.sold ?? 0n],
    ],
    bought: [[WETH, at.bought ?? 0n]],
    prices: [
      [USDC, "1"],
      [WETH, at.price ?? "4000"],
    ],
  });
  const accepted = at.accepted === undefined ? undefined : new Map([[WETH.address, at.accepted]]);
  return decideStrategy(strategy, { ...seen, accepted }, memory);
}

function swapOf(decision: ReturnType<typeof decide>) {
  if (decision.outcome.kind !== "swap") return undefined;
  const [swap] = decision.outcome.swaps;
  if (swap?.amount.kind !== "fixed") throw new Error("a contribution is a fixed amount");
  return { sell: swap.sell.symbol, buy: swap.buy.symbol, raw: swap.amount.raw };
}

describe("the path", () => {
  it("VAL-1 is exact but for one rounding down", () => {
    expect(pathValue({ step: 100n, growth: toPpm(0) }, 7)).toBe(700n);
    expect(pathValue({ step: 10n ** 6n, growth: toPpm(100_000) }, 2)).toBe(2_420_000n);
    expect(pathValue({ step: 1n, growth: toPpm(1) }, 3)).toBe(3n);
    // 52 x 100 x 1.005^52, from an independent calculation with 80 digits
    expect(pathValue({ step: 100_000_000n, growth: toPpm(5_000) }, 52)).toBe(6_739_668_799n);
  });

  it("VAL-1 lies within one unit below the true value, and rises with every slot", () => {
    const paths = fc.record({
      step: fc.bigInt({ min: 1n, max: 10n ** 20n }),
      growth: fc.integer({ min: 0, max: 200_000 }).map(toPpm),
    });
    fc.assert(
      fc.property(paths, fc.integer({ min: 1, max: 120 }), (path, slot) => {
        const value = pathValue(path, slot);
        const above = BigInt(slot) * path.step * (1_000_000n + path.growth) ** BigInt(slot);
        const scale = 10n ** (6n * BigInt(slot));
        expect(value * scale <= above && (value + 1n) * scale > above).toBe(true);
        expect(pathValue(path, slot + 1)).toBeGreaterThan(value);
      }),
    );
  });
});

describe("a value-averaging strategy", () => {
  it("VAL-2 buys what is missing to the path at reference prices", () => {
    expect(swapOf(decide(spec(), {}))).toEqual({ sell: "USDC", buy: "WETH", raw: of(USDC, 100) });
    expect(swapOf(decide(spec(), { bought: of(WETH, "0.0375"), price: "4200" }, atSlot(2)))).toEqual({
      sell: "USDC",
      buy: "WETH",
      raw: of(USDC, "42.5"),
    });
  });

  it("VAL-2 never lifts the holding above the path, at any price and any holding", () => {
    const cents = fc.integer({ min: 1, max: 10_000_000 });
    fc.assert(
      fc.property(
        cents,
        fc.bigInt({ min: 0n, max: 10n ** 20n }),
        fc.integer({ min: 1, max: 500 }),
        (price, held, n) => {
          const strategy = spec({ maxContribution: 10n ** 18n, min: 1n });
          const dollars = `${Math.floor(price / 100)}.${String(price % 100).padStart(2, "0")}`;
          const swap = swapOf(decide(strategy, { price: dollars, bought: held, free: 10n ** 18n }, atSlot(n)));
          const path = of(USDC, 100) * BigInt(n);
          // in 1e-14 of a USDC unit: WETH has 12 decimals more, and the price two
          const worth = held * BigInt(price) + (swap?.raw ?? 0n) * 10n ** 14n;
          if (swap === undefined) expect(worth > (path - 1n) * 10n ** 14n).toBe(true);
          else expect(worth <= path * 10n ** 14n && worth > (path - 1n) * 10n ** 14n).toBe(true);
        },
      ),
    );
  });

  it("VAL-3 pays at most its cap at a slot, whatever the path asks for", () => {
    expect(swapOf(decide(spec(), {}, atSlot(9)))?.raw).toBe(of(USDC, 300));
  });

  it("VAL-3 never pays more than its budget, whatever fills and however the price moves", () => {
    const days = fc.array(fc.record({ price: fc.integer({ min: 1, max: 9_000 }), fills: fc.boolean() }), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(days, fc.bigInt({ min: 1n, max: of(USDC, 2_000) }), fc.boolean(), (days, total, allowSell) => {
        const strategy = spec({ budget: { total }, allowSell, min: 1n });
        let memory = initialStrategyMemory(strategy);
        const at = { paid: 0n, bought: 0n, sold: 0n };
        for (const [day, { price, fills }] of days.entries()) {
          const decision = decide(strategy, { ...at, day, price: String(price) }, memory);
          memory = decision.memory;
          const swap = swapOf(decision);
          if (swap === undefined || !fills) continue;
          if (swap.sell === "WETH") at.sold += swap.raw;
          else {
            at.paid += swap.raw;
            at.bought += (swap.raw * 10n ** 12n) / BigInt(price);
          }
          expect(at.paid).toBeLessThanOrEqual(total);
          expect(at.sold).toBeLessThanOrEqual(at.bought);
          expect(swap.sell === "WETH" || swap.raw <= strategy.maxContribution).toBe(true);
        }
      }),
    );
  });

  it("VAL-3 is completed when its budget is paid, unless it may still sell", () => {
    const budget = { total: of(USDC, 150) };
    expect(decide(spec({ budget }), { paid: of(USDC, 145) })).toMatchObject({
      outcome: { reason: "budget_spent", detail: "paid 145 USDC of 150 USDC" },
      pause: { code: "completed" },
    });
    expect(decide(spec({ budget, allowSell: true }), { paid: of(USDC, 145) }).pause).toBeUndefined();
    expect(swapOf(decide(spec({ budget }), { paid: of(USDC, 100) }))?.raw).toBe(of(USDC, 50));
  });

  it("VAL-4 counts only what it bought itself and has not sold", () => {
    expect(swapOf(decide(spec(), { freeWeth: of(WETH, 50) }))?.raw).toBe(of(USDC, 100));
    const seen = { bought: of(WETH, "0.05"), sold: of(WETH, "0.03") };
    expect(swapOf(decide(spec(), seen, atSlot(2)))?.raw).toBe(of(USDC, 120));
  });

  it("VAL-4 neither buys once more what a person accepted as sold, nor sells it", () => {
    const sells = spec({ allowSell: true });
    const seen = { bought: of(WETH, 1), sold: of(WETH, "0.9"), accepted: of(WETH, "0.9") };
    const detail = expect.stringContaining("worth 4000 USDC, of which 3600 USDC were accepted as sold");
    expect(decide(sells, seen, atSlot(20)).outcome).toMatchObject({ kind: "skip", reason: "on_path", detail });
    expect(swapOf(decide(sells, seen, atSlot(41)))).toMatchObject({ sell: "USDC", raw: of(USDC, 100) });
    expect(swapOf(decide(sells, seen, atSlot(2)))).toMatchObject({ sell: "WETH", raw: of(WETH, "0.05") });
  });

  it("VAL-5 keeps a holding that is above its path, and sells of it only where it is allowed to", () => {
    const above = { bought: of(WETH, "0.05") };
    expect(decide(spec(), above).outcome).toEqual({
      kind: "skip",
      reason: "on_path",
      detail: "slot 1 of the path is 100 USDC, the holding is worth 200 USDC",
    });
    const sale = { sell: "WETH", buy: "USDC", raw: of(WETH, "0.025") };
    expect(swapOf(decide(spec({ allowSell: true }), above))).toEqual(sale);
  });

  it("VAL-5 sells at most the cap, its own units and the balance", () => {
    const strategy = spec({ allowSell: true });
    expect(swapOf(decide(strategy, { bought: of(WETH, 1) }))?.raw).toBe(of(WETH, "0.075"));
    const short = { bought: of(WETH, 1), freeWeth: of(WETH, "0.01") };
    expect(swapOf(decide(strategy, short))?.raw).toBe(of(WETH, "0.01"));
    expect(decide(strategy, { ...short, freeWeth: 0n }).outcome).toMatchObject({ reason: "insufficient_balance" });
  });

  it("VAL-6 counts scheduled instants and not runs: what was missed is made up for by the path", () => {
    const first = decide(spec(), {});
    expect(strategyNeeds(spec(), first.memory).instantsAfterMs).toBe(START);
    const late = decide(spec(), { day: 4, instants: 4, bought: of(WETH, "0.075") }, first.memory);
    expect(late.memory).toEqual({ version: 1, slots: 5, lastMs: START + 4 * DAY });
    expect(swapOf(late)?.raw).toBe(of(USDC, 200));
  });

  it("VAL-6 counts a slot once when it is asked about again", () => {
    const unpriced = view({ slotMs: START, nowMs: START, instants: 0 });
    const deferred = decideStrategy(spec(), unpriced, initialStrategyMemory(spec()));
    expect(deferred.outcome).toMatchObject({ kind: "defer", reason: "unpriceable" });
    expect(swapOf(decide(spec(), { instants: 0 }, deferred.memory))?.raw).toBe(of(USDC, 100));
  });

  it("VAL-7 goes on with the next slot of its path when its schedule is edited, and as it was when it is not", () => {
    const { memory } = decide(spec(), {}, atSlot(5));
    const hourly = spec({ schedule: { kind: "every", seconds: 3_600 } });
    const edited = strategyEdited(spec(), hourly, memory);
    expect(strategyNeeds(hourly, edited).instantsAfterMs).toBeUndefined();
    expect(decide(hourly, { day: 3, instants: 0 }, edited).memory).toMatchObject({ slots: 6 });
    expect(strategyEdited(spec(), spec({ maxContribution: 1n }), memory)).toEqual(memory);
  });

  it("VAL-8 skips, pays what is there, or stops itself when the balance does not cover a contribution", () => {
    const poor = { free: of(USDC, 99) };
    expect(decide(spec(), poor).outcome).toMatchObject({ reason: "insufficient_balance" });
    expect(decide(spec(), poor).pause).toBeUndefined();
    expect(swapOf(decide(spec({ onInsufficient: "partial" }), poor))?.raw).toBe(of(USDC, 99));
    expect(swapOf(decide(spec({ onInsufficient: "partial" }), { free: of(USDC, 9) }))).toBeUndefined();
    expect(decide(spec({ onInsufficient: "pause" }), poor).pause).toMatchObject({ code: "insufficient_balance" });
  });

  it("VAL-9 leaves a difference below the smallest trade to a later slot", () => {
    const outcome = decide(spec(), { bought: of(WETH, "0.0478") }, atSlot(2)).outcome;
    expect(outcome).toMatchObject({ reason: "below_minimum_trade" });
    const above = decide(spec({ allowSell: true }), { bought: of(WETH, "0.0522") }, atSlot(2)).outcome;
    expect(above).toMatchObject({ reason: "on_path" });
  });

  it("VAL-10 trades nothing and counts no slot before its start", () => {
    const strategy = spec({ startMs: START });
    const early = decide(strategy, { day: -1 });
    expect(early.outcome).toMatchObject({ reason: "not_started" });
    expect(decide(strategy, { day: 0 }, early.memory).memory).toMatchObject({ slots: 1 });
    // A path begins with the first slot that is seen, not with those that passed between its start and that one.
    expect(decide(strategy, { day: 3, instants: 3 }).memory).toMatchObject({ slots: 1 });
  });

  it("VAL-10 counts no slot before a start that was moved later while the path was under way", () => {
    const { memory } = decide(spec(), { instants: 0 }, atSlot(11));
    const moved = spec({ startMs: START + 7 * DAY });
    const edited = strategyEdited(spec(), moved, memory);
    expect(decide(moved, { day: 6, instants: 0 }, edited)).toMatchObject({ memory: edited });
    expect(strategyNeeds(moved, edited).instantsAfterMs).toBe(START + 7 * DAY - 1);
    const gone = decide(moved, { day: 8, instants: 2 }, edited).memory;
    expect(strategyNeeds(moved, gone).instantsAfterMs).toBe(START + 8 * DAY);
  });

  it("VAL-11 ends a growing path after ten thousand slots, and one without growth never", () => {
    const growing = spec({ path: { step: of(USDC, 100), growth: toPpm(1) } });
    expect(swapOf(decide(growing, {}, atSlot(10_000)))?.raw).toBe(of(USDC, 300));
    expect(decide(growing, {}, atSlot(10_001))).toMatchObject({
      outcome: { reason: "ended" },
      pause: { code: "completed" },
    });
    expect(swapOf(decide(spec(), {}, atSlot(1_000_000)))?.raw).toBe(of(USDC, 300));
  });

  it("reads back its own memory and refuses any other", () => {
    for (const memory of [{ version: 2 }, { version: 1, slots: -1, lastMs: null }, { version: 1, slots: 1 }]) {
      expect(() => decide(spec(), {}, memory)).toThrow(/stored memory/);
    }
  });
});
