import fc from "fast-check";
import { expect, it } from "vitest";
import type { UsdPrice } from "../../../src/domain/money/price.ts";
import type { Token } from "../../../src/domain/money/token.ts";
import { decideStrategy, initialStrategyMemory, strategyRunEnded } from "../../../src/domain/strategy/strategy.ts";
import type { SweepSpec } from "../../../src/domain/strategy/sweep.ts";
import { common, DAI, of, USDC, view, WETH } from "./world.ts";

const HOUR_MS = 3_600_000;
/** A whole hour: SWP-5 counts hours whole. */
const START_MS = 1_699_999_200_000;

/** One token of a sweep as the page speaks of it, in whole dollars. */
interface Source {
  readonly token: Token;
  readonly keep: number;
  readonly above: number;
}

interface Sweep {
  readonly sources: readonly Source[];
  readonly min: number;
  readonly max: number;
  readonly perDay: number | undefined;
  readonly cooldownHours: number;
}

/** What a slot finds, in whole dollars, and what becomes of its run. */
interface Slot {
  readonly hours: number;
  readonly deposits: readonly [number, number];
  readonly soldPercent: number;
}

const DOLLARS = new Map<Token, number>([
  [WETH, 4_000],
  [DAI, 1],
]);

/** SWP-1 to SWP-5 read literally. */
class Literal {
  private readonly selling = new Set<Token>();
  private restUntilHour = Number.NEGATIVE_INFINITY;
  private readonly sold: { readonly hour: number; dollars: number }[] = [];
  private readonly sweep: Sweep;
  /** a rest was just what the day allows: a unit of rounding decides, of which the page does not speak */
  isOnEdge = false;
  /** a lot was a unit smaller than the page says, so what is left of a day may be a unit more or less */
  private isUnitOff = false;

  constructor(sweep: Sweep) {
    this.sweep = sweep;
  }

  decide(hour: number, held: ReadonlyMap<Token, number>): string | readonly (readonly [Token, number])[] {
    if (hour < this.restUntilHour) return "cooling_down";
    const { sources, min, max, perDay } = this.sweep;
    for (const { token, keep, above } of sources) {
      const free = held.get(token) ?? 0;
      if (free > above) this.selling.add(token);
      if (free - keep < min) this.selling.delete(token);
    }
    const lots: (readonly [Token, number])[] = [];
    let cap = (perDay ?? Number.POSITIVE_INFINITY) - this.soldSince(hour - 24);
    for (const { token, keep } of sources) {
      if (!this.selling.has(token)) continue;
      const rest = (held.get(token) ?? 0) - keep;
      this.isOnEdge ||= Math.abs(rest - cap) < 1 || (this.isUnitOff && Math.abs(cap - min) < 1);
      const whole = Math.min(rest, max, cap);
      if (whole < min) continue;
      const left = rest - whole;
      const leavesLot = left > 0 && left < min && rest - min > min;
      const lot = leavesLot ? rest - min : whole;
      this.isUnitOff ||= leavesLot;
      lots.push([token, lot]);
      cap -= lot;
    }
    if (lots.length === 0) return "nothing";
    this.sold.push({ hour, dollars: lots.reduce((sum, [, lot]) => sum + lot, 0) });
    return lots;
  }

  ended(hour: number, dollars: number): void {
    const last = this.sold.at(-1);
    if (last !== undefined) last.dollars = dollars;
    if (dollars > 0) this.restUntilHour = hour + this.sweep.cooldownHours;
  }

  /** Hours count whole, so the day may be an hour longer. */
  private soldSince(hour: number): number {
    return this.sold.filter((one) => one.hour >= hour).reduce((sum, one) => sum + one.dollars, 0);
  }
}

function specOf({ sources, min, max, perDay, cooldownHours }: Sweep): SweepSpec {
  const dollars = (amount: number): UsdPrice => (BigInt(amount) * 10n ** 18n) as UsdPrice;
  return {
    ...{ ...common, kind: "sweep", to: USDC, refill: undefined, exit: false },
    from: sources.map(({ token, keep, above }) => ({
      token,
      keep: rawOf(token, keep),
      above: { usd: dollars(above) },
    })),
    lot: { min: dollars(min), max: dollars(max) },
    maxPerDay: perDay === undefined ? undefined : dollars(perDay),
    cooldownSeconds: cooldownHours * 3_600,
  };
}

