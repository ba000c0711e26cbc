import { describe, expect, it } from "vitest";
import {
  type FillAnswer,
  type FillQuestion,
  type ForecastSlot,
  type ForecastStrategy,
  type ForecastWorld,
  forecast,
} from "../../../src/domain/forecast/forecast.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { convertUp, parseUsd, type UsdPrice } from "../../../src/domain/money/price.ts";
import type { Token } from "../../../src/domain/money/token.ts";
import { budgetSpans } from "../../../src/domain/strategy/budget.ts";
import type { RebalanceSpec } from "../../../src/domain/strategy/rebalance-spec.ts";
import type { StrategySpec } from "../../../src/domain/strategy/spec.ts";
import { initialStrategyMemory } from "../../../src/domain/strategy/strategy.ts";
import {
  dcaSpec,
  ETH,
  mixTarget,
  priceOf,
  rebalanceSpec,
  thresholdSpec,
  USDC,
  WALLET,
  WBTC,
  WETH,
} from "../../support/builders.ts";

const NOW_MS = 1_700_000_000_000;
const MINUTE_MS = 60_000;
const zones = { offsetMinutes: () => 0 };

function usd(dollars: string): UsdPrice {
  return parseUsd(dollars) ?? (0n as UsdPrice);
}

function standing(spec: StrategySpec, change: Partial<ForecastStrategy> = {}): ForecastStrategy {
  return {
    spec,
    memory: initialStrategyMemory(spec),
    handledMs: NOW_MS,
    barred: undefined,
    spent: new Map(),
    bought: new Map(),
    budget: undefined,
    ...change,
  };
}

/** Looks once a day, so that it does nothing of its own here. */
function gasTankSpec({ lastResort }: { lastResort: bigint }): StrategySpec {
  const { kind, sell, buy, ...common } = dcaSpec({ id: "tank", schedule: { kind: "every", seconds: 86_400 } });
  return {
    ...common,
    kind: "sweep",
    from: [{ token: USDC, keep: 0n, above: undefined }],
    to: ETH,
    refill: { below: 4n * lastResort, to: 12n * lastResort, lastResort },
    lot: { min: usd("10"), max: usd("500") },
    maxPerDay: undefined,
    cooldownSeconds: 21_600,
    exit: false,
  };
}

function world(strategies: readonly ForecastStrategy[], change: Partial<ForecastWorld> = {}): ForecastWorld {
  const held = new Map([
    [USDC.address, 1_000_000_000n],
    [WETH.address, 3n * 10n ** 18n],
    [WBTC.address, 0n],
  ]);
  return {
    nowMs: NOW_MS,
    strategies,
    wallets: new Map([[WALLET, { free: held, balances: held, outside: held }]]),
    prices: new Map([USDC, WETH, WBTC].map((token) => [token.address, priceOf(token)])),
    bars: new Map(),
    limits: { maxTradeUsd: usd("5000"), maxPerDayUsd: usd("5000"), maxPerMonthUsd: undefined, minTradeUsd: undefined },
    trades: [],
    zones,
    slots: 3,
    ...change,
  };
}

/** Every swap brings what it is worth at reference prices. */
function fair({ swap, amount }: FillQuestion): FillAnswer {
  const sold = { raw: amount, decimals: swap.sell.decimals, usd: priceOf(swap.sell).usd };
  return { bought: convertUp(sold, { decimals: swap.buy.decimals, usd: priceOf(swap.buy).usd }) };
}

function run(start: ForecastWorld, answer: (question: FillQuestion) => FillAnswer = fair): readonly ForecastSlot[] {
  const course = forecast(start);
  let step = course.next();
  while (!step.done) step = course.next(answer(step.value));
  return step.value;
}

const everyMinute = { kind: "every", seconds: 60 } as const;

