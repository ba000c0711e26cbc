import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import type { Token } from "../../../src/domain/money/token.ts";
import { calendarPeriod } from "../../../src/domain/schedule/calendar-period.ts";
import { type Budget, soldWithin } from "../../../src/domain/strategy/budget.ts";
import type { Decision } from "../../../src/domain/strategy/decision.ts";
import { resolvePlannedAmount } from "../../../src/domain/strategy/planned-amount.ts";
import type { RebalanceSpec } from "../../../src/domain/strategy/rebalance-spec.ts";
import type { StrategySpec } from "../../../src/domain/strategy/spec.ts";
import {
  decideStrategy,
  initialStrategyMemory,
  strategyRunEnded,
  tradedSides,
} from "../../../src/domain/strategy/strategy.ts";
import type { ThresholdMemory } from "../../../src/domain/strategy/threshold-memory.ts";
import {
  averagingOf,
  budgetOf,
  calendar,
  dcaOf,
  HOUR,
  PRICES,
  type Sale,
  START,
  sweepOf,
  twapOf,
  usd,
  worth,
  zones,
} from "./budget-world.ts";
import { mixSpec, target } from "./rebalance-world.ts";
import { cross, leg, spec as thresholdOf, usdc } from "./threshold-world.ts";
import { DAI, of, USDC, view, WBTC, WETH } from "./world.ts";

const RICH: readonly (readonly [Token, bigint])[] = [
  [USDC, of(USDC, 100_000)],
  [DAI, of(DAI, 100_000)],
  [WETH, of(WETH, 100)],
];
const PER_DAY = calendar({ day: of(USDC, 150), week: of(USDC, 400), month: of(USDC, 900) });
const IN_ETHER = calendar({ day: of(WETH, "0.25"), month: of(WETH, 2) });
const IN_DOLLARS = calendar({ day: usd("700"), week: usd("1500"), month: usd("4000") }, { inDollars: true });

const always = leg({
  ...{ trigger: { kind: "level", side: "above", price: usdc(1) }, amount: { raw: of(WETH, "0.1") } },
  rearm: { price: undefined, cooldownSeconds: 1, times: undefined },
});

const VIA = mixSpec([target(WETH, 50), target(DAI, 50)], {
  ...{ quote: DAI, bands: "none", budget: IN_DOLLARS, trades: { min: of(DAI, 50), via: USDC, onIncomplete: "retry" } },
});

/** Strategies of every kind, each with budgets of several periods. */
const KINDS: readonly StrategySpec[] = [
  dcaOf(PER_DAY),
  dcaOf(PER_DAY, { onInsufficient: "partial", minSell: of(USDC, 7) }),
  dcaOf(PER_DAY, { sell: { token: USDC, share: toPpm(20_000) } }),
  dcaOf(PER_DAY, {
    carry: { maxMultiple: toPpm(4_000_000) },
    buy: [
      { token: WETH, weight: toPpm(400_000) },
      { token: WBTC, weight: toPpm(600_000) },
    ],
  }),
  twapOf(IN_ETHER),
  averagingOf(PER_DAY),
  thresholdOf([always], { budget: IN_ETHER }),
  thresholdOf([leg({ ...always, amount: { share: toPpm(10_000) } })], { budget: IN_ETHER }),
  sweepOf(IN_DOLLARS),
  mixOf(),
  VIA,
];

type Fate = "filled" | "nothing" | "unknown";

/** What one slot brings: how long after the one before, what becomes of its swaps, and when it is seen. */
const slot = fc.record({
  afterMs: fc.integer({ min: 1, max: 30 * HOUR }),
  fate: fc.constantFrom<Fate[]>("filled", "filled", "filled", "nothing", "unknown"),
  seenAfterMs: fc.integer({ min: 1_000, max: 3 * HOUR }),
  slots: fc.integer({ min: 1, max: 3 }),
  heldOf: fc.constantFrom(WETH, DAI),
});

