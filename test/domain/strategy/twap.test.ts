import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import {
  decideStrategy,
  initialStrategyMemory,
  isExitStrategy,
  strategyRunEnded,
} from "../../../src/domain/strategy/strategy.ts";
import type { TwapSpec } from "../../../src/domain/strategy/twap.ts";
import { sliceSizes } from "../../../src/domain/strategy/twap-slices.ts";
import { common, of, USDC, view, WETH } from "./world.ts";

const HOUR = 3_600_000;
const START = 1_700_000_000_000 - (1_700_000_000_000 % HOUR);

/** 10 WETH in ten even slices, one an hour. */
function spec(change: Partial<TwapSpec> = {}): TwapSpec {
  return {
    ...common,
    kind: "twap",
    schedule: { kind: "every", seconds: 3_600 },
    retryForSeconds: 3_000,
    sell: { token: WETH, raw: of(WETH, 10) },
    buy: USDC,
    startMs: START,
    slices: 10,
    everySeconds: 3_600,
    spread: toPpm(0),
    slice: { unfilled: "roll", max: of(WETH, 2), min: of(WETH, "0.1") },
    limit: { floor: undefined, abort: undefined },
    exit: false,
    ...change,
  };
}

interface Moment {
  readonly slice: number;
  readonly spent?: bigint;
  readonly free?: bigint;
  readonly price?: string;
  readonly lateMs?: number;
}

function decide(strategy: TwapSpec, at: Moment, memory: unknown = initialStrategyMemory(strategy)) {
  const slotMs = START + at.slice * HOUR;
  const seen = view({
    slotMs,
    nowMs: slotMs + (at.lateMs ?? 0),
    free: [[WETH, at.free ?? of(WETH, 1_000)]],
    spent: [[WETH, at.spent ?? 0n]],
    prices: [
      [USDC, "1"],
      [WETH, at.price ?? "4000"],
    ],
  });
  return decideStrategy(strategy, seen, memory);
}

function amountOf(decision: ReturnType<typeof decide>): bigint {
  if (decision.outcome.kind !== "swap") return 0n;
  const amount = decision.outcome.swaps[0]?.amount;
  if (amount?.kind !== "fixed") throw new Error("a slice is a fixed amount");
  return amount.raw;
}

/** What a plan that began between two instants of its schedule sells at each slot: of the moment, and of the schedule. */
function soldFromNow(unfilled: TwapSpec["slice"]["unfilled"], isFilled: (slot: number) => boolean = () => true) {
  const slice = { unfilled, max: of(WETH, 2), min: of(WETH, "0.1") };
  const strategy = spec({ startMs: undefined, startsNow: true, slice });
  let memory: unknown = initialStrategyMemory(strategy);
  let spent = 0n;
  return [-0.25, ...Array.from({ length: 13 }, (_, slot) => slot)].map((slot, index) => {
    const decision = decide(strategy, { slice: slot, spent }, memory);
    memory = decision.memory;
    const raw = amountOf(decision);
    if (isFilled(index)) spent += raw;
    return Number(raw / of(WETH, 1));
  });
}

describe("a plan that starts now", () => {
  it.each(["roll", "extend", "drop"] as const)(
    "TWAP-16 sells each slice once, the second a gap later at least (%s)",
    (unfilled) => {
      expect(soldFromNow(unfilled)).toEqual([1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0]);
    },
  );

  it("TWAP-16 makes up for a slice of now that was not sold as for any other", () => {
    const first = (slot: number): boolean => slot !== 0;
    expect(soldFromNow("roll", first)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0]);
    expect(soldFromNow("extend", first)).toEqual([1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0]);
    expect(soldFromNow("drop", first)).toEqual([1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0]);
  });
});

const plans = fc.record({
  id: fc.string({ minLength: 1, maxLength: 12 }),
  total: fc.bigInt({ min: 1n, max: 10n ** 24n }),
  slices: fc.integer({ min: 1, max: 200 }),
  spread: fc.integer({ min: 0, max: 900_000 }).map(toPpm),
});

