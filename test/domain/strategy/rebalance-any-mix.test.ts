import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ONE_PPM, toPpm } from "../../../src/domain/money/fraction.ts";
import type { Token } from "../../../src/domain/money/token.ts";
import type { Destination } from "../../../src/domain/strategy/rebalance-spec.ts";
import { HOUR, mixSpec, percent, RebalanceLife, target } from "./rebalance-world.ts";
import { DAI, of, USDC, WBTC, WETH } from "./world.ts";

/** Decimals 18, 8, 18 and 6. */
const TOKENS = [WETH, WBTC, DAI, USDC] as const;

const anyMix = fc.record({
  weights: fc.tuple(...TOKENS.map(() => fc.integer({ min: 1, max: 97 }))),
  quoteInMix: fc.boolean(),
  holdings: fc.tuple(...TOKENS.map(() => fc.integer({ min: 0, max: 1_000_000 }))),
  dollars: fc.tuple(fc.integer({ min: 500, max: 9_000 }), fc.integer({ min: 9_000, max: 200_000 })),
  min: fc.integer({ min: 1, max: 5_000 }),
  lossPpm: fc.integer({ min: 0, max: 20_000 }),
  via: fc.constantFrom(undefined, USDC, DAI),
  order: fc.constantFrom("sells-first" as const, "pair-by-pair" as const),
  destination: fc.constantFrom<Destination>(
    { to: "target" },
    { to: "edge", inward: percent(15) },
    { to: "fraction", share: percent(50) },
  ),
  perRun: fc.constantFrom(undefined, percent(5), percent(30)),
});

type Drawn = typeof anyMix extends fc.Arbitrary<infer Value> ? Value : never;

function scene(drawn: Drawn): RebalanceLife {
  const tokens: readonly Token[] = drawn.quoteInMix ? TOKENS : TOKENS.filter((token) => token !== USDC);
  const sum = tokens.reduce((total, _token, index) => total + (drawn.weights[index] ?? 0), 0);
  let rest = Number(ONE_PPM);
  const targets = tokens.map((token, index) => {
    const isLast = index === tokens.length - 1;
    const weight = isLast ? rest : Math.floor(((drawn.weights[index] ?? 0) * 1_000_000) / sum);
    rest -= weight;
    const soft = { relative: percent(10), absolute: undefined };
    return target(token, 0, { weight: toPpm(weight), soft });
  });
  const { min, via, order, destination, perRun } = drawn;
  const trades = { min: of(USDC, min), via, order: via === undefined ? ("sells-first" as const) : order };
  const spec = mixSpec(targets, {
    destination,
    trades: { ...trades, maxTurnover: { perDay: undefined, perRun }, onIncomplete: "retry" },
  });
  const life = new RebalanceLife(spec, []);
  life.prices.set(WETH, String(drawn.dollars[0])).set(WBTC, String(drawn.dollars[1]));
  for (const [index, token] of TOKENS.entries()) {
    const dollars = BigInt(drawn.holdings[index] ?? 0) * 10n ** BigInt(token.decimals);
    life.free.set(token, dollars / BigInt(life.prices.get(token) ?? "1"));
  }
  life.lossPpm = BigInt(drawn.lossPpm);
  return life;
}

/** Lets it trade until it has nothing to do; the number of slots that took. */
function settle(life: RebalanceLife): number {
  for (let slots = 0; slots < 60; slots += 1) {
    if (life.pass(HOUR).slot().kind !== "swap") return slots;
  }
  throw new Error(`it never comes to rest: ${JSON.stringify(life.remembered())}`);
}

const DOLLAR = 10n ** 18n;

