import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { parseUsd, type UsdPrice } from "../../../src/domain/money/price.ts";
import type { Token } from "../../../src/domain/money/token.ts";
import {
  decideStrategy,
  initialStrategyMemory,
  isExitStrategy,
  lastResortGasOf,
  strategyEdited,
  strategyRunEnded,
} from "../../../src/domain/strategy/strategy.ts";
import type { SweepSpec } from "../../../src/domain/strategy/sweep.ts";
import { common, DAI, GOLD, of, USDC, view, WETH } from "./world.ts";

const ETH: Token = { symbol: "ETH", address: NATIVE_TOKEN, decimals: 18 };
const HOUR = 3_600_000;
const NOW = 1_700_000_000_000;

function usd(text: string): UsdPrice {
  const parsed = parseUsd(text);
  if (parsed === undefined) throw new Error(`no dollars: ${text}`);
  return parsed;
}

/** Revenue in ether and DAI becomes USDC; 0.2 WETH stay. */
function spec(change: Partial<SweepSpec> = {}): SweepSpec {
  return {
    ...common,
    kind: "sweep",
    from: [
      { token: WETH, keep: of(WETH, "0.2"), above: { usd: usd("4000") } },
      { token: DAI, keep: 0n, above: { raw: of(DAI, 500) } },
    ],
    to: USDC,
    refill: undefined,
    lot: { min: usd("200"), max: usd("5000") },
    maxPerDay: undefined,
    cooldownSeconds: 21_600,
    exit: false,
    ...change,
  };
}

/** Keeps 0.02 to 0.06 ETH, bought with USDC or DAI. */
function tank(change: Partial<SweepSpec> = {}): SweepSpec {
  return spec({
    from: [
      { token: USDC, keep: of(USDC, 50), above: undefined },
      { token: DAI, keep: 0n, above: undefined },
    ],
    to: ETH,
    refill: { below: of(ETH, "0.02"), to: of(ETH, "0.06"), lastResort: of(ETH, "0.005") },
    lot: { min: usd("10"), max: usd("500") },
    ...change,
  });
}

interface Moment {
  readonly held?: readonly (readonly [Token, bigint])[];
  readonly native?: bigint;
  readonly unpriced?: readonly Token[];
  readonly hours?: number;
}

function decide(strategy: SweepSpec, at: Moment, memory: unknown = initialStrategyMemory(strategy)) {
  const prices = [
    [USDC, "1"],
    [DAI, "1"],
    [WETH, "4000"],
    [ETH, "4000"],
  ] as const;
  const seen = view({
    nowMs: NOW + (at.hours ?? 0) * HOUR,
    free: at.held ?? [],
    balances: [[ETH, at.native ?? 0n]],
    prices: prices.filter(([token]) => !(at.unpriced ?? []).includes(token)),
  });
  return decideStrategy(strategy, seen, memory);
}

type Decided = ReturnType<typeof decide>;

function sales(decision: Decided): readonly (readonly [string, bigint])[] {
  if (decision.outcome.kind !== "swap") return [];
  return decision.outcome.swaps.map(({ sell, amount }) => [sell.symbol, amount.kind === "fixed" ? amount.raw : -1n]);
}

/** The memory after the run of a decision has ended; `sold` of what was planned, in per cent. */
function ended(strategy: SweepSpec, decision: Decided, change: { sold?: bigint; hours?: number } = {}): unknown {
  const { outcome } = decision;
  if (outcome.kind !== "swap") throw new Error("nothing was sold");
  const swaps = outcome.swaps.map(({ sell, buy, amount }, position) => {
    const sold = ((amount.kind === "fixed" ? amount.raw : 0n) * (change.sold ?? 100n)) / 100n;
    return { position, sell, buy, sold, bought: sold, reason: undefined };
  });
  const filled = swaps.some(({ sold }) => sold > 0n);
  const nowMs = NOW + (change.hours ?? 0) * HOUR;
  return strategyRunEnded(strategy, decision.memory, { slotMs: nowMs, nowMs, filled, swaps }).memory;
}