describe("a forecast", () => {
  it("takes the slots of all strategies in the order of their instants, so many of each", () => {
    const slow = dcaSpec({ id: "slow", schedule: { kind: "every", seconds: 120 } });
    const slots = run(world([standing(slow), standing(dcaSpec({ id: "quick", schedule: everyMinute }))]));
    expect(slots.map((slot) => slot.slotMs)).toEqual([...slots.map((slot) => slot.slotMs)].sort((a, b) => a - b));
    for (const id of ["slow", "quick"]) expect(slots.filter((slot) => slot.strategyId === id)).toHaveLength(3);
  });

  it("spends what the slots before it left: the budget's last order is what remains, and then it is completed", () => {
    const spec = dcaSpec({ schedule: everyMinute, budget: { total: 150_000_000n } });
    const slots = run(world([standing(spec)]));
    expect(slots.map((slot) => slot.swaps.map((swap) => swap.amount))).toEqual([[100_000_000n], [50_000_000n], []]);
    expect(slots[2]).toMatchObject({ swaps: [] });
    expect(slots[2]?.decision).not.toBe("swap");
  });

  it("BUD-11 counts what it sells in each period, with what was sold before, and knows when a period renews", () => {
    const limits = [{ period: "day" as const, most: 150_000_000n }];
    const spec = dcaSpec({
      schedule: { kind: "every", seconds: 6 * 3_600 },
      budget: { calendar: { timezone: "UTC", limits } },
    });
    const span = budgetSpans(spec.budget, NOW_MS, zones).map((one) => ({
      ...one,
      sold: new Map([[USDC.address, 60_000_000n]]),
      usd: 0n,
    }));
    const slots = run(world([standing(spec, { budget: { counts: span, runs: 1 } })], { slots: 5 }));
    // It is 22:13: 60 of 150 are spent, and the day renews before the first slot.
    expect(slots.map(({ decision, reason }) => reason ?? decision)).toEqual([
      ...["swap", "budget_period_spent", "budget_period_spent", "budget_period_spent", "swap"],
    ]);
    const nowMs = NOW_MS - 12 * 3_600_000;
    const early = standing(spec, { handledMs: nowMs, budget: { counts: span, runs: 1 } });
    const late = run(world([early], { nowMs, slots: 2 }));
    expect(late.map(({ decision, reason }) => reason ?? decision)).toEqual([
      "budget_period_spent",
      "budget_period_spent",
    ]);
  });

  it("counts the day's ceiling over all strategies, with what was traded before", () => {
    const limits = { ...world([]).limits, maxPerDayUsd: usd("350") };
    const trades = [{ atMs: NOW_MS, usd: usd("100"), atLeastUsd: usd("100") }];
    const slots = run(world([standing(dcaSpec({ schedule: everyMinute }))], { limits, trades }));
    expect(slots.map((slot) => slot.reason)).toEqual([undefined, undefined, "DAILY_CAP_EXCEEDED"]);
    expect(slots[2]?.swaps[0]).toMatchObject({ bought: 0n, problem: { code: "DAILY_CAP_EXCEEDED" } });
  });

  it("leaves alone what a gas tank of the same wallet keeps for its own refill", () => {
    const ether = 10n ** 18n;
    const free = new Map([[ETH.address, ether + ether / 1_000n]]);
    const wallets = new Map([[WALLET, { free, balances: free, outside: free }]]);
    const prices = new Map([ETH, USDC].map((token) => [token.address, priceOf(token)]));
    const seller = standing(dcaSpec({ schedule: everyMinute, sell: { token: ETH, raw: ether }, buy: USDC }));
    const tank = standing(gasTankSpec({ lastResort: ether / 200n }));
    const first = (strategies: readonly ForecastStrategy[]) =>
      run(world(strategies, { wallets, prices, slots: 1 })).find(({ strategyId }) => strategyId === seller.spec.id);
    expect(first([seller])).toMatchObject({ decision: "swap" });
    expect(first([seller, tank])?.swaps ?? []).toEqual([]);
  });

  describe("of what nothing holds back", () => {
    const HOUR_MS = 3_600_000;
    const hourly = {
      kind: "every",
      seconds: 3_600,
      anchorSeconds: (NOW_MS - 20 * MINUTE_MS) / 1_000 - 864_000,
    } as const;
    const did = (slots: readonly ForecastSlot[]) =>
      slots.map(({ slotMs, isAtOnce, swaps }) => [(slotMs - NOW_MS) / MINUTE_MS, isAtOnce, swaps[0]?.amount]);

    it("begins with a run that has not begun", () => {
      const due = { slotMs: NOW_MS, slots: 1 };
      expect(did(run(world([standing(dcaSpec({ schedule: hourly }), { due })], { slots: 2 })))).toEqual([
        [0, true, 100_000_000n],
        [40, false, 100_000_000n],
      ]);
    });

    it("begins with a missed slot that is caught up, and with none that is too old", () => {
      const spec = dcaSpec({ schedule: hourly });
      const late = run(world([standing(spec, { handledMs: NOW_MS - 2 * HOUR_MS })], { slots: 2 }));
      expect(did(late)).toEqual([
        [-20, true, 100_000_000n],
        [40, false, 100_000_000n],
      ]);
      const catchUp = { ...spec.catchUp, windowSeconds: 19 * 60 };
      const old = standing({ ...spec, catchUp }, { handledMs: NOW_MS - 2 * HOUR_MS });
      expect(did(run(world([old], { slots: 1 })))).toEqual([[40, false, 100_000_000n]]);
    });

    it("makes up for several slots one by one, or in one run, as the strategy does", () => {
      const caughtUp = (policy: "all" | "accumulate") => {
        const spec = dcaSpec({ schedule: hourly });
        const catchUp = { ...spec.catchUp, policy, maxRuns: 2, maxMultiple: 3, windowSeconds: 5 * 3_600 };
        return did(run(world([standing({ ...spec, catchUp }, { handledMs: NOW_MS - 5 * HOUR_MS })], { slots: 3 })));
      };
      expect(caughtUp("all")).toEqual([
        [-80, true, 100_000_000n],
        [-20, true, 100_000_000n],
        [40, false, 100_000_000n],
      ]);
      expect(caughtUp("accumulate").slice(0, 2)).toEqual([
        [-20, true, 300_000_000n],
        [40, false, 100_000_000n],
      ]);
    });

    it("counts for the ceilings when it is traded, not at its slot", () => {
      const daily = { ...hourly, seconds: 86_400 };
      const limits = { ...world([]).limits, maxPerDayUsd: usd("150") };
      const late = standing(dcaSpec({ schedule: daily }), { handledMs: NOW_MS - 2 * HOUR_MS });
      expect(run(world([late], { limits, slots: 3 })).map(({ reason }) => reason)).toEqual([
        undefined,
        "DAILY_CAP_EXCEEDED",
        undefined,
      ]);
    });
  });

  it("says which swap waits for an approval, and which is announced first", () => {
    const waitOf = (change: Partial<StrategySpec>) => {
      const spec = dcaSpec({ schedule: everyMinute, ...change } as Parameters<typeof dcaSpec>[0]);
      return run(world([standing(spec)], { slots: 1 }))[0]?.swaps[0]?.waitsFor;
    };
    expect(waitOf({})).toBe(undefined);
    expect(waitOf({ approveAboveUsd: usd("100") })).toBe(undefined);
    expect(waitOf({ approveAboveUsd: usd("99") })).toEqual({ kind: "approval", aboveUsd: usd("99") });
    expect(waitOf({ announceSeconds: 1_800 })).toEqual({ kind: "announcement", seconds: 1_800 });
    expect(waitOf({ approveAboveUsd: usd("99"), announceSeconds: 1_800 })).toMatchObject({ kind: "approval" });
  });

  it("names the other ceilings, and a token without a price", () => {
    const one = standing(dcaSpec({ schedule: everyMinute }));
    const code = (change: Partial<ForecastWorld>): string | undefined =>
      run(world([one], { slots: 1, ...change }))[0]?.reason;
    const { limits } = world([]);
    expect(code({ limits: { ...limits, maxTradeUsd: usd("99.99") } })).toBe("RUN_CAP_EXCEEDED");
    expect(code({ limits: { ...limits, maxPerMonthUsd: usd("99.99") } })).toBe("MONTHLY_CAP_EXCEEDED");
    expect(code({ limits: { ...limits, minTradeUsd: usd("100.01") } })).toBe("TRADE_TOO_SMALL");
    expect(code({ prices: new Map() })).toBe("REFERENCE_MISSING");
    const long = [{ atMs: NOW_MS - 31 * 86_400_000, usd: usd("9999"), atLeastUsd: usd("9999") }];
    expect(code({ limits: { ...limits, maxPerMonthUsd: usd("100") }, trades: long })).toBe(undefined);
  });

  it("remembers: a trigger that fired is latched at the next slot", () => {
    const spec = thresholdSpec({ schedule: everyMinute });
    const slots = run(world([standing(spec)]));
    const fired = slots.filter((slot) => slot.decision === "swap");
    expect(fired.length).toBeLessThanOrEqual(1);
  });

  it("brings a mix to its target once, and then leaves it alone", () => {
    const slots = run(world([standing(rebalanceSpec({ schedule: everyMinute }))]));
    expect(slots[0]?.decision).toBe("swap");
    expect(slots.slice(1).map((slot) => slot.decision)).toEqual(["skip", "skip"]);
  });

  it("does nothing for a strategy that starts no runs, and says why", () => {
    const slots = run(world([standing(dcaSpec({ schedule: everyMinute }), { barred: "paused" })]));
    expect(slots).toHaveLength(3);
    for (const slot of slots) expect(slot).toMatchObject({ decision: "barred", reason: "paused", swaps: [] });
  });

  it("VAL-4 neither buys once more nor sells what a person accepted as sold", () => {
    const { kind, sell, budget, ...shared } = dcaSpec({ schedule: everyMinute });
    const path = { step: 100_000_000n, growth: toPpm(0) };
    const terms = { pay: USDC, buy: WETH, path, maxContribution: 500_000_000n, min: 10_000_000n };
    const spec = { ...shared, ...terms, kind: "value-averaging", allowSell: false } as const;
    const memory = { version: 1, slots: 10, lastMs: NOW_MS } as const;
    const whole = convertUp(
      { raw: 1_000_000_000n, decimals: 6, usd: priceOf(USDC).usd },
      { decimals: 18, usd: priceOf(WETH).usd },
    );
    const path11 = standing(
      { ...spec, budget: undefined, startMs: undefined, onInsufficient: "skip" },
      {
        memory,
        bought: new Map([[WETH.address, whole]]),
        spent: new Map([[WETH.address, whole / 2n]]),
        accepted: new Map([[WETH.address, whole / 2n]]),
      },
    );
    const [slot] = run(world([path11], { slots: 1 }));
    expect(slot?.swaps.map(({ amount }) => amount)).toEqual([100_000_000n]);
  });

  it("begins after the slots that were handled already", () => {
    const handledMs = NOW_MS + 10 * MINUTE_MS;
    const [first] = run(world([standing(dcaSpec({ schedule: everyMinute }), { handledMs })], { slots: 1 }));
    expect(first?.slotMs).toBeGreaterThan(handledMs);
  });

  it("passes over slots that have their end already", () => {
    const strategy = standing(dcaSpec({ schedule: everyMinute }));
    const [first, second] = run(world([strategy], { slots: 2 })).map(({ slotMs }) => slotMs);
    const ended = [{ firstMs: first ?? 0, lastMs: first ?? 0 }];
    const left = run(world([{ ...strategy, ended }], { slots: 2 })).map(({ slotMs }) => slotMs);
    expect(left).toEqual([second, (second ?? 0) + MINUTE_MS]);
  });

  it.each([
    ["RUN_CAP_EXCEEDED", "earlier_swap_denied", 1],
    ["TOKEN_TAX", "earlier_swap_denied", 1],
    ["SIMULATION_REVERTED", "earlier_swap_denied", 1],
    ["FEE_CAP_EXCEEDED", undefined, 3],
    ["quote_refused", undefined, 3],
  ])("ALL-9 what follows %s in a run ends with %s", (code, reason, asked) => {
    const share = (token: Token, weight: number) => ({ token, weight: toPpm(weight) });
    const thirds = [share(WETH, 500_000), share(WBTC, 300_000), share(ETH, 200_000)];
    let questions = 0;
    const refuse = (question: FillQuestion): FillAnswer => {
      questions += 1;
      return question.swap.buy === WETH ? { code, detail: "no" } : { bought: 1n };
    };
    const [slot] = run(world([standing(dcaSpec({ schedule: everyMinute, buy: thirds }))], { slots: 1 }), refuse);
    const problem = reason && { code: reason, detail: expect.stringContaining(code) };
    expect(slot).toMatchObject({ reason: code, swaps: [{ problem: { code } }, { problem }, { problem }] });
    expect(slot?.swaps.map(({ bought }) => bought)).toEqual(reason === undefined ? [0n, 1n, 1n] : [0n, 0n, 0n]);
    expect(questions).toBe(asked);
  });

  it("reports the service's refusal, and the strategy hears that nothing was bought", () => {
    const refuse = (): FillAnswer => ({ code: "quote_refused", detail: "no route" });
    const [slot] = run(world([standing(dcaSpec({ schedule: everyMinute }))], { slots: 1 }), refuse);
    expect(slot).toMatchObject({ decision: "swap", reason: "quote_refused", detail: "no route" });
    expect(slot?.swaps[0]?.bought).toBe(0n);
  });
});

