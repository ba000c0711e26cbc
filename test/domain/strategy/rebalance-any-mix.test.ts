import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { convertUp, valueDown } from "../../../src/domain/money/price.ts";
import type { Token } from "../../../src/domain/money/token.ts";
import type { PlannedSwap } from "../../../src/domain/strategy/decision.ts";
import { resolvePlannedAmount } from "../../../src/domain/strategy/planned-amount.ts";
import type { RebalanceSpec } from "../../../src/domain/strategy/rebalance.ts";
import { decideStrategy } from "../../../src/domain/strategy/strategy.ts";
import { common, DAI, of, price, USDC, view, WBTC, WETH } from "./world.ts";

type Bands = Partial<RebalanceSpec["bands"]>;

function spec(targets: readonly (readonly [Token, number])[], bands: Bands, min = of(USDC, 50)): RebalanceSpec {
  return {
    ...common,
    kind: "rebalance",
    quote: USDC,
    targets: targets.map(([token, percent]) => ({ token, weight: toPpm(percent * 10_000) })),
    bands: { relative: undefined, absolute: undefined, ...bands },
    trades: { min },
  };
}

const TOKENS = [WETH, WBTC, DAI, USDC] as const;
const anyMix = fc
  .record({
    weights: fc.tuple(...TOKENS.map(() => fc.integer({ min: 1, max: 97 }))),
    quoteInMix: fc.boolean(),
    holdings: fc.tuple(...TOKENS.map(() => fc.integer({ min: 0, max: 1_000_000 }))),
    dollars: fc.tuple(fc.integer({ min: 500, max: 9_000 }), fc.integer({ min: 9_000, max: 200_000 })),
    min: fc.integer({ min: 1, max: 5_000 }),
    shortfall: fc.integer({ min: 0, max: 30_000 }),
  })
  .map((drawn) => ({ ...drawn, tokens: drawn.quoteInMix ? TOKENS : TOKENS.filter((token) => token !== USDC) }));

describe("for any mix", () => {
  it("a rebalance at reference prices brings every weight to its target, and the next one trades nothing", () => {
    fc.assert(
      fc.property(anyMix, (drawn) => {
        const { strategy, free, seenPrices } = scene(drawn);
        const outcome = decideStrategy(strategy, view({ free, prices: seenPrices }), { version: 1 }).outcome;
        if (outcome.kind !== "swap") return;
        const after = perform(outcome.swaps, { free, seenPrices, lossPpm: 0n });
        const again = decideStrategy(strategy, view({ free: [...after], prices: seenPrices }), { version: 1 }).outcome;
        expect(again.kind).toBe("skip");
        const values = strategy.targets.map(({ token }) => worth(token, after.get(token) ?? 0n, seenPrices));
        const total = values.reduce((sum, value) => sum + value, 0n);
        const slack = 10n ** 18n * BigInt(drawn.min + 1) * BigInt(TOKENS.length) + total / 10_000n;
        strategy.targets.forEach(({ weight }, index) => {
          const off = (values[index] ?? 0n) - (total * weight) / 1_000_000n;
          expect(off < 0n ? -off : off).toBeLessThanOrEqual(slack);
        });
      }),
      { numRuns: 300 },
    );
  });

  it("however badly the sells fill, no token is oversold and the quote token stays at its target or at what it had", () => {
    fc.assert(
      fc.property(anyMix, (drawn) => {
        const { strategy, free, seenPrices } = scene(drawn);
        const outcome = decideStrategy(strategy, view({ free, prices: seenPrices }), { version: 1 }).outcome;
        if (outcome.kind !== "swap") return;
        const total = strategy.targets.reduce(
          (sum, { token }) => sum + worth(token, held(free, token), seenPrices),
          0n,
        );
        const quoteTarget = strategy.targets.find(({ token }) => token === USDC);
        const targetRaw = quoteTarget === undefined ? held(free, USDC) : (total * quoteTarget.weight) / 10n ** 18n;
        const before = held(free, USDC);
        const floor = before < targetRaw ? before : targetRaw;
        const after = perform(outcome.swaps, { free, seenPrices, lossPpm: BigInt(drawn.shortfall) });
        for (const raw of after.values()) expect(raw).toBeGreaterThanOrEqual(0n);
        expect((after.get(USDC) ?? 0n) + 1n).toBeGreaterThanOrEqual(floor);
        const buys = outcome.swaps.filter((swap) => swap.sell === USDC);
        expect(outcome.swaps.slice(outcome.swaps.length - buys.length)).toEqual(buys);
      }),
      { numRuns: 300 },
    );
  });
});

interface Drawn {
  weights: readonly number[];
  holdings: readonly number[];
  dollars: readonly [number, number];
  min: number;
  tokens: readonly Token[];
}

function scene(drawn: Drawn) {
  const seenPrices = [
    [WETH, String(drawn.dollars[0])],
    [WBTC, String(drawn.dollars[1])],
    [DAI, "1"],
    [USDC, "1"],
  ] as const;
  const sum = drawn.tokens.reduce((total, _token, index) => total + (drawn.weights[index] ?? 0), 0);
  let rest = 1_000_000;
  const targets = drawn.tokens.map((token, index) => {
    const last = index === drawn.tokens.length - 1;
    const weight = last ? rest : Math.floor(((drawn.weights[index] ?? 0) * 1_000_000) / sum);
    rest -= weight;
    return { token, weight: toPpm(weight) };
  });
  const free = TOKENS.map((token, index) => {
    const dollars = BigInt(drawn.holdings[index] ?? 0) * 10n ** BigInt(token.decimals);
    const [, dollarPrice = "1"] = seenPrices[index] ?? [];
    return [token, dollars / BigInt(dollarPrice)] as const;
  });
  const strategy = { ...spec([], { relative: toPpm(50_000) }, of(USDC, drawn.min)), targets };
  return { strategy, free, seenPrices };
}

function held(free: readonly (readonly [Token, bigint])[], token: Token): bigint {
  return free.find(([candidate]) => candidate === token)?.[1] ?? 0n;
}

function worth(token: Token, raw: bigint, seenPrices: readonly (readonly [Token, string])[]): bigint {
  const dollars = seenPrices.find(([candidate]) => candidate === token)?.[1] ?? "0";
  return valueDown({ raw, decimals: token.decimals }, price(dollars).usd);
}

/** Fills all swaps at reference prices less a loss, in order. */
function perform(
  swaps: readonly PlannedSwap[],
  world: {
    free: readonly (readonly [Token, bigint])[];
    seenPrices: readonly (readonly [Token, string])[];
    lossPpm: bigint;
  },
): Map<Token, bigint> {
  const balances = new Map(world.free);
  const bought: bigint[] = [];
  const usdOf = (token: Token) => price(world.seenPrices.find(([candidate]) => candidate === token)?.[1] ?? "0").usd;
  for (const [position, { sell, buy, amount }] of swaps.entries()) {
    const raw = resolvePlannedAmount(amount, (of) => bought[of] ?? 0n);
    bought[position] = 0n;
    if (raw === undefined) continue;
    const fair = convertUp(
      { raw, decimals: sell.decimals, usd: usdOf(sell) },
      { decimals: buy.decimals, usd: usdOf(buy) },
    );
    const received = (fair * (1_000_000n - world.lossPpm)) / 1_000_000n;
    bought[position] = received;
    balances.set(sell, (balances.get(sell) ?? 0n) - raw);
    balances.set(buy, (balances.get(buy) ?? 0n) + received);
  }
  return balances;
}
