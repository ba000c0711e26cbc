import { describe, expect, it } from "vitest";
import { createIntlZones } from "../../../src/adapters/zones/intl-zones.ts";
import type { ForecastStrategy, ForecastWorld } from "../../../src/domain/forecast/forecast.ts";
import { worstCase } from "../../../src/domain/forecast/worst-case.ts";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { valueUp } from "../../../src/domain/money/price.ts";
import type { StrategySpec } from "../../../src/domain/strategy/spec.ts";
import { initialStrategyMemory } from "../../../src/domain/strategy/strategy.ts";
import type { LegMemory, ThresholdMemory } from "../../../src/domain/strategy/threshold-memory.ts";
import {
  dcaSpec,
  ETH,
  priceOf,
  rebalanceSpec,
  thresholdLeg,
  thresholdSpec,
  USDC,
  usd,
  WALLET,
  WBTC,
  WETH,
} from "../../support/builders.ts";

const SAFE = toAddress(`0x${"5a".repeat(20)}`);

/** A Sunday. */
const SUNDAY_MS = Date.UTC(2023, 10, 19, 12);
const DAY_SECONDS = 86_400;
const MONDAYS = { kind: "at", days: [1], hour: 9, minute: 0, timezone: "Europe/Berlin" } as const;
const FRIDAYS = { ...MONDAYS, days: [5] } as const;

/** Of a leg that traded for the last time. */
const DONE: LegMemory = { at: { state: "done", atMs: SUNDAY_MS - 1 }, fills: 1 };
const CANCELLED = { state: "cancelled" } as const;

function standing(spec: StrategySpec, spent: ForecastStrategy["spent"] = new Map()): ForecastStrategy {
  const memory = initialStrategyMemory(spec);
  return { spec, memory, handledMs: SUNDAY_MS, barred: undefined, spent, bought: new Map() };
}

/** A wallet of 3,000 dollars, and an owner who lets through much more. */
function world(specs: readonly (StrategySpec | ForecastStrategy)[], change: Partial<ForecastWorld> = {}) {
  const held = new Map<Address, bigint>([
    [USDC.address, 3_000_000_000n],
    [WETH.address, 0n],
    [WBTC.address, 0n],
    [ETH.address, 0n],
  ]);
  const limits = { maxTradeUsd: usd("500"), maxPerDayUsd: usd("20000"), maxPerMonthUsd: undefined };
  return {
    nowMs: SUNDAY_MS,
    strategies: specs.map((one) => ("spec" in one ? one : standing(one))),
    wallets: new Map([[WALLET, { free: held, balances: held, outside: new Map() }]]),
    prices: new Map([USDC, WETH, WBTC, ETH].map((token) => [token.address, priceOf(token)])),
    bars: new Map(),
    limits: { ...limits, minTradeUsd: undefined },
    trades: [],
    zones: createIntlZones(),
    slots: 3,
    ...change,
  } satisfies ForecastWorld;
}

function held(raw: ReadonlyMap<Address, bigint>): Partial<ForecastWorld> {
  return { wallets: new Map([[WALLET, { free: raw, balances: raw, outside: new Map() }]]) };
}