describe("a mix that counts an address besides its wallet", () => {
  const cold = toAddress(`0x${"c".repeat(40)}`);
  const half = (token: Token) => ({
    ...mixTarget(token, 500_000),
    soft: { relative: toPpm(100_000), absolute: undefined },
  });
  const ether = 10n ** 18n;

  function planned(held: { readonly own: bigint; readonly cold: bigint }, change: Partial<RebalanceSpec> = {}) {
    const spec = rebalanceSpec({
      ...{ schedule: everyMinute, targets: [half(WETH), half(USDC)] },
      trades: { ...rebalanceSpec().trades, via: undefined },
      external: { watched: [{ address: cold, tokens: [WETH, USDC] }], stated: [] },
      ...change,
    });
    const own = new Map([
      [WETH.address, held.own],
      [USDC.address, 2_000_000_000n],
    ]);
    const there = new Map([[WETH.address, held.cold]]);
    const wallets = new Map([
      [WALLET, { free: own, balances: own, outside: own }],
      [cold, { free: there, balances: there, outside: new Map() }],
    ]);
    return run(world([standing(spec)], { wallets, slots: 2 }));
  }

  it("REB-29 is forecast with what lies there", () => {
    const [slot] = planned({ own: 0n, cold: 2n * ether });
    expect(slot).toMatchObject({ decision: "skip", reason: "within_bands" });
    expect(slot?.detail).toContain("2 WETH of it external");
  });

  it("REB-34 what it buys for the address counts there at the next slot", () => {
    const [first, second] = planned({ own: 0n, cold: 0n }, { recipient: cold });
    expect(first?.swaps).toMatchObject([{ sell: USDC, buy: WETH, amount: 1_000_000_000n, bought: ether }]);
    expect(second).toMatchObject({ reason: "within_bands" });
    expect(second?.detail).toContain("1 WETH of it external");
  });
});
