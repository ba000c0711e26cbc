import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Token } from "../../src/domain/money/token.ts";
import { isRunEnd, isSwapEnd } from "../../src/domain/run/states.ts";
import type { RebalanceSpec } from "../../src/domain/strategy/rebalance-spec.ts";
import { CRASH_LABELS } from "../e2e/kill/crash-labels.ts";
import { rebalanceSpec, SLOT_MS, USDC, WBTC, WETH } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turnUntil } from "../support/engine-life.ts";
import { refusal } from "../support/fake-service.ts";
import { expectInBands, mixMemory, runsOf } from "../support/mix-life.ts";
import { leftForPools } from "../support/rows-add-up.ts";

const START_MS = SLOT_MS - 1_500;
const wallet = { name: "main", address: ACCOUNT };
const every = {
  schedule: { kind: "every", seconds: 120 },
  retryForSeconds: 90,
  wallet,
  recipient: ACCOUNT,
} as const;

/** 3000 dollars of ether and 1000 USDC, of which two fifths each shall be ether and bitcoin. */
function outsideOf(via: Token | undefined, change: Partial<RebalanceSpec> = {}): Outside {
  const spec = rebalanceSpec();
  return createOutside(START_MS, {
    ...spec,
    ...every,
    trades: { ...spec.trades, via, legTimeoutSeconds: 60 },
    ...change,
  });
}

/** The first run, and whatever the slots after it began, has come to its end, and nothing is left to be done. */
function isSettled(life: Life): boolean {
  const runs = runsOf(life);
  const isOver = runs.every((run) => isRunEnd(run.state) && run.swaps.every((swap) => isSwapEnd(swap.state)));
  return runs.length > 0 && isOver && life.store.nextEffectMs() === undefined;
}

/** Where something was just written down or submitted: a kill before the next one is a kill right behind this one. */
function placesOf(life: Life): readonly { index: number; label: string }[] {
  return life.passed.map((label, index) => ({ index, label })).filter(({ label }) => label.endsWith(".after"));
}

type KillAt = (label: string, passed: readonly string[]) => boolean;

async function liveOn(
  outside: Outside,
  options: { killAt?: KillAt; isDone?: (life: Life) => boolean } = {},
): Promise<Life> {
  const life = openLife(outside, options.killAt === undefined ? {} : { killAt: options.killAt });
  await life.engine.start();
  const isDone = (): boolean => (options.isDone ?? isSettled)(life);
  await turnUntil(outside, life, { maxSeconds: 300, isDone });
  expect(life.errors).toEqual([]);
  return life;
}

function soldOnChain(outside: Outside, token: Token): readonly bigint[] {
  return leftForPools(outside).flatMap((left) => (left.token === token.address ? [left.amount] : []));
}

function expectBalanced(outside: Outside, life: Life): void {
  expect(isSettled(life), JSON.stringify(runsOf(life).map(({ state, reason }) => [state, reason]))).toBe(true);
  const [first, ...later] = runsOf(life);
  expect(first?.state).toBe("filled");
  for (const run of later) expect([run.state, run.reason]).toEqual(["skipped", "within_bands"]);
  expect(soldOnChain(outside, WETH)).toEqual([14n * 10n ** 17n]);
  expect(soldOnChain(outside, USDC)).toHaveLength(1);
  expectInBands(outside, "at the end");
  expect(mixMemory(life)).toMatchObject({ doneMs: expect.any(Number) });
  expect(mixMemory(life).owed).toEqual({});
  expect(life.db.prepare("SELECT count(*) FROM ledger WHERE state = 'reserved'").pluck().get()).toBe(0);
}

describe("a mix of three tokens sells nothing twice and ends in its bands, killed", () => {
  test("at every named place, each time that it is passed, while it is rebalanced over a token", {
    timeout: 240_000,
  }, async () => {
    const whole = outsideOf(USDC);
    const first = await liveOn(whole);
    expectBalanced(whole, first);
    expect(first.passed).toEqual(
      expect.arrayContaining([
        ...CRASH_LABELS.decision,
        ...CRASH_LABELS.lane,
        "commit.transaction.before",
        "commit.transaction.after",
      ]),
    );
    for (const [index, label] of first.passed.entries()) {
      const outside = outsideOf(USDC);
      const killed = await liveOn(outside, { killAt: (_label, passed) => passed.length === index + 1 });
      expect([killed.isDead(), killed.passed.at(-1)], `place ${index}`).toEqual([true, label]);
      killed.db.close();
      expectBalanced(outside, await liveOn(outside));
    }
  });

  test.each([
    ["directly", undefined],
    ["over a token", USDC],
  ] as const)("again and again while it recovers, rebalanced %s", { timeout: 120_000 }, async (_name, via) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(20), { minLength: 2, maxLength: 8 }), async (kills) => {
        const outside = outsideOf(via);
        for (const after of kills) {
          const killed = await liveOn(outside, { killAt: (_label, passed) => passed.length === after + 1 });
          killed.db.close();
        }
        expectBalanced(outside, await liveOn(outside));
      }),
      { numRuns: 4 },
    );
  });
});

describe("REB-21 a sell whose buy finds no quote", () => {
  const isHeld = (life: Life): boolean => isSettled(life) && life.store.mode("mix")?.mode === "paused";

  function withoutBitcoin(outside: Outside): { heal(): void } {
    const quote = outside.service.quote.bind(outside.service);
    let isHealed = false;
    outside.service.quote = async (request) =>
      request.buy.address === WBTC.address && !isHealed ? refusal("NO_ROUTE", false) : await quote(request);
    return {
      heal: () => {
        isHealed = true;
      },
    };
  }

  async function expectHeldAndResumed(outside: Outside, life: Life, heal: () => void): Promise<void> {
    expect(isHeld(life), JSON.stringify(runsOf(life).map(({ state, reason }) => [state, reason]))).toBe(true);
    expect(runsOf(life)).toMatchObject([{ state: "partial", reason: "quote_refused" }]);
    expect(life.store.mode("mix")?.reason).toContain("that sells brought wait for buys that did not happen: WBTC");
    expect([soldOnChain(outside, WETH), soldOnChain(outside, USDC)]).toEqual([[14n * 10n ** 17n], []]);
    heal();
    life.store.setMode({ scope: "mix", mode: "active", setBy: "ops", reason: "go on", atMs: outside.clock.nowMs() });
    const isBought = (): boolean => isSettled(life) && runsOf(life).length > 1;
    await turnUntil(outside, life, { maxSeconds: 300, isDone: isBought });
    expect(runsOf(life)[1]).toMatchObject({ state: "filled", swaps: [{ sell: USDC, buy: WBTC }] });
    expect(soldOnChain(outside, WETH)).toEqual([14n * 10n ** 17n]);
    expect(mixMemory(life).owed).toEqual({});
  }

  test("stops the strategy wherever it is killed, and a resume buys and sells nothing again", {
    timeout: 240_000,
  }, async () => {
    const whole = outsideOf(USDC);
    const { heal } = withoutBitcoin(whole);
    const first = await liveOn(whole, { isDone: isHeld });
    const places = placesOf(first);
    await expectHeldAndResumed(whole, first, heal);
    for (const { index } of places) {
      const outside = outsideOf(USDC);
      const market = withoutBitcoin(outside);
      const killed = await liveOn(outside, { killAt: (_label, soFar) => soFar.length === index + 1, isDone: isHeld });
      killed.db.close();
      await expectHeldAndResumed(outside, await liveOn(outside, { isDone: isHeld }), market.heal);
    }
  });
});