describe("the worst case", () => {
  it("of 100 USDC each week is 100 in a day and 500 in 30 days, asked on the day before too", () => {
    expect(worstCase(world([dcaSpec({ schedule: MONDAYS })]))).toEqual({
      perDayUsd: usd("100"),
      perMonthUsd: usd("500"),
      perDayBounds: ["amounts"],
      perMonthBounds: ["amounts"],
    });
  });

  it("counts what nothing holds back: the first slot of a start, and slots that are caught up", () => {
    const rarely = dcaSpec({
      schedule: { kind: "every", seconds: 35 * DAY_SECONDS, anchorSeconds: SUNDAY_MS / 1_000 },
    });
    const nothing = worstCase(world([rarely]));
    expect([nothing.perDayUsd, nothing.perMonthUsd]).toEqual([0n, 0n]);
    const first = worstCase(world([{ ...standing(rarely), due: { slotMs: SUNDAY_MS, slots: 1 } }]));
    expect([first.perDayUsd, first.perMonthUsd]).toEqual([usd("100"), usd("100")]);
    const catchUp = {
      ...rarely.catchUp,
      policy: "accumulate",
      maxMultiple: 3,
      windowSeconds: 5 * DAY_SECONDS,
    } as const;
    const daily = { ...dcaSpec({ schedule: { kind: "every", seconds: DAY_SECONDS } }), catchUp };
    const late = worstCase(world([{ ...standing(daily), handledMs: SUNDAY_MS - 4 * DAY_SECONDS * 1_000 }]));
    expect([late.perDayUsd, late.perMonthUsd]).toEqual([usd("400"), usd("3000")]);
    const over = { ...rarely, budget: { untilMs: SUNDAY_MS - 1 } };
    const tooLate = worstCase(world([{ ...standing(over), due: { slotMs: SUNDAY_MS, slots: 1 } }]));
    expect(tooLate.perMonthUsd).toBe(0n);
  });

  it("of 500 USDC every 15 seconds is no more than the 3,000 that the wallet holds", () => {
    const spec = dcaSpec({ schedule: { kind: "every", seconds: 15 }, sell: { token: USDC, raw: 500_000_000n } });
    expect(worstCase(world([spec]))).toEqual({
      perDayUsd: usd("3000"),
      perMonthUsd: usd("3000"),
      perDayBounds: ["wallet"],
      perMonthBounds: ["wallet"],
    });
  });

  it("adds what another strategy buys back for the wallet, and what a circle bounds by its amounts alone", () => {
    const there = dcaSpec({ schedule: { kind: "every", seconds: 60 }, sell: { token: USDC, raw: 500_000_000n } });
    const back = dcaSpec({
      ...{ id: "back", sell: { token: WETH, raw: 10n ** 17n }, buy: USDC },
      schedule: { kind: "every", seconds: 6 * 3_600 },
    });
    const all = worstCase(world([there, back], { limits: { ...world([]).limits, maxPerDayUsd: usd("1000000") } }));
    // back: 120 slots of 100 dollars, which the first can pay for; then the first has 3,000 and these 12,000
    expect(all.perMonthUsd).toBe(usd("27000"));
    const elsewhere = worstCase(world([there, { ...back, recipient: SAFE }]));
    // what the first buys the second can sell, and what that brings is gone
    expect(elsewhere.perMonthUsd).toBe(usd("6000"));
  });

  it("is the worst 24 hours of all together: two that never share a day are not added up", () => {
    const weekly = dcaSpec({ schedule: MONDAYS });
    const friday = dcaSpec({ id: "friday", schedule: FRIDAYS, sell: { token: USDC, raw: 250_000_000n } });
    const worst = worstCase(world([weekly, friday]));
    expect(worst.perDayUsd).toBe(usd("250"));
    const monday = { ...friday, schedule: { ...MONDAYS, hour: 23 } };
    expect(worstCase(world([weekly, monday])).perDayUsd).toBe(usd("350"));
  });

  it("counts a window of 24 hours, not a calendar day", () => {
    const evening = dcaSpec({ schedule: { ...MONDAYS, hour: 23 } });
    const morning = dcaSpec({ id: "morning", schedule: { ...MONDAYS, days: [2], hour: 7 } });
    expect(worstCase(world([evening, morning])).perDayUsd).toBe(usd("200"));
    expect(worstCase(world([dcaSpec({ schedule: { kind: "every", seconds: DAY_SECONDS } })])).perDayUsd).toBe(
      usd("100"),
    );
  });

  it("leaves out what a budget, a number of runs or an end does not let through, what was spent counted", () => {
    const daily = { kind: "every", seconds: DAY_SECONDS } as const;
    const budget = dcaSpec({ schedule: daily, budget: { total: 600_000_000n } });
    const spent = new Map([[USDC.address, 350_000_000n]]);
    expect(worstCase(world([standing(budget, spent)]))).toMatchObject({
      perMonthUsd: usd("250"),
      perMonthBounds: ["budget"],
    });
    expect(worstCase(world([dcaSpec({ schedule: daily, budget: { maxRuns: 2 } })])).perMonthUsd).toBe(usd("200"));
    const untilMs = SUNDAY_MS + 3 * DAY_SECONDS * 1_000;
    expect(worstCase(world([dcaSpec({ schedule: daily, budget: { untilMs } })])).perMonthUsd).toBe(usd("300"));
    const spentUp = new Map([[USDC.address, 600_000_000n]]);
    expect(worstCase(world([standing(budget, spentUp)]))).toMatchObject({ perDayUsd: 0n, perMonthUsd: 0n });
  });

  it("counts what was sold of a total in dollars", () => {
    const spec = rebalanceSpec({ budget: { total: usd("1000"), inDollars: true } });
    const sold = (dollars: string): ForecastStrategy => ({
      ...standing(spec),
      budget: {
        runs: 1,
        counts: [{ bound: "total", most: usd("1000"), sinceMs: 0, sold: new Map(), usd: usd(dollars) }],
      },
    });
    expect(worstCase(world([sold("900")])).perMonthUsd).toBe(usd("100"));
    expect(worstCase(world([sold("1000")])).perMonthUsd).toBe(0n);
  });

  it("is no more than a budget of the calendar lets through, in the periods that a window may touch", () => {
    const often = { kind: "every", seconds: 3_600 } as const;
    const of = (period: "day" | "week" | "month") =>
      dcaSpec({
        schedule: often,
        budget: { calendar: { timezone: "Europe/Berlin", limits: [{ period, most: 120_000_000n }] } },
      });
    expect(worstCase(world([of("day")]))).toMatchObject({ perDayUsd: usd("240"), perDayBounds: ["budget"] });
    expect(worstCase(world([of("week")]))).toMatchObject({ perMonthUsd: usd("720"), perMonthBounds: ["budget"] });
    expect(worstCase(world([of("month")]))).toMatchObject({ perDayUsd: usd("240"), perMonthUsd: usd("240") });
  });

  it("counts every period that the next 30 days touch: three months from the end of January, three days round a short one", () => {
    const at = (nowMs: number, period: "day" | "month") => {
      const calendar = { timezone: "Europe/Berlin", limits: [{ period, most: 120_000_000n }] };
      return worstCase(
        world([dcaSpec({ schedule: { kind: "every", seconds: 3_600 }, budget: { calendar } })], { nowMs }),
      );
    };
    expect(at(Date.UTC(2026, 0, 31, 12), "month").perMonthUsd).toBe(usd("360"));
    expect(at(Date.UTC(2026, 4, 1, 12), "month").perMonthUsd).toBe(usd("120"));
    // The clocks of Berlin go forward on 29 March 2026.
    expect(at(Date.UTC(2026, 2, 20, 12), "day").perDayUsd).toBe(usd("360"));
    expect(at(Date.UTC(2026, 4, 1, 12), "day").perDayUsd).toBe(usd("240"));
  });

  it("is never more than the owner's ceilings, and says which one it is", () => {
    const rich = held(new Map([[USDC.address, 10n ** 12n]]));
    const spec = dcaSpec({ schedule: { kind: "every", seconds: 3_600 }, sell: { token: USDC, raw: 900_000_000n } });
    const limits = { ...world([]).limits, maxPerDayUsd: usd("700"), maxPerMonthUsd: usd("900") };
    expect(worstCase(world([spec], { ...rich, limits }))).toEqual({
      perDayUsd: usd("700"),
      perMonthUsd: usd("900"),
      perDayBounds: ["max_per_day"],
      perMonthBounds: ["max_per_month"],
    });
    expect(worstCase(world([spec], { ...rich, limits: { ...limits, maxPerMonthUsd: undefined } })).perMonthUsd).toBe(
      usd("21000"),
    );
    const wide = { ...limits, maxPerDayUsd: usd("100000"), maxPerMonthUsd: undefined };
    expect(worstCase(world([spec], { ...rich, limits: wide }))).toMatchObject({
      perDayUsd: usd("12000"),
      perDayBounds: ["max_trade"],
    });
  });

  it("takes the deepest dip's multiple of an order, and what carried fees may add to it", () => {
    const tiers = [{ drop: toPpm(100_000), multiplier: toPpm(2_000_000) }];
    const dips = {
      of: WETH,
      reference: { kind: "high", seconds: DAY_SECONDS },
      tiers,
      maxMultiplier: undefined,
    } as const;
    expect(worstCase(world([dcaSpec({ schedule: MONDAYS, dips })])).perDayUsd).toBe(usd("200"));
    const carry = { maxMultiple: toPpm(3_000_000) };
    expect(worstCase(world([dcaSpec({ schedule: MONDAYS, dips, carry })])).perDayUsd).toBe(usd("300"));
  });

  it("fires a trigger once, and one that is armed again once a cooldown", () => {
    const coins = held(new Map([[WETH.address, 10n ** 19n]]));
    const every = { schedule: { kind: "every", seconds: 30 } } as const;
    expect(worstCase(world([thresholdSpec(every)], coins))).toMatchObject({
      perDayUsd: usd("100"),
      perMonthUsd: usd("100"),
      perMonthBounds: ["budget"],
    });
    const again = thresholdLeg({ rearm: { price: undefined, cooldownSeconds: 3 * DAY_SECONDS, times: undefined } });
    expect(worstCase(world([thresholdSpec({ ...every, legs: [again] })], coins))).toMatchObject({
      perDayUsd: usd("100"),
      perMonthUsd: usd("1000"),
    });
  });

  it.each<[string, readonly string[], ThresholdMemory["legs"], string]>([
    ["a leg with a new id is all of it", ["again"], { main: DONE }, "100"],
    ["a leg that takes the place of one that sold is all of it", ["main", "more"], { main: DONE }, "100"],
    ["a leg that was armed again before its rule was taken away is nothing", ["main"], { main: DONE }, "0"],
    ["legs of which one is cancelled is the others", ["main", "more"], { main: { ...DONE, at: CANCELLED } }, "100"],
    ["legs that sold nothing is all of them", ["main", "more"], {}, "200"],
  ])("of triggers that fire once counts those that still may, whatever others sold: %s", (_what, ids, legs, most) => {
    const coins = held(new Map([[WETH.address, 10n ** 19n]]));
    const spec = thresholdSpec({
      schedule: { kind: "every", seconds: 30 },
      legs: ids.map((id) => thresholdLeg({ id })),
    });
    const memory: ThresholdMemory = { version: 2, legs, sold: (2n * 10n ** 17n).toString() };
    const worst = worstCase(world([{ ...standing(spec), memory }], coins));
    expect(worst).toMatchObject({ perDayUsd: usd(most), perMonthUsd: usd(most) });
  });

  it("of a sweep is a lot of each token at a slot, at most what it may sell in a day", () => {
    const { sell, buy, kind, ...common } = dcaSpec({ schedule: { kind: "every", seconds: 3_600 } });
    const from = [USDC, WBTC].map((token) => ({ token, keep: 0n, above: { usd: usd("10") } }));
    const sweep: StrategySpec = {
      ...{ ...common, kind: "sweep", from, to: WETH, refill: undefined, exit: false, cooldownSeconds: 0 },
      lot: { min: usd("10"), max: usd("50") },
      maxPerDay: usd("400"),
    };
    expect(worstCase(world([sweep]))).toMatchObject({ perDayUsd: usd("400"), perDayBounds: ["own_day"] });
    const slow = { ...sweep, maxPerDay: undefined, cooldownSeconds: DAY_SECONDS / 2 };
    expect(worstCase(world([slow])).perDayUsd).toBe(usd("200"));
  });

  it("of a mix counts each of its swaps at the owner's largest trade", () => {
    const mix = rebalanceSpec({ schedule: { kind: "every", seconds: DAY_SECONDS } });
    expect(worstCase(world([mix]))).toMatchObject({ perDayUsd: usd("2000"), perDayBounds: ["max_trade"] });
  });

  it("of a token without a price is the owner's largest trade: nothing larger is signed", () => {
    const prices = new Map([[WETH.address, priceOf(WETH)]]);
    expect(worstCase(world([dcaSpec({ schedule: MONDAYS })], { prices }))).toMatchObject({ perDayUsd: usd("500") });
  });

  it("of strategies that share a wallet's token is no more than there is of it, once", () => {
    const one = dcaSpec({ schedule: { kind: "every", seconds: 3_600 } });
    const worst = worstCase(world([one, { ...one, id: "other" }]));
    expect(worst.perMonthUsd).toBe(valueUp({ raw: 3_000_000_000n, decimals: 6 }, priceOf(USDC).usd));
  });
});