describe("a sweep", () => {
  it("SWP-1 sells what is above the threshold down to what is kept, by amount or by worth, each token for itself", () => {
    const held = [
      [WETH, of(WETH, "1.2")],
      [DAI, of(DAI, 600)],
    ] as const;
    expect(sales(decide(spec(), { held }))).toEqual([
      ["WETH", of(WETH, 1)],
      ["DAI", of(DAI, 600)],
    ]);
  });

  it("SWP-1 does nothing at the threshold, only above it", () => {
    const held = [
      [WETH, of(WETH, 1)],
      [DAI, of(DAI, 500)],
    ] as const;
    expect(decide(spec(), { held }).outcome).toMatchObject({ kind: "skip", reason: "below_mark" });
  });

  it("SWP-2 goes on below the threshold until only what is kept is left, and then waits for the threshold again", () => {
    const first = decide(spec(), { held: [[WETH, of(WETH, "2.7")]] });
    expect(sales(first)).toEqual([["WETH", of(WETH, "1.25")]]);
    const second = decide(spec(), { held: [[WETH, of(WETH, "0.9")]], hours: 7 }, ended(spec(), first));
    expect(sales(second)).toEqual([["WETH", of(WETH, "0.7")]]);
    const third = decide(spec(), { held: [[WETH, of(WETH, "0.2")]], hours: 14 }, ended(spec(), second, { hours: 7 }));
    expect(third.outcome).toMatchObject({ reason: "below_minimum_trade" });
    expect(decide(spec(), { held: [[WETH, of(WETH, "0.9")]], hours: 21 }, third.memory).outcome).toMatchObject({
      reason: "below_mark",
    });
  });

  it("SWP-2 goes on after an edit only where the threshold and what is bought stayed: a raised mark stops the sale", () => {
    const first = decide(spec(), { held: [[WETH, of(WETH, "2.7")]] });
    const memory = ended(spec(), first);
    const later = { held: [[WETH, of(WETH, "0.9")]], hours: 7 } as const;
    const [weth, dai] = spec().from;
    if (weth === undefined || dai === undefined) throw new Error("two tokens are swept");
    const raised = spec({ from: [{ ...weth, above: { usd: usd("20000") } }, dai] });
    expect(decide(raised, later, strategyEdited(spec(), raised, memory)).outcome).toMatchObject({
      reason: "below_mark",
    });
    const other = spec({ from: [weth], to: DAI });
    expect(sales(decide(other, later, strategyEdited(spec(), other, memory)))).toEqual([]);
    const kept = spec({ from: [{ ...weth, keep: 0n }, dai] });
    expect(sales(decide(kept, later, strategyEdited(spec(), kept, memory)))).toEqual([["WETH", of(WETH, "0.9")]]);
  });

  it("SWP-3 sells no lot above the most or below the least, and never what is kept", () => {
    const amounts = fc.bigInt({ min: 0n, max: of(WETH, 20) });
    fc.assert(
      fc.property(amounts, amounts, (free, keep) => {
        const strategy = spec({ from: [{ token: WETH, keep, above: { raw: 0n } }] });
        const decision = decide(strategy, { held: [[WETH, free]] });
        for (const [, raw] of sales(decision)) {
          expect(free - raw).toBeGreaterThanOrEqual(keep);
          expect(raw * 4_000n).toBeLessThanOrEqual(usd("5000"));
          expect(raw * 4_000n).toBeGreaterThanOrEqual(usd("200"));
        }
        if (free > keep && (free - keep) * 4_000n >= usd("200")) expect(sales(decision)).toHaveLength(1);
      }),
    );
  });

  it("SWP-3 says so where no number of a token's units is a lot, and names no daily limit for it", () => {
    const from = [{ token: GOLD, keep: 0n, above: { raw: 10n } }];
    const at = (dollars: string, change: Partial<SweepSpec> = {}) => {
      const strategy = spec({ from, lot: { min: usd("100"), max: usd("450") }, ...change });
      const seen = view({ free: [[GOLD, 40n]], prices: [[GOLD, dollars]] });
      return decideStrategy(strategy, seen, initialStrategyMemory(strategy)).outcome;
    };
    const detail = "no number of units of 1 GOLD is a lot of 100 USD to 450 USD";
    expect(at("500")).toEqual({ kind: "skip", reason: "below_minimum_trade", detail });
    expect(at("500", { maxPerDay: usd("450") })).toMatchObject({ reason: "below_minimum_trade" });
    expect(at("240", { maxPerDay: usd("200") })).toMatchObject({ reason: "turnover_spent" });
    expect(at("240")).toMatchObject({ kind: "swap" });
  });

  it("SWP-3 leaves enough for a last lot rather than a rest that is none", () => {
    const strategy = spec({ from: [{ token: DAI, keep: 0n, above: { raw: 0n } }] });
    const [[, raw = 0n] = []] = sales(decide(strategy, { held: [[DAI, of(DAI, 5_100)]] }));
    expect(of(DAI, 5_100) - raw).toBe(of(DAI, 200) + 1n);
  });

  it("SWP-4 rests after a run that sold, and not after one that did not", () => {
    const held = [[WETH, of(WETH, 10)]] as const;
    const first = decide(spec(), { held });
    const after = ended(spec(), first);
    expect(decide(spec(), { held, hours: 5 }, after).outcome).toMatchObject({
      ...{ reason: "cooling_down", detail: "1h of the cooldown are left" },
    });
    expect(sales(decide(spec(), { held, hours: 6 }, after))).toHaveLength(1);
    expect(sales(decide(spec(), { held }, ended(spec(), first, { sold: 0n })))).toHaveLength(1);
  });

  it("SWP-5 never sells more than its cap in any 24 hours, whatever fills, and also when a run is never heard of", () => {
    const runs = fc.array(
      fc.record({ wait: fc.integer({ min: 0, max: 9 }), sold: fc.option(fc.bigInt({ min: 0n, max: 100n })) }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(runs, fc.integer({ min: 1, max: 9_000 }), (runs, cap) => {
        const strategy = spec({
          maxPerDay: usd(String(cap)),
          cooldownSeconds: 0,
          lot: { ...spec().lot, min: usd("1") },
        });
        const held = [[DAI, of(DAI, 1_000_000)]] as const;
        const done: { hours: number; raw: bigint }[] = [];
        let memory = initialStrategyMemory(strategy);
        let hours = 0;
        for (const run of runs) {
          hours += run.wait;
          const decision = decide(strategy, { held, hours }, memory);
          const [[, raw = 0n] = []] = sales(decision);
          memory = decision.memory;
          if (raw === 0n) continue;
          done.push({ hours, raw: (raw * (run.sold ?? 100n)) / 100n });
          if (run.sold !== null) memory = ended(strategy, decision, { sold: run.sold, hours });
          const day = done.filter((sale) => sale.hours > hours - 24).reduce((sum, sale) => sum + sale.raw, 0n);
          expect(day).toBeLessThanOrEqual(of(DAI, cap));
        }
      }),
    );
  });

  it("SWP-5 says that the day's cap is used up, and sells again a day later", () => {
    const strategy = spec({ maxPerDay: usd("5000"), cooldownSeconds: 0 });
    const held = [[DAI, of(DAI, 20_000)]] as const;
    const memory = ended(strategy, decide(strategy, { held }));
    expect(decide(strategy, { held, hours: 23 }, memory).outcome).toMatchObject({ reason: "turnover_spent" });
    expect(sales(decide(strategy, { held, hours: 25 }, memory))).toEqual([["DAI", of(DAI, 5_000)]]);
  });

  it("SWP-5 counts a sale from its end on, which a person's approval may put off", () => {
    const strategy = spec({ maxPerDay: usd("5000"), cooldownSeconds: 0 });
    const held = [[DAI, of(DAI, 20_000)]] as const;
    const memory = ended(strategy, decide(strategy, { held }), { hours: 11 });
    expect(decide(strategy, { held, hours: 34 }, memory).outcome).toMatchObject({ reason: "turnover_spent" });
    expect(sales(decide(strategy, { held, hours: 36 }, memory))).toEqual([["DAI", of(DAI, 5_000)]]);
  });

  it("SWP-6 leaves out a token without a price, and waits when that is all there is to sell", () => {
    const held = [
      [WETH, of(WETH, 2)],
      [DAI, of(DAI, 600)],
    ] as const;
    expect(sales(decide(spec(), { held, unpriced: [WETH] }))).toEqual([["DAI", of(DAI, 600)]]);
    expect(decide(spec(), { held, unpriced: [WETH, DAI] }).outcome).toMatchObject({
      kind: "defer",
      reason: "unpriceable",
    });
  });

  it("SWP-7 runs in exits-only where its file says that it leaves a position", () => {
    expect([isExitStrategy(spec()), isExitStrategy(spec({ exit: true }))]).toEqual([false, true]);
  });

  it("reads back its own memory and refuses any other", () => {
    const decision = decide(spec(), { held: [[WETH, of(WETH, 2)]] });
    const memory: unknown = JSON.parse(JSON.stringify(decision.memory));
    expect(memory).toEqual(decision.memory);
    expect(() => decide(spec(), {}, memory)).not.toThrow();
    const right = { version: 1, sweeping: [], restsUntilMs: 0, sold: [], pending: null };
    for (const wrong of [{ version: 2 }, { sold: [{ hour: 1, usd: 5 }] }, { sweeping: [1] }, { pending: {} }]) {
      expect(() => decide(spec(), {}, { ...right, ...wrong })).toThrow(/stored memory/);
    }
  });
});

describe("a gas tank", () => {
  it("SWP-8 buys what is missing to the upper threshold once the native coin is below the lower one", () => {
    const held = [[USDC, of(USDC, 1_000)]] as const;
    expect(decide(tank(), { held, native: of(ETH, "0.02") }).outcome).toMatchObject({ reason: "below_mark" });
    const decision = decide(tank(), { held, native: of(ETH, "0.01") });
    expect(decision.outcome).toMatchObject({ swaps: [{ sell: USDC, buy: ETH, amount: { raw: of(USDC, 200) } }] });
  });

  it("SWP-8 looks at the whole balance, the gas reserve included, and buys nothing when it is not known", () => {
    const seen = view({ free: [[ETH, 0n]], balances: [], prices: [[ETH, "4000"]] });
    expect(decideStrategy(tank(), seen, initialStrategyMemory(tank())).outcome.kind).toBe("skip");
  });

  it("SWP-9 takes the first token that has enough for a lot, and of it never what is kept", () => {
    const native = of(ETH, "0.01");
    const rich = [DAI, of(DAI, 1_000)] as const;
    expect(sales(decide(tank(), { native, held: [[USDC, of(USDC, 59)], rich] }))).toEqual([["DAI", of(DAI, 200)]]);
    expect(sales(decide(tank(), { native, held: [[USDC, of(USDC, 110)], rich] }))).toEqual([["USDC", of(USDC, 60)]]);
    expect(decide(tank(), { native, held: [[USDC, of(USDC, 59)]] }).outcome).toMatchObject({
      reason: "insufficient_balance",
      detail: "needs 200 USDC, free are 9 USDC; needs 200 DAI, free are 0 DAI",
    });
  });

  it("SWP-10 keeps to its own cap a day, and fills up as far as that lets it", () => {
    const strategy = tank({ maxPerDay: usd("250"), cooldownSeconds: 0 });
    const at = { native: of(ETH, "0.01"), held: [[USDC, of(USDC, 1_000)]] as const };
    const first = ended(strategy, decide(strategy, at));
    const second = decide(strategy, { ...at, hours: 1 }, first);
    expect(sales(second)).toEqual([["USDC", of(USDC, 50)]]);
    const third = decide(strategy, { ...at, hours: 2 }, ended(strategy, second, { hours: 1 }));
    expect(third.outcome).toMatchObject({ reason: "turnover_spent" });
  });

  it("SWP-11 names the native coin that others leave for its gas, and an ordinary sweep names none", () => {
    expect([lastResortGasOf(tank()), lastResortGasOf(spec())]).toEqual([of(ETH, "0.005"), 0n]);
  });

  it("SWP-6 waits for a missing price of the native coin", () => {
    const at = { native: 0n, held: [[USDC, of(USDC, 1_000)]] as const, unpriced: [ETH] };
    expect(decide(tank(), at).outcome).toMatchObject({ kind: "defer", reason: "unpriceable" });
  });
});
