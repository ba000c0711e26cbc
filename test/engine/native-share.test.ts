import { describe, expect, test } from "vitest";
import { ONE_PPM, toPpm } from "../../src/domain/money/fraction.ts";
import { pairPriceOf } from "../../src/domain/strategy/pair-price.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import type { SweepSpec } from "../../src/domain/strategy/sweep.ts";
import { dcaSpec, ETH, policySample, SLOT_MS, thresholdLeg, thresholdSpec, USDC, usd } from "../support/builders.ts";
import { ACCOUNT, createOutside, openLife, turn } from "../support/engine-life.ts";

const ETHER = 10n ** 18n;
const RESERVE = ETHER / 100n;

/** Ten minutes of a strategy that sells coins, in a wallet with one ether, or as many. @returns its final sales, and what is left of the ether */
async function sell(change: StrategySpec, coins = ETHER) {
  const outside = createOutside(SLOT_MS - 1_500);
  const { ledger } = outside.chain;
  ledger.credit(ETH.address, ACCOUNT, coins - ledger.balance(ETH.address, ACCOUNT));
  // The chain of this test takes coins as it takes tokens, and its service names no value.
  ledger.setAllowance(ETH.address, ACCOUNT, 10n ** 30n);
  const propose = outside.service.transaction.bind(outside.service);
  outside.service.transaction = async (id) => {
    const proposed = await propose(id);
    return "kind" in proposed ? proposed : { ...proposed, value: outside.service.requests.at(-1)?.amount ?? 0n };
  };
  const { wallet, recipient } = outside.spec;
  const ceilings = { maxTradeUsd: usd("5000"), maxPerDayUsd: usd("50000") };
  const policy = policySample({ recipients: [ACCOUNT], gasReserve: RESERVE, ...ceilings });
  const strategies = [{ spec: { ...change, wallet, recipient } as StrategySpec, specHash: "x" }];
  const life = openLife(outside, {
    settings: { policy: { ...policy, tokens: [...policy.tokens, ETH.address] }, strategies },
  });
  await life.engine.start();
  await turn(outside, life, 600);
  const sold = life.db.prepare<[], string>("SELECT amount_in FROM swaps WHERE state = 'final'").pluck().all();
  return { sold: sold.map(BigInt), left: ledger.balance(ETH.address, ACCOUNT) };
}

describe("what sells all that is free of the native coin leaves the gas of its swap, and the gas reserve", () => {
  test("a stop", async () => {
    const trigger = { kind: "cross", side: "below", price: pairPriceOf(1_001_000_000n, USDC) } as const;
    const leg = thresholdLeg({ trigger, amount: { share: ONE_PPM }, ifAlreadyTrue: "fire" });
    const { sold, left } = await sell(
      thresholdSpec({ id: "stop", sell: ETH, buy: USDC, watch: ETH, quote: USDC, legs: [leg] }),
    );
    expect(sold).toHaveLength(1);
    expect(left).toBeGreaterThanOrEqual(RESERVE);
  });

  test("a dca", async () => {
    const { sold, left } = await sell(dcaSpec({ id: "all", sell: { token: ETH, share: ONE_PPM }, buy: USDC }));
    expect(sold.length).toBeGreaterThan(0);
    expect(left).toBeGreaterThanOrEqual(RESERVE);
  });

  test("a sweep", async () => {
    const { schedule: _, ...common } = dcaSpec({ id: "sweep" });
    const sweep: SweepSpec = {
      ...common,
      kind: "sweep",
      schedule: { kind: "every", seconds: 60 },
      from: [{ token: ETH, keep: 0n, above: { usd: usd("500") } }],
      to: USDC,
      refill: undefined,
      lot: { min: usd("10"), max: usd("4500") },
      maxPerDay: undefined,
      cooldownSeconds: 60,
      exit: true,
    };
    const { sold, left } = await sell(sweep);
    expect(sold.length).toBeGreaterThan(0);
    expect(left).toBeGreaterThanOrEqual(RESERVE);
  });
});

test("a share of half of it is half of all that is free", async () => {
  const { sold } = await sell(dcaSpec({ id: "half", sell: { token: ETH, share: toPpm(500_000) }, buy: USDC }));
  expect(sold[0]).toBe((ETHER - RESERVE) / 2n);
});

test("a few coins are sold too: the gas that might be dear keeps no more of them than max_fee lets it cost", async () => {
  const coins = RESERVE + ETHER / 20n;
  const dear = { ...dcaSpec().limits, maxFeePerGas: 10n ** 12n, maxFee: toPpm(50_000) };
  const half = await sell(
    { ...dcaSpec({ id: "half", sell: { token: ETH, share: toPpm(500_000) }, buy: USDC }), limits: dear },
    coins,
  );
  expect(half.sold[0]).toBe(ETHER / 40n);
  const all = await sell(
    { ...dcaSpec({ id: "all", sell: { token: ETH, share: ONE_PPM }, buy: USDC }), limits: dear },
    coins,
  );
  expect(all.sold[0]).toBe(((ETHER / 20n) * 95n) / 100n);
});