describe("for any mix, with any fees", () => {
  it("REB-25 at standing prices it comes to rest, with every weight in its band or off by less than a trade", () => {
    fc.assert(
      fc.property(anyMix, (drawn) => {
        const life = scene(drawn);
        // A share of the mix that is smaller than the smallest trade lets nothing through.
        if (drawn.perRun !== undefined && life.total() * drawn.perRun < BigInt(drawn.min + 1) * DOLLAR * ONE_PPM)
          return;
        settle(life);
        const total = life.total();
        const legs = BigInt(life.spec.targets.length);
        for (const { token, weight, soft } of life.spec.targets) {
          const off = life.value(token) - (total * weight) / ONE_PPM;
          const band = (((total * weight) / ONE_PPM) * (soft?.relative ?? 0n)) / ONE_PPM;
          const halved = drawn.destination.to === "fraction" ? 2n : 1n;
          const slack = BigInt(drawn.min + 1) * DOLLAR * legs * halved;
          expect(off < 0n ? -off : off).toBeLessThanOrEqual(band + slack);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("REB-25 it never oscillates: at standing prices no token is sold and bought again for more than fees have moved it", () => {
    fc.assert(
      fc.property(anyMix, (drawn) => {
        const life = scene(drawn);
        const total = life.total();
        settle(life);
        const lost = total - life.total() + DOLLAR;
        const between = (token: Token): boolean => drawn.via === token;
        for (const { token } of life.spec.targets.filter((one) => !between(one.token))) {
          const sold = life.done.reduce((sum, swap) => (swap.sell === token ? sum + swap.sold : sum), 0n);
          const bought = life.done.reduce((sum, swap) => (swap.buy === token ? sum + swap.bought : sum), 0n);
          expect(life.worth(token, sold < bought ? sold : bought)).toBeLessThanOrEqual(lost);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("REB-25 fees are paid once: what is traded in all is the first drift and what fees made of it, no more", () => {
    fc.assert(
      fc.property(anyMix, (drawn) => {
        const life = scene(drawn);
        const total = life.total();
        const drift = life.spec.targets.reduce((sum, { token, weight }) => {
          const gap = life.value(token) - (total * weight) / ONE_PPM;
          return gap > 0n ? sum + gap : sum;
        }, 0n);
        settle(life);
        const lost = total - life.total();
        const legs = drawn.via === undefined ? 1n : 2n;
        const outside = drawn.via !== undefined && !life.spec.targets.some(({ token }) => token === drawn.via);
        if (!outside) expect(lost).toBeLessThanOrEqual((drift * legs * (life.lossPpm * 11n)) / 10n / ONE_PPM + DOLLAR);
      }),
      { numRuns: 200 },
    );
  });

  it("REB-19 no run turns over more than its share of the mix", () => {
    fc.assert(
      fc.property(anyMix, (drawn) => {
        const life = scene({ ...drawn, perRun: percent(5) });
        for (let slot = 0; slot < 8; slot += 1) {
          const before = life.done.length;
          const total = life.total();
          const wealth = new Map(life.spec.targets.map(({ token }) => [token, life.value(token)]));
          life.pass(HOUR).slot();
          if (life.done.length === before) continue;
          const sold = life.spec.targets.reduce((sum, { token }) => {
            const fell = (wealth.get(token) ?? 0n) - life.value(token);
            return fell > 0n ? sum + fell : sum;
          }, 0n);
          expect(sold).toBeLessThanOrEqual((total * percent(5)) / ONE_PPM + DOLLAR / 100n);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("REB-26 however badly swaps fill or fail, no token is oversold, and what is outside the mix is left alone", () => {
    const failing = fc.array(fc.boolean(), { minLength: 40, maxLength: 40 });
    fc.assert(
      fc.property(anyMix, failing, (drawn, fails) => {
        const life = scene({ ...drawn, quoteInMix: false, via: drawn.via === undefined ? undefined : USDC });
        const before = life.free.get(USDC) ?? 0n;
        let count = 0;
        life.fails = () => (fails[count++ % fails.length] === true ? "quote_refused" : undefined);
        for (let slot = 0; slot < 12; slot += 1) life.pass(HOUR).slot();
        for (const raw of life.free.values()) expect(raw).toBeGreaterThanOrEqual(0n);
        expect(life.free.get(USDC)).toBeGreaterThanOrEqual(before);
      }),
      { numRuns: 300 },
    );
  });
});
