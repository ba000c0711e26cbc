import { describe, expect, it } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import type { Token } from "../../../src/domain/money/token.ts";
import type { DcaSpec } from "../../../src/domain/strategy/dca.ts";
import type { StrategySpec } from "../../../src/domain/strategy/spec.ts";
import {
  decideStrategy,
  initialStrategyMemory,
  strategyEdited,
  strategyRunEnded,
} from "../../../src/domain/strategy/strategy.ts";
import type { TwapSpec } from "../../../src/domain/strategy/twap.ts";
import type { ValueAveragingSpec } from "../../../src/domain/strategy/value-averaging.ts";
import { usd } from "../../support/builders.ts";
import { common, of, USDC, view, WBTC, WETH } from "./world.ts";

const START = 1_699_999_200_000;
const maxTradeUsd = usd("150");

const PRICES: readonly (readonly [Token, string])[] = [
  [USDC, "1"],
  [WETH, "1000"],
  [WBTC, "50000"],
];

type Seen = Parameters<typeof view>[0];

function decide(spec: StrategySpec, seen: Seen, memory: unknown = initialStrategyMemory(spec)) {
  const free: Seen["free"] = [
    [USDC, of(USDC, 100_000)],
    [WETH, of(WETH, 1_000)],
  ];
  return decideStrategy(spec, view({ slotMs: START, nowMs: START, prices: PRICES, free, ...seen }), memory);
}

function soldIn({ outcome }: ReturnType<typeof decide>): readonly bigint[] {
  if (outcome.kind !== "swap") return [];
  return outcome.swaps.map(({ amount }) => (amount.kind === "fixed" ? amount.raw : 0n));
}

function dca(change: Partial<DcaSpec> = {}): DcaSpec {
  const sell = { token: USDC, raw: of(USDC, 100) };
  return { ...common, kind: "dca", sell, buy: WETH, budget: undefined, maxTradeUsd, ...change };
}

describe("an order of dca", () => {
  it("DCA-7 of several slots is cut to what the policy lets through, and says so", () => {
    const decision = decide(dca(), { slots: 4 });
    expect(soldIn(decision)).toEqual([of(USDC, "142.5")]);
    const detail = "sells 142.5 USDC: for 4 slots; cut to what the policy's max_trade lets through";
    expect(decision.outcome).toMatchObject({ detail });
  });

  it.each(["160", "150", "145"])("DCA-1 whose slot alone is %s is left for the guard to judge", (amount) => {
    const sell = { token: USDC, raw: of(USDC, amount) };
    for (const slots of [1, 3]) expect(soldIn(decide(dca({ sell }), { slots }))).toEqual([sell.raw]);
  });

  it("DCA-5 is cut by its largest part, because each part is a trade of its own", () => {
    const buy = [
      { token: WETH, weight: toPpm(750_000) },
      { token: WBTC, weight: toPpm(250_000) },
    ];
    expect(soldIn(decide(dca({ buy }), { slots: 4 }))).toEqual([of(USDC, "142.5"), of(USDC, "47.5")]);
  });

  it("DCA-18 keeps for later what would make one part of it more than the policy lets through", () => {
    const buy = [
      { token: WETH, weight: toPpm(500_000) },
      { token: WBTC, weight: toPpm(500_000) },
    ];
    const carry = { [WETH.address]: of(USDC, 120).toString() };
    const decision = decide(dca({ buy, carry: { maxMultiple: toPpm(4_000_000) } }), {}, { version: 1, runs: 0, carry });
    expect(soldIn(decision)).toEqual([of(USDC, "142.5"), of(USDC, 50)]);
    expect(decision.memory).toMatchObject({ carry: { [WETH.address]: of(USDC, "27.5").toString() } });
  });

  it("grows as it did where no price or no policy is known", () => {
    expect(soldIn(decide(dca(), { slots: 4, prices: [] }))).toEqual([of(USDC, 400)]);
    expect(soldIn(decide(dca({ maxTradeUsd: undefined }), { slots: 4 }))).toEqual([of(USDC, 400)]);
  });
});