function amountsOf(
  { outcome }: Decision<unknown>,
  brought: bigint,
): readonly { sell: Token; buy: Token; raw: bigint }[] {
  if (outcome.kind !== "swap") return [];
  return outcome.swaps.flatMap(({ sell, buy, amount }) => {
    const raw = resolvePlannedAmount(amount, () => brought);
    return raw === undefined ? [] : [{ sell, buy, raw }];
  });
}

/** Balances of a wallet whose mix is off its targets, by the token that there is too much of. */
function holdings(heldOf: Token): readonly (readonly [Token, bigint])[] {
  return RICH.map(([token, raw]) => [token, token.address === heldOf.address ? raw : raw / 50n] as const);
}

describe("a budget of a day, week and month", () => {
  it.each(KINDS.map((spec, index) => [spec.kind, index, spec] as const))(
    "BUD-1 is never exceeded by a %s (%i), whatever becomes of its swaps and however late that is seen",
    (_kind, _index, spec) => {
      const inDollars = spec.budget?.inDollars === true;
      const currency = inDollars ? "USD" : tradedSides(spec).sells[0];
      if (currency === undefined) throw new Error("sells nothing");
      fc.assert(
        fc.property(fc.array(slot, { minLength: 5, maxLength: 40 }), (course) => {
          let memory = initialStrategyMemory(spec);
          let nowMs = START;
          const sales: Sale[] = [];
          for (const { afterMs, fate, seenAfterMs, slots, heldOf } of course) {
            nowMs += afterMs;
            const budget = budgetOf(spec, sales, nowMs);
            const free = inDollars ? holdings(heldOf) : RICH;
            const decision = decideStrategy(spec, view({ nowMs, slots, free, prices: PRICES, budget }), memory);
            memory = JSON.parse(JSON.stringify(decision.memory));
            if (decision.outcome.kind !== "swap") continue;
            const planned = amountsOf(decision, of(USDC, 350));
            const now = planned.map(({ sell, raw }): Sale => ({ token: sell, raw, settledMs: undefined }));
            sales.push(...now);
            for (const count of budgetOf(spec, sales, nowMs).counts)
              expect(soldWithin(count, currency)).toBeLessThanOrEqual(count.most);
            // What is unknown holds its reservation; the strategy goes on, as after a restart, when the chain has answered.
            nowMs += fate === "unknown" ? 20 * seenAfterMs : seenAfterMs;
            for (const sale of now) sale.settledMs = fate === "nothing" ? null : nowMs;
            const swaps = planned.map(({ sell, buy, raw }, position) => ({
              ...{ position, sell, buy, sold: fate === "nothing" ? 0n : raw, bought: fate === "nothing" ? 0n : 1n },
              reason: fate === "nothing" ? "quote_unavailable" : undefined,
            }));
            const end = { slotMs: nowMs, nowMs, filled: fate !== "nothing", swaps };
            memory = JSON.parse(JSON.stringify(strategyRunEnded(spec, memory, end).memory));
          }
          for (const { settledMs } of sales) checkPeriods(spec, sales, settledMs, currency);
        }),
        { numRuns: 40 },
      );
    },
  );

  it("BUD-4 skips a slot that does not fit, and says which period binds, what is left of it, and when it renews", () => {
    const nowMs = Date.parse("2026-11-25T12:00Z");
    const spent = [{ token: USDC, raw: of(USDC, 330), settledMs: Date.parse("2026-11-23T09:00Z") }];
    expect(outcomeOf(dcaOf(PER_DAY), spent, nowMs)).toEqual({
      ...{ kind: "skip", reason: "budget_period_spent" },
      detail:
        "70 USDC are left of 400 USDC a week, and the slot would sell 100 USDC, it renews on 2026-11-30 (Europe/Berlin)",
    });
    expect(outcomeOf(dcaOf(PER_DAY), spent, Date.parse("2026-11-29T22:59:59Z")).kind).toBe("skip");
    expect(outcomeOf(dcaOf(PER_DAY), spent, Date.parse("2026-11-29T23:00Z")).kind).toBe("swap");
    const swept = [{ token: DAI, raw: of(DAI, 3_980), settledMs: Date.parse("2026-11-02T09:00Z") }];
    expect(outcomeOf(sweepOf(IN_DOLLARS), swept, nowMs)).toMatchObject({
      ...{ kind: "skip", reason: "budget_period_spent" },
      detail: expect.stringContaining(
        "20 USD are left of 4000 USD a month, of which 19 USD can be planned (95%), and the least that is traded is 50 USD, it renews on 2026-12-01 (Europe/Berlin)",
      ),
    });
    expect(outcomeOf(mixOf(), swept, nowMs)).toMatchObject({ kind: "skip", reason: "budget_period_spent" });
  });

  it("BUD-4 of dollars says how much of what is left can be planned, where that is less than the least", () => {
    const total = { total: usd("1000"), inDollars: true } as const;
    const details = [
      [sweepOf(total, { lot: { min: usd("200"), max: usd("450") } }), "791"],
      [mixOf(total, { min: of(DAI, 200) }), "791"],
      [mixOf(total, { min: of(DAI, 250), via: USDC }), "480"],
    ].map(([spec, sold]) => {
      const outcome = outcomeOf(
        spec as StrategySpec,
        [{ token: DAI, raw: of(DAI, String(sold)), settledMs: 0 }],
        START,
      );
      return outcome.kind === "swap" ? [] : [outcome.reason, outcome.detail.split("; ")[0]];
    });
    const direct =
      "209 USD are left of 1000 USD in all, of which 198.55 USD can be planned (95%), and the least that is traded is 200 USD";
    const over =
      "520 USD are left of 1000 USD in all, of which 247 USD can be planned (95%, sold twice over USDC), and the least that is traded is 250 USD";
    expect(details).toEqual([direct, direct, over].map((detail) => ["budget_spent", detail]));
  });

  it.each<[string, StrategySpec, Token, bigint, bigint | "skip"]>([
    ["a dca order that is skipped by default", dcaOf(PER_DAY), USDC, of(USDC, 60), "skip"],
    [
      "a dca order that is sold in parts",
      dcaOf(PER_DAY, { onInsufficient: "partial" }),
      USDC,
      of(USDC, 60),
      of(USDC, 90),
    ],
    [
      "a part below min_sell",
      dcaOf(PER_DAY, { onInsufficient: "partial", minSell: of(USDC, 91) }),
      ...[USDC, of(USDC, 60), "skip"],
    ] as [string, StrategySpec, Token, bigint, "skip"],
    [
      "a share of the balance",
      dcaOf(PER_DAY, { sell: { token: USDC, share: toPpm(20_000) } }),
      ...[USDC, of(USDC, 60), of(USDC, 90)],
    ] as [string, StrategySpec, Token, bigint, bigint],
    ["a slice, from slice.min on", twapOf(IN_ETHER), WETH, of(WETH, "0.19"), of(WETH, "0.06")],
    ["a slice below slice.min", twapOf(IN_ETHER), WETH, of(WETH, "0.21"), "skip"],
    ["a contribution, from trades.min on", averagingOf(PER_DAY), USDC, of(USDC, 140), of(USDC, 10)],
    ["a contribution below trades.min", averagingOf(PER_DAY), USDC, of(USDC, 141), "skip"],
    ["a fixed amount of a trigger", thresholdOf([always], { budget: IN_ETHER }), WETH, of(WETH, "0.2"), "skip"],
    [
      "a share of a trigger",
      thresholdOf([leg({ ...always, amount: { share: toPpm(10_000) } })], { budget: IN_ETHER }),
      ...[WETH, of(WETH, "0.2"), of(WETH, "0.05")],
    ] as [string, StrategySpec, Token, bigint, bigint],
    ["a lot, with a margin for its price", sweepOf(IN_DOLLARS), DAI, of(DAI, 600), of(WETH, "0.0475")],
  ])("BUD-5 what is left is sold where that is worth a trade: %s", (_name, spec, token, raw, expected) => {
    const nowMs = START + 12 * HOUR;
    const outcome = outcomeOf(spec, [{ token, raw, settledMs: START + HOUR }], nowMs);
    if (outcome.kind !== "swap") expect([outcome.reason, expected]).toEqual(["budget_period_spent", "skip"]);
    else expect(outcome.swaps[0]?.amount).toEqual({ kind: "fixed", raw: expected });
  });

  it("THR-19 what a budget leaves of a share is sold from min_fill on, and completes the strategy once it never will be", () => {
    const share = { ...always, amount: { share: toPpm(10_000) } };
    const at = (budget: Budget, sold: string) => {
      const spec = thresholdOf([leg(share)], { budget, minFill: of(WETH, "0.05") });
      return decideStrategy(
        spec,
        view({
          ...{ nowMs: START + 12 * HOUR, free: RICH, prices: PRICES },
          budget: budgetOf(spec, [{ token: WETH, raw: of(WETH, sold), settledMs: START + HOUR }], START + 12 * HOUR),
        }),
        initialStrategyMemory(spec),
      );
    };
    expect(at(IN_ETHER, "0.2").outcome).toMatchObject({ kind: "swap" });
    const period = at(IN_ETHER, "0.21");
    expect([period.outcome, period.pause]).toMatchObject([{ reason: "budget_period_spent" }, undefined]);
    expect(period.outcome).toHaveProperty("detail", expect.stringContaining("the least that is traded is 0.05 WETH"));
    const life = at({ total: of(WETH, 1) }, "0.96");
    expect(life).toMatchObject({ outcome: { reason: "budget_spent" }, pause: { code: "completed" } });
  });

  it("BUD-7 what is too little for a share does not end a threshold while a fixed amount of another leg still fits", () => {
    const stop = leg({ id: "stop", trigger: cross("below", 2_400), amount: { raw: of(WETH, "0.2") } });
    const profit = leg({ id: "profit", amount: { share: toPpm(500_000) } });
    const spec = thresholdOf([profit, stop], { budget: { total: of(WETH, 1) }, minFill: of(WETH, "0.5") });
    const at = (memory: unknown, dollars: string, sold: string) => {
      const budget = budgetOf(spec, [{ token: WETH, raw: of(WETH, sold), settledMs: START }], START + HOUR);
      const prices = [[USDC, "1"] as const, [WETH, dollars] as const];
      return decideStrategy(spec, view({ nowMs: START + HOUR, free: RICH, prices, budget }), memory);
    };
    const started = at(initialStrategyMemory(spec), "4000", "0.7");
    const profited = at(started.memory, "4501", "0.7");
    expect([profited.outcome, profited.pause]).toMatchObject([{ reason: "budget_spent" }, undefined]);
    expect(at(profited.memory, "2300", "0.7").outcome).toMatchObject({ swaps: [{ amount: { raw: of(WETH, "0.2") } }] });
    expect(at(started.memory, "4501", "0.9").pause).toMatchObject({ code: "completed" });
    const over = { ...(started.memory as ThresholdMemory).legs, stop: { at: { state: "done", atMs: 0 }, fills: 1 } };
    const without = { ...(started.memory as object), legs: over };
    expect(at(without, "4501", "0.7").pause).toMatchObject({ code: "completed" });
  });

  it("BUD-5 an order that stands for several slots is cut, down to one slot's own amount", () => {
    const nowMs = START + 12 * HOUR;
    const seen = { nowMs, slots: 3, free: RICH, prices: PRICES };
    const spec = dcaOf(PER_DAY);
    const fresh = decideStrategy(
      spec,
      view({ ...seen, budget: budgetOf(spec, [], nowMs) }),
      initialStrategyMemory(spec),
    );
    expect(fresh.outcome).toMatchObject({ swaps: [{ amount: { raw: of(USDC, 150) } }] });
    const sold = [{ token: USDC, raw: of(USDC, 60), settledMs: START + HOUR }];
    const later = decideStrategy(
      spec,
      view({ ...seen, budget: budgetOf(spec, sold, nowMs) }),
      initialStrategyMemory(spec),
    );
    expect(later.outcome).toMatchObject({ kind: "skip", reason: "budget_period_spent" });
  });

  it("BUD-5 a slice that the budget cuts leaves no rest that is too small for a slice of its own", () => {
    const spec = twapOf(calendar({ day: of(WETH, "0.25") }), {
      sell: { token: WETH, raw: of(WETH, "0.28") },
      slices: 1,
    });
    const nowMs = START + HOUR / 2;
    expect(outcomeOf(spec, [], nowMs)).toMatchObject({ swaps: [{ amount: { raw: of(WETH, "0.23") } }] });
  });

  it("BUD-6 a trigger whose sale does not fit stays as it is, and fires once the period has renewed", () => {
    const crossing = leg({ trigger: cross("above", 2_500), amount: { raw: of(WETH, "0.2") } });
    const spec = thresholdOf([crossing], { budget: IN_ETHER, maxGapSeconds: 7 * 86_400 });
    const sold = [{ token: WETH, raw: of(WETH, "0.1"), settledMs: START + HOUR }];
    let memory = initialStrategyMemory(spec);
    const outcomes = [
      [START + 2 * HOUR, "2400"],
      [START + 3 * HOUR, "2600"],
      [START + 4 * HOUR, "2600"],
      [START + 25 * HOUR, "2600"],
    ].map(([nowMs, dollars]) => {
      const prices = [
        [USDC, "1"],
        [WETH, String(dollars)],
      ] as const;
      const seen = view({ nowMs: Number(nowMs), free: RICH, prices, budget: budgetOf(spec, sold, Number(nowMs)) });
      const decision = decideStrategy(spec, seen, memory);
      memory = JSON.parse(JSON.stringify(decision.memory));
      return decision.outcome.kind === "swap" ? "fires" : decision.outcome.reason;
    });
    expect(outcomes).toEqual(["not_triggered", "budget_period_spent", "budget_period_spent", "fires"]);
  });

  it("BUD-3 keeps what sells of a mix have brought for buys that the budget puts off", () => {
    const spec = VIA;
    const owed = { ...(initialStrategyMemory(spec) as object), owed: { [USDC.address]: String(of(USDC, 300)) } };
    const sold = [{ token: DAI, raw: of(DAI, 690), settledMs: START + HOUR }];
    const free = [...holdings(WETH), [USDC, of(USDC, 300)] as const];
    const at = (nowMs: number) => {
      const seen = view({ nowMs, free, prices: PRICES, budget: budgetOf(spec, sold, nowMs) });
      return decideStrategy(spec, seen, owed);
    };
    const barred = at(START + 2 * HOUR);
    expect(barred.outcome).toMatchObject({ kind: "skip", reason: "budget_period_spent" });
    expect(barred.outcome).toHaveProperty("detail", expect.stringContaining("9.5 USD can be planned (95%), and"));
    expect(barred.memory).toMatchObject({ owed: { [USDC.address]: String(of(USDC, 300)) } });
    expect(at(START + 25 * HOUR).outcome).toMatchObject({ kind: "swap", swaps: [{ sell: USDC, buy: DAI }] });
  });
});

