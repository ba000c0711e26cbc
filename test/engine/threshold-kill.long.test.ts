import { expect, test } from "vitest";
import { toPpm } from "../../src/domain/money/fraction.ts";
import { isSwapEnd } from "../../src/domain/run/states.ts";
import { pairPriceOf } from "../../src/domain/strategy/pair-price.ts";
import type { ThresholdLeg } from "../../src/domain/strategy/threshold-spec.ts";
import { POOL, priceOf, SLOT_MS, thresholdLeg, thresholdSpec, USDC, usd, WETH } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turnUntil } from "../support/engine-life.ts";
import { topicOf } from "../support/reading-samples.ts";

const START_MS = SLOT_MS - 1_500;
const MINUTE_MS = 60_000;
const ALLOCATION = 3n * 10n ** 18n;

const leg = (id: string, side: "above" | "below", dollars: bigint): ThresholdLeg =>
  thresholdLeg({
    ...{ id, ifAlreadyTrue: "wait", amount: { share: toPpm(500_000) }, floor: { steps: [toPpm(30_000)] } },
    ...{ trigger: { kind: "cross", side, price: pairPriceOf(dollars * 1_000_000n, USDC) } },
  });

/** A ladder of two levels over the whole allocation of 3 WETH, with a stop alongside it. */
function createLadder(): Outside {
  const levels = [leg("first", "above", 1_004n), leg("second", "above", 1_008n)];
  return createOutside(START_MS, {
    ...thresholdSpec({
      ...{ id: "ladder", allocation: "free", retryForSeconds: 20, maxGapSeconds: 180 },
      legs: [leg("stop", "below", 990n), ...levels.map((level) => ({ ...level, role: "level" as const }))],
    }),
    ...{ wallet: { name: "main", address: ACCOUNT }, recipient: ACCOUNT },
  });
}

/** Dollars for an ether: a baseline, then one level a minute, then a fall through the stop. */
function dollarsAt(nowMs: number): string {
  const minute = Math.floor((nowMs - SLOT_MS) / MINUTE_MS);
  return ["1000", "1005", "1009"][Math.max(0, minute)] ?? "985";
}

const runsOf = ({ db, store }: Life) =>
  db
    .prepare<[], string>("SELECT id FROM runs ORDER BY slot_ms")
    .pluck()
    .all()
    .flatMap((id) => store.run(id) ?? []);

function hasCompleted(life: Life): boolean {
  const open = runsOf(life).some((run) => run.swaps.some(({ state }) => !isSwapEnd(state)));
  return life.store.mode("ladder") !== undefined && !open;
}

async function liveOn(outside: Outside, killAt?: (label: string, passed: readonly string[]) => boolean): Promise<Life> {
  const life = openLife(outside, killAt === undefined ? {} : { killAt });
  Object.assign(life.context.deps.prices, {
    price: async (token: typeof WETH) => {
      const nowMs = outside.clock.nowMs();
      const sample = { ...priceOf(token), atSeconds: nowMs / 1_000 };
      return token.address === WETH.address ? { ...sample, usd: usd(dollarsAt(nowMs)) } : sample;
    },
  });
  await life.engine.start();
  await turnUntil(outside, life, { maxSeconds: 400, isDone: () => hasCompleted(life) });
  expect(life.errors).toEqual([]);
  return life;
}

function outflows({ chain }: Outside): readonly bigint[] {
  const sent = chain.receipts().flatMap(({ logs }) => logs);
  return sent
    .filter(
      ({ address, topics }) =>
        address === WETH.address && topics[1] === topicOf(ACCOUNT) && topics[2] === topicOf(POOL),
    )
    .map(({ data }) => BigInt(data));
}

function expectBagSoldOnce(outside: Outside, life: Life, what: string): void {
  expect(outflows(outside), what).toEqual([ALLOCATION / 2n, ALLOCATION / 2n]);
  const memory: unknown = JSON.parse(life.store.strategy("ladder")?.memory ?? "");
  expect(memory, what).toMatchObject({
    sold: ALLOCATION.toString(),
    legs: { stop: { at: { state: "cancelled" } }, first: { fills: 1 }, second: { fills: 1 } },
  });
  expect(life.store.mode("ladder"), what).toMatchObject({ mode: "paused", setBy: "strategy" });
}

test("THR-17 a ladder sells its allocation once, level by level, wherever the process is killed", {
  timeout: 240_000,
}, async () => {
  const whole = createLadder();
  const first = await liveOn(whole);
  expectBagSoldOnce(whole, first, "not killed");
  // each kind of commit and of effect once, and every decision
  const places = [...first.passed.entries()].filter(
    ([index, label]) =>
      label.startsWith("commit.view-read.") || (label.endsWith(".after") && first.passed.indexOf(label) === index),
  );
  expect(places.length).toBeGreaterThan(5);
  for (const [index, label] of places) {
    const outside = createLadder();
    const killed = await liveOn(outside, (_label, passed) => passed.length === index + 1);
    expect([killed.isDead(), killed.passed.at(-1)]).toEqual([true, label]);
    killed.db.close();
    expectBagSoldOnce(outside, await liveOn(outside), label);
  }
});