/** Whole dollars of a token: no price leaves a rest, so nothing is rounded. */
function rawOf(token: Token, dollars: number): bigint {
  return (of(token, 1) * BigInt(dollars)) / BigInt(DOLLARS.get(token) ?? 1);
}

/** To the nearest dollar: a lot may be a unit smaller, so that what it leaves is surely a lot. */
function dollarsOf(token: Token, raw: bigint): number {
  return Math.round(Number((raw * BigInt(DOLLARS.get(token) ?? 1) * 1_000n) / of(token, 1)) / 1_000);
}

const source = (token: Token) =>
  fc
    .record({ keep: fc.integer({ min: 0, max: 20 }), more: fc.integer({ min: 0, max: 20 }) })
    .map(({ keep, more }): Source => ({ token, keep: keep * 100, above: (keep + more) * 100 }));

const sweeps = fc
  .record({
    sources: fc.tuple(source(WETH), source(DAI)),
    min: fc.integer({ min: 1, max: 5 }),
    more: fc.integer({ min: 5, max: 20 }),
    perDay: fc.option(fc.integer({ min: 5, max: 60 }), { nil: undefined }),
    cooldownHours: fc.constantFrom(0, 1, 6),
  })
  .map(
    ({ sources, min, more, perDay, cooldownHours }): Sweep => ({
      ...{ sources, min: min * 100, max: (min + more) * 100, cooldownHours },
      perDay: perDay === undefined ? undefined : perDay * 100,
    }),
  );

const slots = fc.array(
  fc.record({
    hours: fc.constantFrom(1, 1, 2, 6, 24, 30),
    deposits: fc.tuple(fc.integer({ min: -3, max: 40 }), fc.integer({ min: -3, max: 40 })),
    soldPercent: fc.constantFrom(100, 100, 100, 0),
  }),
  { maxLength: 12, size: "max" },
);

it("SWP-1 to SWP-5 a wallet is swept as the page says, read literally", () => {
  fc.assert(
    fc.property(sweeps, slots, (sweep, path: readonly Slot[]) => {
      const spec = specOf(sweep);
      const page = new Literal(sweep);
      const held = new Map<Token, number>();
      let memory: unknown = initialStrategyMemory(spec);
      let hour = 0;
      for (const { hours, deposits, soldPercent } of path) {
        hour += hours;
        for (const [index, { token }] of sweep.sources.entries()) {
          held.set(token, Math.max(0, (held.get(token) ?? 0) + (deposits[index] ?? 0) * 100));
        }
        const nowMs = START_MS + hour * HOUR_MS;
        const seen = view({
          nowMs,
          free: [...held].map(([token, dollars]) => [token, rawOf(token, dollars)]),
          prices: [
            [WETH, "4000"],
            [DAI, "1"],
            [USDC, "1"],
          ],
        });
        const decision = decideStrategy(spec, seen, memory);
        memory = JSON.parse(JSON.stringify(decision.memory));
        const expected = page.decide(hour, held);
        if (page.isOnEdge) return;
        if (decision.outcome.kind !== "swap") {
          const named = decision.outcome.reason === "cooling_down" ? "cooling_down" : "nothing";
          expect(expected).toEqual(named);
          continue;
        }
        const planned = decision.outcome.swaps.map(({ sell, amount }) => ({
          token: sell,
          raw: amount.kind === "fixed" ? amount.raw : -1n,
        }));
        expect(planned.map(({ token, raw }) => [token, dollarsOf(token, raw)])).toEqual(expected);
        const swaps = decision.outcome.swaps.map(({ sell, buy }, position) => {
          const sold = ((planned[position]?.raw ?? 0n) * BigInt(soldPercent)) / 100n;
          held.set(sell, (held.get(sell) ?? 0) - dollarsOf(sell, sold));
          return { position, sell, buy, sold, bought: sold, reason: undefined, signed: false };
        });
        const end = { slotMs: nowMs, nowMs, filled: soldPercent > 0, swaps };
        memory = JSON.parse(JSON.stringify(strategyRunEnded(spec, memory, end).memory));
        const dollars = planned.reduce(
          (sum, { token, raw }) => sum + dollarsOf(token, (raw * BigInt(soldPercent)) / 100n),
          0,
        );
        page.ended(hour, dollars);
      }
    }),
    { numRuns: 1_000 },
  );
});