describe("sizes of slices", () => {
  it("TWAP-1 sum up to the total exactly, whatever the total, the number of slices and the spread", () => {
    fc.assert(
      fc.property(plans, (plan) => {
        const sizes = sliceSizes(plan);
        expect(sizes).toHaveLength(plan.slices);
        expect(sizes.reduce((sum, size) => sum + size, 0n)).toBe(plan.total);
        expect(sizes.every((size) => size >= 0n)).toBe(true);
      }),
    );
  });

  it("TWAP-1 without a spread are even, and the last one takes the remainder", () => {
    expect(sliceSizes({ id: "x", total: 103n, slices: 10, spread: toPpm(0) })).toEqual([
      ...Array.from({ length: 9 }, () => 10n),
      13n,
    ]);
  });

  it("TWAP-2 are derived from the strategy and the slice: the same again, others for another strategy", () => {
    const plan = { id: "exit", total: 10n ** 18n, slices: 20, spread: toPpm(200_000) };
    expect(sliceSizes(plan)).toEqual(sliceSizes({ ...plan }));
    expect(sliceSizes(plan)).not.toEqual(sliceSizes({ ...plan, id: "exit2" }));
    expect(new Set(sliceSizes(plan)).size).toBeGreaterThan(15);
  });

  it("TWAP-2 stay within the spread around an even slice, as scaled", () => {
    fc.assert(
      fc.property(plans, (plan) => {
        const total = plan.total + 10n ** 12n;
        const sizes = sliceSizes({ ...plan, total }).slice(0, -1);
        const even = total / BigInt(plan.slices);
        const most = (even * (1_000_000n + plan.spread)) / (1_000_000n - plan.spread) + 2n;
        const least = (even * (1_000_000n - plan.spread)) / (1_000_000n + plan.spread) - 2n;
        for (const size of sizes) expect(size <= most && size >= least).toBe(true);
      }),
    );
  });
});

/** Goes through a plan; `fills` says which slices are sold. @returns what each slice sold */
function play(strategy: TwapSpec, fills: readonly boolean[]): bigint[] {
  let memory = initialStrategyMemory(strategy);
  let spent = 0n;
  return fills.map((fills, slice) => {
    const decision = decide(strategy, { slice, spent }, memory);
    memory = decision.memory;
    const sold = fills ? amountOf(decision) : 0n;
    spent += sold;
    return sold;
  });
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);