describe("where a budget ends a strategy", () => {
  it.each<[string, StrategySpec, Token, bigint]>([
    ["threshold", thresholdOf([always], { budget: { total: of(WETH, 1) } }), WETH, of(WETH, 1)],
    ["sweep", sweepOf({ total: usd("1000") }), DAI, of(DAI, 950)],
    ["rebalance", mixOf({ total: usd("1000"), inDollars: true }), DAI, of(DAI, 950)],
    ["dca", dcaOf({ total: of(USDC, 1_000) }), USDC, of(USDC, 1_000)],
    ["value-averaging", averagingOf({ total: of(USDC, 1_000) }), USDC, of(USDC, 991)],
  ])("BUD-7 a total that is used up completes a %s", (_kind, spec, token, raw) => {
    const nowMs = START + 40 * 24 * HOUR;
    const sales = [{ token, raw, settledMs: START }];
    const budget = budgetOf(spec, sales, nowMs);
    const seen = view({ nowMs, free: holdings(WETH), prices: PRICES, spent: [[token, raw]], budget });
    const { outcome, pause } = decideStrategy(spec, seen, initialStrategyMemory(spec));
    expect([outcome.kind, "reason" in outcome && outcome.reason, pause?.code]).toEqual([
      "skip",
      "budget_spent",
      "completed",
    ]);
  });

  it("BUD-7 completes a threshold of which less than a fixed amount is left", () => {
    const spec = thresholdOf([always], { budget: { total: of(WETH, "0.25") } });
    const [nowMs, raw] = [START + 40 * 24 * HOUR, of(WETH, "0.2")];
    const budget = budgetOf(spec, [{ token: WETH, raw, settledMs: START }], nowMs);
    const seen = view({ nowMs, free: holdings(WETH), prices: PRICES, spent: [[WETH, raw]], budget });
    const { outcome, pause } = decideStrategy(spec, seen, initialStrategyMemory(spec));
    expect([outcome, pause?.code]).toMatchObject([{ kind: "skip", reason: "budget_spent" }, "completed"]);
  });

  it.each(KINDS)("BUD-8 a slot of before its last day that is caught up after it begins nothing (%#)", (kind) => {
    const bound = { ...kind, budget: { untilMs: START } } as StrategySpec;
    const nowMs = START + 3_600_000;
    const seen = view({ nowMs, free: RICH, prices: PRICES, budget: budgetOf(bound, [], nowMs, 0) });
    const late = { ...seen, slotMs: START - 1_000 };
    const { outcome, pause } = decideStrategy(bound, late, initialStrategyMemory(bound));
    const detail = "its end lies 1h before this check";
    expect([outcome, pause]).toEqual([
      { kind: "skip", reason: "ended", detail },
      { code: "completed", detail },
    ]);
  });

  it.each(KINDS)("BUD-8 after its last day, or its last run, nothing is begun and it completes (%#)", (kind) => {
    for (const [budget, runs, expected] of [
      [{ untilMs: START }, 0, "its end lies 1s before this slot"],
      [{ maxRuns: 2 }, 2, "traded 2 of 2 times"],
    ] as const) {
      const bound = { ...kind, budget } as StrategySpec;
      const nowMs = START + 1_000;
      const seen = view({ nowMs, free: RICH, prices: PRICES, budget: budgetOf(bound, [], nowMs, runs) });
      const { outcome, pause } = decideStrategy(bound, seen, initialStrategyMemory(bound));
      expect(outcome).toEqual({ kind: "skip", reason: "ended", detail: expected });
      expect(pause).toEqual({ code: "completed", detail: expected });
    }
  });
});

