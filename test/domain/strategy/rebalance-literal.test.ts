import fc from "fast-check";
import { expect, it } from "vitest";
import type { Token } from "../../../src/domain/money/token.ts";
import { mixSpec, percent, RebalanceLife, RULES, target } from "./rebalance-world.ts";
import { DAI, USDC, WBTC, WETH } from "./world.ts";

/** One token of a mix as the page speaks of it: weights and bands in hundredths of a per cent, money in cents. */
interface Part {
  readonly token: Token;
  readonly weight: number;
  readonly cents: number;
  readonly absolute: number | undefined;
  readonly relative: number | undefined;
  readonly exit: boolean;
}

interface Rules {
  readonly trigger: "any" | "all";
  readonly minCents: number;
  readonly cashCents: number;
  readonly shareOfTheWay: number;
}

const CENTS = new Map<Token, number>([
  [WETH, 300_000],
  [WBTC, 6_000_000],
  [DAI, 100],
  [USDC, 100],
]);
const WHOLE = 10_000;

type Literal = { readonly skip: string } | { readonly swaps: readonly (readonly [Token, Token, number])[] };

/** REB-4, 5, 6, 8, 9, 12, 14 and 15 read literally, in whole numbers: a drift is weighed as (value x whole - weight x total). */
function literal(parts: readonly Part[], rules: Rules): Literal {
  const held = parts.map((part) => ({
    ...part,
    cents: part.token === USDC ? part.cents - rules.cashCents : part.cents,
  }));
  if (held.every(({ cents }) => cents <= 0)) return { skip: "insufficient_balance" };
  const total = Math.max(
    held.reduce((sum, { cents }) => sum + cents, 0),
    0,
  );
  const drifts = held.map((part) => ({ ...part, drift: part.cents * WHOLE - part.weight * total }));
  const isOut = ({ drift, weight, absolute, relative, exit, cents }: (typeof drifts)[number]): boolean => {
    if (exit) return cents >= rules.minCents;
    const broken = [
      ...(absolute === undefined ? [] : [Math.abs(drift) > absolute * total]),
      ...(relative === undefined ? [] : [Math.abs(drift) * WHOLE > relative * weight * total]),
    ];
    return rules.trigger === "any" ? broken.includes(true) : !broken.includes(false);
  };
  if (!drifts.some(isOut)) return { skip: "within_bands" };
  const open = drifts.map(({ token, drift }) => ({ token, left: (drift / WHOLE) * rules.shareOfTheWay }));
  const swaps: (readonly [Token, Token, number])[] = [];
  for (;;) {
    const [over] = [...open].sort((one, other) => other.left - one.left);
    const [under] = [...open].sort((one, other) => one.left - other.left);
    if (over === undefined || under === undefined) break;
    const cents = Math.min(over.left, -under.left);
    if (cents <= 0 || cents < rules.minCents) break;
    swaps.push([over.token, under.token, cents]);
    over.left -= cents;
    under.left += cents;
  }
  return swaps.length === 0 ? { skip: "below_minimum_trade" } : { swaps };
}

function decided(parts: readonly Part[], rules: Rules): Literal {
  const targets = parts.map(({ token, weight, absolute, relative, exit }) => {
    const soft = {
      absolute: absolute === undefined ? undefined : percent(absolute / 100),
      relative: relative === undefined ? undefined : percent(relative / 100),
    };
    return target(token, weight / 100, { soft, exit });
  });
  const cash = rules.cashCents === 0 ? undefined : { token: USDC, min: BigInt(rules.cashCents) * 10_000n };
  const destination =
    rules.shareOfTheWay === 1
      ? ({ to: "target" } as const)
      : ({ to: "fraction", share: percent(rules.shareOfTheWay * 100) } as const);
  const spec = mixSpec(targets, {
    ...{ bands: { ...RULES, trigger: rules.trigger }, cash, destination },
    trades: { min: BigInt(rules.minCents) * 10_000n },
  });
  const free = parts.map(({ token, cents }) => [token, amountOf(token, cents)] as const);
  const outcome = new RebalanceLife(spec, free).decide();
  if (outcome.kind !== "swap") return { skip: outcome.reason };
  const swaps = outcome.swaps.map(({ sell, buy, amount }) => {
    const raw = amount.kind === "fixed" ? amount.raw : -1n;
    return [sell, buy, (Number(raw) / 10 ** sell.decimals) * (CENTS.get(sell) ?? 0)] as const;
  });
  return { swaps };
}