describe("a twap strategy", () => {
  it("TWAP-3 never sells more than its total, nor more than its cap at once, whatever fills and fails", () => {
    const unfilled = fc.constantFrom("roll", "extend", "drop" as const);
    const fills = fc.array(fc.boolean(), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(plans, unfilled, fills, fc.bigInt({ min: 1n, max: 10n ** 24n }), (plan, unfilled, fills, max) => {
        const slice = { unfilled, max, min: 1n };
        const sell = { token: WETH, raw: plan.total };
        const slices = Math.min(plan.slices, 30);
        const strategy = spec({ ...plan, sell, slices, slice });
        const sold = play(strategy, fills);
        expect(sum(sold)).toBeLessThanOrEqual(plan.total);
        for (const amount of sold) expect(amount).toBeLessThanOrEqual(max);
      }),
    );
  });

  it("TWAP-3 sells all of it when every slice fills, each as planned", () => {
    for (const unfilled of ["roll", "extend", "drop"] as const) {
      const strategy = spec({ spread: toPpm(200_000), slice: { ...spec().slice, unfilled } });
      const plan = { id: strategy.id, total: strategy.sell.raw, slices: 10, spread: strategy.spread };
      expect(play(strategy, Array(10).fill(true))).toEqual(sliceSizes(plan));
    }
  });

  it("TWAP-3 counts what open swaps reserve as sold", () => {
    expect(amountOf(decide(spec(), { slice: 9, spent: of(WETH, "9.5") }))).toBe(of(WETH, "0.5"));
    const drop = spec({ slice: { ...spec().slice, unfilled: "drop" } });
    expect(amountOf(decide(drop, { slice: 5, spent: of(WETH, "9.5") }))).toBe(of(WETH, "0.5"));
  });

  it("TWAP-4 rolls what was not sold into the next slices, each at most the cap", () => {
    const sold = play(spec(), [true, false, false, true, true, true]);
    expect(sold).toEqual([1, 0, 0, 2, 2, 1].map((amount) => of(WETH, amount)));
  });

  it("TWAP-4 leaves unsold what the cap does not let in before the end", () => {
    const sold = play(spec(), [...Array(8).fill(false), true, true, true]);
    expect(sum(sold)).toBe(of(WETH, 4));
  });

  it("TWAP-5 makes up for slices after its end, one even slice at a time, with extend", () => {
    const strategy = spec({ slice: { ...spec().slice, unfilled: "extend" } });
    const sold = play(strategy, [true, false, false, ...Array(10).fill(true)]);
    expect(sold.slice(9)).toEqual([1, 1, 1, 0].map((amount) => of(WETH, amount)));
    expect(sum(sold)).toBe(of(WETH, 10));
  });

  it("TWAP-5 extends to twice its length at most", () => {
    const strategy = spec({ slice: { ...spec().slice, unfilled: "extend" } });
    expect(amountOf(decide(strategy, { slice: 19 }))).toBe(of(WETH, 1));
    expect(decide(strategy, { slice: 20 })).toMatchObject({
      outcome: { reason: "ended" },
      pause: { code: "unsold" },
    });
  });

  it("TWAP-6 never makes up for a slice with drop", () => {
    const strategy = spec({ slice: { ...spec().slice, unfilled: "drop" } });
    expect(sum(play(strategy, [true, false, true, false, ...Array(9).fill(true)]))).toBe(of(WETH, 8));
  });

  it("TWAP-7 asks again inside the slice's window while the price is worse than the limit", () => {
    const floor = { bought: of(USDC, 3_900), sold: of(WETH, 1) };
    const strategy = spec({ limit: { floor, abort: undefined } });
    expect(decide(strategy, { slice: 0, price: "3899.99" }).outcome).toEqual({
      kind: "defer",
      reason: "price_limit",
      detail: "1 WETH is 3899.99 USDC; the limit price is 1 WETH is 3900 USDC",
    });
    expect(decide(strategy, { slice: 0, price: "3900" }).outcome).toMatchObject({ swaps: [{ floor }] });
  });

  it("TWAP-8 stops itself below the abort price, and again when it is resumed too early", () => {
    const abort = { bought: of(USDC, 3_000), sold: of(WETH, 1) };
    const strategy = spec({ limit: { floor: undefined, abort } });
    const stopped = decide(strategy, { slice: 0, price: "2999.99" });
    expect(stopped).toMatchObject({ outcome: { reason: "price_abort" }, pause: { code: "price_abort" } });
    expect(decide(strategy, { slice: 1, price: "2999" }, stopped.memory)).toMatchObject({
      pause: { code: "price_abort" },
    });
    const resumed = decide(strategy, { slice: 2, price: "3000" }, stopped.memory);
    expect([amountOf(resumed), resumed.pause]).toEqual([of(WETH, 2), undefined]);
  });

  it("TWAP-7 waits for a missing price where it has a limit, and needs none without", () => {
    const floor = { bought: of(USDC, 3_900), sold: of(WETH, 1) };
    const seen = view({ slotMs: START, nowMs: START, free: [[WETH, of(WETH, 10)]] });
    const limited = spec({ limit: { floor, abort: undefined } });
    const memory = initialStrategyMemory(limited);
    expect(decideStrategy(limited, seen, memory).outcome).toMatchObject({ kind: "defer", reason: "unpriceable" });
    expect(decideStrategy(spec(), seen, memory).outcome.kind).toBe("swap");
  });

  it("TWAP-9 begins nothing after its end, and says what is left unsold", () => {
    const detail = "its time is over: sold 9.5 WETH of 10 WETH, 0.5 WETH are left unsold";
    const after = { outcome: { kind: "skip", reason: "ended", detail }, pause: { code: "unsold", detail } };
    expect(decide(spec(), { slice: 10, spent: of(WETH, "9.5") })).toMatchObject(after);
    expect(decide(spec(), { slice: 9, spent: of(WETH, "9.5"), lateMs: HOUR })).toMatchObject(after);
  });

  it("TWAP-9 gives a late slice no more time than its end leaves", () => {
    const swapAt = (lateMs: number) => decide(spec(), { slice: 9, lateMs }).outcome;
    expect(swapAt(0)).toMatchObject({ swaps: [{ retryForSeconds: undefined }] });
    expect(swapAt(50 * 60_000)).toMatchObject({ swaps: [{ retryForSeconds: 600 }] });
  });

  it("TWAP-10 lets less than the smallest slice wait for the next one", () => {
    expect(decide(spec(), { slice: 1, spent: of(WETH, "1.95") }).outcome).toMatchObject({
      reason: "below_minimum_trade",
      detail: "0.05 WETH are due, the smallest slice is 0.1 WETH",
    });
    expect(amountOf(decide(spec(), { slice: 2, spent: of(WETH, "1.95") }))).toBe(of(WETH, "1.05"));
    expect(decide(spec(), { slice: 1, spent: of(WETH, 5) }).outcome).toMatchObject({
      detail: "0 WETH are due, the smallest slice is 0.1 WETH",
    });
  });

  it("TWAP-10 sells a rest that is too small for a slice of its own with the slice before it", () => {
    const strategy = spec({ slice: { ...spec().slice, unfilled: "extend" } });
    expect(amountOf(decide(strategy, { slice: 9, spent: of(WETH, "8.95") }))).toBe(of(WETH, "1.05"));
  });

  it("TWAP-11 is completed by the run that sells the last of it, and by no other", () => {
    const strategy = spec();
    const ended = (spent: string, sold: bigint) => {
      const { memory } = decide(strategy, { slice: 9, spent: of(WETH, spent) });
      const swap = { position: 0, sell: WETH, buy: USDC, sold, bought: sold, reason: undefined };
      const end = { slotMs: START, nowMs: START, filled: sold > 0n, swaps: [swap] };
      return strategyRunEnded(strategy, memory, end).pause;
    };
    expect(ended("9", of(WETH, 1))).toEqual({ code: "completed", detail: "sold 10 WETH of 10 WETH" });
    expect(ended("9", 0n)).toBeUndefined();
    expect(ended("7", of(WETH, 2))).toBeUndefined();
  });

  it("TWAP-11 trades nothing more when it is resumed after its total is sold", () => {
    const decision = decide(spec(), { slice: 5, spent: of(WETH, 10) });
    expect(decision).toMatchObject({ outcome: { reason: "budget_spent" }, pause: { code: "completed" } });
  });

  it("TWAP-13 trades nothing before its start", () => {
    expect(decide(spec(), { slice: -1 }).outcome).toMatchObject({
      reason: "not_started",
      detail: "it begins in 1h",
    });
  });

  it("TWAP-13 counts from its first slot when it has no start, also after a restart", () => {
    const strategy = spec({ startMs: undefined });
    const first = decide(strategy, { slice: 7 });
    expect(amountOf(first)).toBe(of(WETH, 1));
    const memory: unknown = JSON.parse(JSON.stringify(first.memory));
    expect(amountOf(decide(strategy, { slice: 8, spent: of(WETH, 1) }, memory))).toBe(of(WETH, 1));
    expect(decide(strategy, { slice: 17, spent: of(WETH, 9) }, memory).outcome).toMatchObject({ reason: "ended" });
  });

  it("TWAP-14 skips a slice that the balance does not cover rather than sell less", () => {
    expect(decide(spec(), { slice: 0, free: of(WETH, 1) - 1n }).outcome).toMatchObject({
      reason: "insufficient_balance",
    });
  });

  it("TWAP-15 runs in exits-only where its file says that it leaves a position", () => {
    expect([isExitStrategy(spec()), isExitStrategy(spec({ exit: true }))]).toEqual([false, true]);
  });

  it("reads back its own memory and refuses any other", () => {
    const strategy = spec();
    for (const memory of [
      { version: 2 },
      { version: 1, startMs: -1, left: null },
      { version: 1, startMs: 1, left: 5 },
    ]) {
      expect(() => decide(strategy, { slice: 0 }, memory)).toThrow(/stored memory/);
    }
    const { memory } = decide(strategy, { slice: 0 });
    expect(memory).toEqual({ version: 1, startMs: START, left: of(WETH, 10).toString() });
    expect(amountOf(decide(strategy, { slice: 0 }, JSON.parse(JSON.stringify(memory))))).toBe(of(WETH, 1));
  });
});
