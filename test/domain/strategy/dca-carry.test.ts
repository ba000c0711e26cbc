import fc from "fast-check";
import { expect, it } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import type { Token } from "../../../src/domain/money/token.ts";
import type { DcaSpec } from "../../../src/domain/strategy/dca.ts";
import type { StrategyMemory } from "../../../src/domain/strategy/strategy.ts";
import {
  decideStrategy,
  initialStrategyMemory,
  strategyEdited,
  strategyRunEnded,
} from "../../../src/domain/strategy/strategy.ts";
import { common, of, USDC, view, WBTC, WETH } from "./world.ts";

const SELL = of(USDC, 100);

function spec(change: Partial<DcaSpec> = {}): DcaSpec {
  return {
    ...common,
    kind: "dca",
    sell: { token: USDC, raw: SELL },
    buy: WETH,
    budget: undefined,
    carry: { maxMultiple: toPpm(4_000_000) },
    ...change,
  };
}

const BOTH = [
  { token: WETH, weight: toPpm(600_000) },
  { token: WBTC, weight: toPpm(400_000) },
];

/** What became of one part of an order: sold, or why not. */
type Fate = "sold" | "FEE_CAP_EXCEEDED" | "SWAP_FEE_TOO_HIGH" | "quote_unavailable" | "reverted";

/** A strategy over several slots: what it orders, what it sold so far, and what it remembers. */
function life(strategy: DcaSpec, world: { free?: bigint } = {}) {
  let memory: StrategyMemory = initialStrategyMemory(strategy);
  let slot = 0;
  const sold = new Map<Token, bigint>();
  const spent = (): bigint => [...sold.values()].reduce((sum, raw) => sum + raw, 0n);
  return {
    sold,
    spent,
    memory: () => memory,
    /** One slot; each part of its order meets the fate of its token. @returns what was ordered, by token */
    run(fates: (buy: Token) => Fate, slots = 1, dry = false): Map<Token, bigint> {
      slot += 1;
      const nowMs = 1_700_000_000_000 + slot * 60_000;
      const free: [Token, bigint][] = [[USDC, world.free ?? of(USDC, 1_000_000)]];
      const seen = view({ nowMs, slots, free, spent: [[USDC, spent()]] });
      const { outcome, memory: decided } = decideStrategy(strategy, seen, memory);
      memory = JSON.parse(JSON.stringify(decided));
      if (outcome.kind !== "swap") return new Map();
      const ends = outcome.swaps.map(({ sell, buy, amount }, position) => {
        if (amount.kind !== "fixed") throw new Error("a dca order is a fixed amount");
        const fate = fates(buy);
        const raw = fate === "sold" ? amount.raw : 0n;
        sold.set(buy, (sold.get(buy) ?? 0n) + raw);
        return {
          order: amount.raw,
          swap: { position, sell, buy, sold: raw, bought: raw, reason: fate === "sold" ? undefined : fate },
        };
      });
      const swaps = ends.map(({ swap }) => swap);
      const filled = swaps.some((swap) => swap.sold > 0n);
      memory = strategyRunEnded(strategy, memory, { slotMs: seen.slotMs, nowMs, filled, dry, swaps }).memory;
      return new Map(ends.map(({ order, swap }) => [swap.buy, order]));
    },
  };
}

it("DCA-18 carries nothing over from a dry run, and keeps what was carried before it", () => {
  const { run } = life(spec());
  for (const slot of [1, 2, 3]) expect(run(() => "FEE_CAP_EXCEEDED", 1, true).get(WETH), `slot ${slot}`).toBe(SELL);
  expect(run(() => "FEE_CAP_EXCEEDED").get(WETH)).toBe(SELL);
  for (const slot of [1, 2]) expect(run(() => "FEE_CAP_EXCEEDED", 1, true).get(WETH), `slot ${slot}`).toBe(2n * SELL);
  expect(run(() => "sold").get(WETH)).toBe(2n * SELL);
  expect(run(() => "sold").get(WETH)).toBe(SELL);
});

it("DCA-18 adds what fees kept from being sold to the next order, once, and says so", () => {
  for (const fate of ["FEE_CAP_EXCEEDED", "SWAP_FEE_TOO_HIGH"] as const) {
    const { run } = life(spec());
    expect(run(() => fate).get(WETH)).toBe(SELL);
    expect(run(() => fate).get(WETH)).toBe(2n * SELL);
    expect(run(() => "sold").get(WETH)).toBe(3n * SELL);
    expect(run(() => "sold").get(WETH)).toBe(SELL);
  }
  const strategy = spec();
  const carried = { version: 1, runs: 0, carry: { [WETH.address]: "7000000" } };
  expect(decideStrategy(strategy, view({ free: [[USDC, of(USDC, 1_000)]] }), carried).outcome).toMatchObject({
    detail: "sells 107 USDC: with 7 USDC carried over",
  });
});

it("DCA-18 carries nothing that failed for another reason, but gives back what the order had taken of the carry", () => {
  for (const fate of ["quote_unavailable", "reverted"] as const) {
    const { run } = life(spec());
    run(() => fate);
    expect(run(() => "FEE_CAP_EXCEEDED").get(WETH)).toBe(SELL);
    expect(run(() => fate).get(WETH)).toBe(2n * SELL);
    expect(run(() => "sold").get(WETH)).toBe(2n * SELL);
    expect(run(() => "sold").get(WETH)).toBe(SELL);
  }
});