describe("a slice of twap", () => {
  /** 2 WETH in 20 slices of 100 dollars, one an hour. */
  const twap: TwapSpec = {
    ...{ ...common, kind: "twap", schedule: { kind: "every", seconds: 3_600 }, retryForSeconds: 3_000 },
    ...{ sell: { token: WETH, raw: of(WETH, 2) }, buy: USDC, startMs: START, slices: 20, everySeconds: 3_600 },
    ...{ spread: toPpm(0), limit: { floor: undefined, abort: undefined }, exit: false, maxTradeUsd: usd("10000") },
    slice: { unfilled: "roll", max: of(WETH, "0.2"), min: of(WETH, "0.05") },
  };

  /** The decision of a slice, nothing of the plan sold before it. */
  const at = (slice: number, memory?: unknown, spec: TwapSpec = twap) =>
    decide(spec, { slotMs: START + slice * 3_600_000, nowMs: START + slice * 3_600_000 }, memory);

  /** The memory after a slice that sold nothing. */
  function ended(slice: number, reason: string, dry = false): unknown {
    const swaps = [{ position: 0, sell: WETH, buy: USDC, sold: 0n, bought: 0n, reason }];
    const { memory } = at(slice);
    const end = { slotMs: START + slice * 3_600_000, nowMs: START, filled: false, dry, swaps };
    return JSON.parse(JSON.stringify(strategyRunEnded(twap, memory, end).memory));
  }

  it("TWAP-4 with what joins it stays within the policy's largest trade", () => {
    expect(soldIn(at(1, undefined, { ...twap, maxTradeUsd }))).toEqual([of(WETH, "0.1425")]);
  });

  it("TWAP-10 is not lifted over the policy's largest trade by a rest that is too small for a slice", () => {
    const spec = { ...twap, maxTradeUsd: usd("105"), slice: { ...twap.slice, unfilled: "extend" } } as const;
    const spent = [[WETH, of(WETH, "1.86")]] as const;
    expect(soldIn(decide(spec, { spent }))).toEqual([of(WETH, "0.1")]);
  });

  it.each(["RUN_CAP_EXCEEDED", "PRICE_IMPACT_TOO_HIGH"])(
    "TWAP-4 that had grown and was too much at once (%s) is the last that grew, until the file is edited",
    (reason) => {
      const memory = ended(2, reason);
      expect(soldIn(at(3, memory))).toEqual([of(WETH, "0.1")]);
      const next = JSON.parse(JSON.stringify(at(3, memory).memory));
      expect(soldIn(at(4, next))).toEqual([of(WETH, "0.1")]);
      const edited = strategyEdited(twap, { ...twap, exit: true }, at(3, memory).memory);
      expect(soldIn(at(4, edited))).toEqual([of(WETH, "0.2")]);
    },
  );

  it("TWAP-4 grows on after what only a dry run refused: its plan never gets any further", () => {
    expect(soldIn(at(3, ended(2, "PRICE_IMPACT_TOO_HIGH", true)))).toEqual([of(WETH, "0.2")]);
  });

  it("TWAP-4 grows on after what says nothing of its size, and after its own amount alone was too much", () => {
    expect(soldIn(at(3, ended(2, "GAS_PRICE_TOO_HIGH")))).toEqual([of(WETH, "0.2")]);
    expect(soldIn(at(1, ended(0, "PRICE_IMPACT_TOO_HIGH")))).toEqual([of(WETH, "0.2")]);
  });
});

describe("a contribution of value averaging", () => {
  /** The worth of its ether rises by 50 USDC a slot; this is its fifth one. */
  const path: ValueAveragingSpec = {
    ...{ ...common, kind: "value-averaging", pay: USDC, buy: WETH, budget: undefined, startMs: undefined, maxTradeUsd },
    ...{ path: { step: of(USDC, 50), growth: toPpm(0) }, maxContribution: of(USDC, 300), min: of(USDC, 10) },
    ...{ allowSell: true, onInsufficient: "skip" },
  };
  const fifth = (spec: ValueAveragingSpec, bought = 0n) =>
    soldIn(decide(spec, { instants: 1, bought: [[WETH, bought]] }, { version: 1, slots: 4, lastMs: START - 60_000 }));

  it("VAL-6 makes up for missed slots by what the policy lets through at once", () => {
    expect(fifth(path)).toEqual([of(USDC, "142.5")]);
  });

  it("VAL-2 is left for the guard to judge where the path rises by more at a slot", () => {
    expect(fifth({ ...path, path: { ...path.path, step: of(USDC, 160) } })).toEqual([of(USDC, 160)]);
  });

  it("VAL-5 what it sells of its own stays within the policy's largest trade too", () => {
    expect(fifth(path, of(WETH, 2))).toEqual([of(WETH, "0.1425")]);
  });
});
