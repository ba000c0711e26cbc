import { expect, test } from "vitest";
import { toPpm } from "../../src/domain/money/fraction.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { dcaSpec, GWEI, policySample, SLOT_MS, USDC, usd, WETH } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turn } from "../support/engine-life.ts";
import { refusal } from "../support/fake-service.ts";

const TENTH = 10n ** 17n;

/** The owner's largest trade: one and a half times what each of these strategies trades at a slot. */
const maxTradeUsd = usd("150");

interface World {
  readonly outside: Outside;
  readonly life: Life;
}

/** The daemon with one strategy, as the configuration makes it under the owner's policy. */
async function live(change: object, policy: Parameters<typeof policySample>[0] = { maxTradeUsd }): Promise<World> {
  const outside = createOutside(SLOT_MS - 1_500);
  const { wallet, recipient } = outside.spec;
  const spec = { ...dcaSpec(), maxTradeUsd, ...change, wallet, recipient } as StrategySpec;
  const settings = {
    policy: policySample({ recipients: [ACCOUNT], ...policy }),
    strategies: [{ spec, specHash: "x" }],
  };
  const life = openLife(outside, { settings });
  await life.engine.start();
  return { outside, life };
}

/** Sells 2 WETH in 20 slices of 100 dollars, one a minute; at most two slices at once, which is the default. */
function exit(change: object = {}): object {
  const { buy: _buy, ...common } = dcaSpec({ id: "exit" });
  return {
    ...{ ...common, kind: "twap", sell: { token: WETH, raw: 20n * TENTH }, buy: USDC, exit: true },
    ...{ startMs: SLOT_MS, slices: 20, everySeconds: 60, spread: toPpm(0), retryForSeconds: 20 },
    slice: { unfilled: "roll", min: TENTH / 2n, max: 2n * TENTH },
    limit: { floor: undefined, abort: undefined },
    ...change,
  };
}

/** For so many turns the service has no route. */
async function withoutRoute({ outside, life }: World, turns: number): Promise<void> {
  outside.service.refuses = refusal("NO_ROUTE", false);
  await turn(outside, life, turns);
  outside.service.refuses = undefined;
}

const left = ({ outside }: World): bigint => outside.chain.ledger.balance(WETH.address, ACCOUNT) - 10n * TENTH;

/** What each swap sold, in their order. */
function sold({ life }: World): readonly unknown[] {
  return life.db.prepare("SELECT amount_in FROM swaps WHERE state = 'final' ORDER BY rowid").pluck().all();
}

function swaps({ life }: World): unknown {
  const query = "SELECT state, reason, count(*) AS n FROM swaps GROUP BY state, reason ORDER BY n DESC";
  return life.db.prepare<[], { state: string; reason: string | null; n: number }>(query).all();
}

test("TWAP-4 a slice that was not sold does not make all later ones more than max_trade lets through", async () => {
  const world = await live(exit({ maxTradeUsd }));
  await withoutRoute(world, 50);
  await turn(world.outside, world.life, 1_300);
  expect(left(world)).toBe(0n);
  expect(swaps(world)).toEqual([expect.objectContaining({ state: "final" }), expect.objectContaining({ n: 1 })]);
});

test("TWAP-4 a pool that takes one slice at a time is not offered two for the rest of the plan", async () => {
  const world = await live(exit({ maxTradeUsd: usd("10000") }), {});
  const { service } = world.outside;
  // 0.8 % for a slice, allowed is 1 %
  const quote = service.quote.bind(service);
  service.quote = async (request) => {
    const answer = await quote(request);
    return "kind" in answer ? answer : { ...answer, priceImpact: toPpm((request.amount * 8_000n) / TENTH) };
  };
  await withoutRoute(world, 50);
  await turn(world.outside, world.life, 1_300);
  expect(left(world)).toBe(2n * TENTH);
  expect(swaps(world)).toEqual([
    { state: "final", reason: null, n: 18 },
    expect.objectContaining({ n: 1 }),
    expect.objectContaining({ n: 1 }),
  ]);
  expect(world.outside.reported.map(({ text }) => text).join()).toContain("0.2 WETH are left unsold");
});

test("DCA-18 what dear gas kept from being sold does not keep everything from being sold afterwards", async () => {
  const maxFeePerGas = 1_000n * GWEI;
  const limits = { ...dcaSpec().limits, maxFeePerGas };
  const world = await live(
    { limits, carry: { maxMultiple: toPpm(4_000_000) }, retryForSeconds: 5 },
    { maxTradeUsd, maxFeePerGas },
  );
  const { outside, life } = world;
  const usual = outside.chain.baseFee;
  outside.chain.baseFee = 40n * GWEI;
  await turn(outside, life, 100);
  outside.chain.baseFee = usual;
  await turn(outside, life, 420);
  expect(sold(world).slice(0, 5)).toEqual(["142500000", "142500000", "142500000", "142500000", "130000000"]);
  expect(life.errors).toEqual([]);
});

test("DCA-15 in a dip at least as much is bought as without one", async () => {
  const dips = {
    of: WETH,
    reference: { kind: "high", seconds: 3_600 },
    tiers: [{ drop: toPpm(100_000), multiplier: toPpm(2_000_000) }],
    maxMultiplier: undefined,
  } as const;
  const world = await live({ dips });
  world.life.store.addPriceSample(WETH.address, SLOT_MS - 1_000, usd("1200"));
  await turn(world.outside, world.life, 240);
  expect(sold(world).slice(0, 3)).toEqual(["142500000", "142500000", "142500000"]);
});

test("VAL-6 the path makes up for missed slots by what max_trade lets through at once", async () => {
  const { sell: _sell, buy: _buy, ...common } = dcaSpec({ id: "path" });
  const world = await live({
    ...{ ...common, kind: "value-averaging", sell: undefined, pay: USDC, buy: WETH, retryForSeconds: 20 },
    ...{ path: { step: 50_000_000n, growth: toPpm(0) }, maxContribution: 200_000_000n, min: 10_000_000n },
    ...{ allowSell: false, startMs: undefined, onInsufficient: "skip" },
  });
  await turn(world.outside, world.life, 110);
  await withoutRoute(world, 240);
  await turn(world.outside, world.life, 400);
  expect(sold(world).length).toBeGreaterThan(5);
  expect(sold(world).slice(2, 4)).toEqual(["142500000", "142500000"]);
  expect(world.outside.reported.map(({ code }) => code)).not.toContain("STRATEGY_EXITS_ONLY");
});