it("DCA-18 carries for the token that was not bought, so that the shares stay what they are", () => {
  const { run, sold } = life(spec({ buy: BOTH }));
  const order = run((buy) => (buy === WBTC ? "FEE_CAP_EXCEEDED" : "sold"));
  expect([...order]).toEqual([
    [WETH, of(USDC, 60)],
    [WBTC, of(USDC, 40)],
  ]);
  expect([...run(() => "sold")]).toEqual([
    [WETH, of(USDC, 60)],
    [WBTC, of(USDC, 80)],
  ]);
  expect([...sold]).toEqual([
    [WETH, of(USDC, 120)],
    [WBTC, of(USDC, 80)],
  ]);
});

it("DCA-18 carries nothing without the key", () => {
  const { run } = life(spec({ carry: undefined }));
  run(() => "FEE_CAP_EXCEEDED");
  expect(run(() => "sold").get(WETH)).toBe(SELL);
});

it("DCA-19 an order is never more than its largest multiple, and what is above it is let go", () => {
  const { run } = life(spec());
  for (let slot = 0; slot < 9; slot += 1) run(() => "FEE_CAP_EXCEEDED");
  expect(run(() => "sold").get(WETH)).toBe(4n * SELL);
  expect(run(() => "sold").get(WETH)).toBe(SELL);
});

it("DCA-19 carried amounts use what balance and budget leave, and never make a slot fail", () => {
  const { run } = life(spec(), { free: of(USDC, 130) });
  run(() => "FEE_CAP_EXCEEDED");
  expect(run(() => "sold").get(WETH)).toBe(of(USDC, 130));
  expect(run(() => "sold").get(WETH)).toBe(of(USDC, 130));
  expect(run(() => "sold").get(WETH)).toBe(of(USDC, 130));
  expect(run(() => "sold").get(WETH)).toBe(of(USDC, 110));
  const budgeted = life(spec({ budget: { total: of(USDC, 150) } }));
  budgeted.run(() => "FEE_CAP_EXCEEDED");
  expect(budgeted.run(() => "sold").get(WETH)).toBe(of(USDC, 150));
});

it("DCA-20 keeps what it carries over an edit, unless another token is sold or the key is gone", () => {
  const before = spec();
  const { run, memory } = life(before);
  run(() => "FEE_CAP_EXCEEDED");
  const next = (after: DcaSpec) => {
    const seen = view({
      free: [
        [USDC, of(USDC, 1_000)],
        [WBTC, of(WBTC, 1_000)],
      ],
    });
    const { outcome } = decideStrategy(after, seen, strategyEdited(before, after, memory()));
    return outcome.kind === "swap" ? outcome.swaps.map(({ amount }) => amount) : outcome;
  };
  expect(next(spec({ sell: { token: USDC, raw: 2n * SELL } }))).toEqual([{ kind: "fixed", raw: 3n * SELL }]);
  expect(next(spec({ sell: { token: WBTC, raw: 7n } }))).toEqual([{ kind: "fixed", raw: 7n }]);
  expect(next(spec({ carry: undefined }))).toEqual([{ kind: "fixed", raw: SELL }]);
  // What was meant for a token that is not bought any more is let go.
  expect(next(spec({ buy: WBTC }))).toEqual([{ kind: "fixed", raw: SELL }]);
});

it("DCA-18 ignores the end of a run that it did not order, and of one that sold another token", () => {
  const strategy = spec();
  const { run, memory } = life(strategy);
  run(() => "FEE_CAP_EXCEEDED");
  const swap = { position: 0, sell: WBTC, buy: WETH, sold: 0n, bought: 0n, reason: "FEE_CAP_EXCEEDED" };
  const other = { slotMs: 1, nowMs: 2, filled: false, swaps: [{ ...swap, sell: USDC }] };
  expect(strategyRunEnded(strategy, memory(), other)).toEqual({ memory: memory() });
  const seen = view({ free: [[USDC, of(USDC, 1_000)]] });
  const decided = decideStrategy(strategy, seen, initialStrategyMemory(strategy)).memory;
  const end = { slotMs: seen.slotMs, nowMs: seen.nowMs, filled: false, swaps: [swap] };
  expect(strategyRunEnded(strategy, decided, end)).toEqual({ memory: initialStrategyMemory(strategy) });
});

it("DCA-19 never orders more than its limits, nor sells more than the slots' amounts together, whatever happens", () => {
  const fate = fc.constantFrom<Fate>("sold", "FEE_CAP_EXCEEDED", "FEE_CAP_EXCEEDED", "quote_unavailable");
  const slots = fc.array(fc.record({ eth: fate, btc: fate, slots: fc.integer({ min: 1, max: 2 }) }), { maxLength: 30 });
  const total = fc.bigInt({ min: SELL, max: 40n * SELL });
  const carry = fc.bigInt({ min: 1_000_000n, max: 6_000_000n }).map((ppm) => ({ maxMultiple: toPpm(ppm) }));
  fc.assert(
    fc.property(slots, total, carry, fc.bigInt({ min: SELL, max: 10n * SELL }), (fates, budget, rule, free) => {
      const { run, sold, spent } = life(spec({ buy: BOTH, budget: { total: budget }, carry: rule }), { free });
      let asked = 0n;
      for (const { eth, btc, slots: count } of fates) {
        const own = SELL * BigInt(count);
        const before = spent();
        const order = [...run((buy) => (buy === WETH ? eth : btc), count).values()];
        const raw = order.reduce((sum, part) => sum + part, 0n);
        const most = (SELL * rule.maxMultiple) / 1_000_000n;
        expect(raw).toBeLessThanOrEqual(own > most ? own : most);
        expect(raw).toBeLessThanOrEqual(free);
        expect(raw).toBeLessThanOrEqual(budget - before);
        asked += own;
        expect(spent()).toBeLessThanOrEqual(asked < budget ? asked : budget);
        // Rounding aside, no token gets more than its share of all slots.
        expect(sold.get(WBTC) ?? 0n).toBeLessThanOrEqual((asked * 4n) / 10n + BigInt(fates.length));
      }
    }),
  );
});