function mixOf(budget = IN_DOLLARS, trades: Partial<RebalanceSpec["trades"]> = {}): StrategySpec {
  return mixSpec([target(WETH, 50), target(DAI, 50)], {
    quote: DAI,
    bands: "none",
    budget,
    trades: { min: of(DAI, 50), ...trades },
  });
}

function outcomeOf(spec: StrategySpec, sales: readonly Sale[], nowMs: number): Decision<unknown>["outcome"] {
  const free = spec.budget?.inDollars === true ? holdings(WETH) : RICH;
  const seen = view({ nowMs, free, prices: PRICES, budget: budgetOf(spec, sales, nowMs) });
  return decideStrategy(spec, seen, initialStrategyMemory(spec)).outcome;
}

/** By the sales alone: what was seen to be sold in each period that an instant lies in. */
function checkPeriods(
  spec: StrategySpec,
  sales: readonly Sale[],
  atMs: number | null | undefined,
  currency: Token | "USD",
): void {
  if (atMs === null || atMs === undefined) return;
  for (const { period, most } of spec.budget?.calendar?.limits ?? []) {
    const { sinceMs, renewsMs } = calendarPeriod(period, { atMs, timezone: "Europe/Berlin" }, zones);
    const within = sales.filter(
      (sale) => sale.settledMs != null && sale.settledMs >= sinceMs && sale.settledMs < renewsMs,
    );
    const sold = within.reduce(
      (sum, sale) => sum + (currency === "USD" ? worth(sale) : sale.token === currency ? sale.raw : 0n),
      0n,
    );
    expect(sold).toBeLessThanOrEqual(most);
  }
}