/** So much of a token is worth so many cents, as decimal text. */
function amountOf(token: Token, cents: number): string {
  const raw = (BigInt(cents) * 10n ** BigInt(token.decimals)) / BigInt(CENTS.get(token) ?? 1);
  const digits = raw.toString().padStart(token.decimals + 1, "0");
  return `${digits.slice(0, -token.decimals)}.${digits.slice(-token.decimals)}`;
}

const band = fc
  .record({
    absolute: fc.option(fc.integer({ min: 10, max: 2_000 }), { nil: undefined }),
    relative: fc.option(fc.integer({ min: 100, max: 8_000 }), { nil: undefined }),
  })
  .filter(({ absolute, relative }) => absolute !== undefined || relative !== undefined);

/** Prices divide no amount: a token of six hundred or six million cents is held in thousands of them. */
const holding = fc.integer({ min: 0, max: 4_000 }).map((hundreds) => hundreds * 30_000);

const mix = fc
  .tuple(
    fc.subarray([WETH, WBTC, DAI], { minLength: 1 }),
    fc.array(
      fc.record({
        share: fc.integer({ min: 1, max: 20 }),
        cents: holding,
        exit: fc.constantFrom(false, false, false, true),
        band,
      }),
      {
        minLength: 4,
        maxLength: 4,
      },
    ),
  )
  .map(([others, drawn]): Part[] => {
    const chosen = others.map((token, index) => ({ token, ...(drawn[index] as (typeof drawn)[number]) }));
    const parts = chosen.map(({ token, share, cents, exit, band: { absolute, relative } }) => ({
      ...{ token, cents, exit, absolute, relative },
      weight: exit ? 0 : share * 100,
    }));
    const last = drawn[3] as (typeof drawn)[number];
    const rest = WHOLE - parts.reduce((sum, { weight }) => sum + weight, 0);
    return [...parts, { token: USDC, cents: last.cents, exit: false, ...last.band, weight: rest }];
  })
  .filter((parts) => parts.reduce((sum, { cents }) => sum + cents, 0) > 10_000_000);

const rules = fc.record({
  trigger: fc.constantFrom("any" as const, "all" as const),
  minCents: fc.integer({ min: 1, max: 2_000 }).map((dollars) => dollars * 100),
  cashCents: fc.constantFrom(0, 0, 200_000, 5_000_000, 300_000_000),
  shareOfTheWay: fc.constantFrom(1, 1, 0.5, 0.25),
});

const named = (found: Literal): unknown =>
  "skip" in found ? found.skip : found.swaps.map(([sell, buy]) => `${sell.symbol} to ${buy.symbol}`);

it("REB-4, 5, 6, 8, 9, 12, 14, 15 a mix is traded as its page says, read literally", () => {
  fc.assert(
    fc.property(mix, rules, (parts, drawnRules) => {
      // The page does not say who takes what an exit brings beyond a share of the way, nor who pays for cash beyond it.
      const isWhole = parts.some(({ exit }) => exit) || drawnRules.cashCents > 10_000_000;
      const drawn = isWhole ? { ...drawnRules, shareOfTheWay: 1 } : drawnRules;
      const [page, code] = [literal(parts, drawn), decided(parts, drawn)];
      expect(named(code)).toEqual(named(page));
      if ("skip" in page || "skip" in code) return;
      for (const [index, [, , cents]] of page.swaps.entries()) {
        // Amounts are rounded down, to the token's smallest unit at its price.
        expect(Math.abs((code.swaps[index]?.[2] ?? 0) - cents)).toBeLessThan(1);
      }
    }),
    { numRuns: 2_000 },
  );
});
