import { expect, test } from "vitest";
import { toPpm } from "../../src/domain/money/fraction.ts";
import { isSwapEnd } from "../../src/domain/run/states.ts";
import { HUNDRED_USDC, POOL, SLOT_MS, USDC } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turnUntil } from "../support/engine-life.ts";
import { topicOf } from "../support/evidence.ts";

const START_MS = SLOT_MS - 1_500;
const MINUTE_MS = 60_000;

/** The gas of a swap is too much for 100 USDC, and not too much for 200. */
function createCostlyOutside(): Outside {
  const { limits } = createOutside(START_MS).spec;
  return createOutside(START_MS, {
    ...{ limits: { ...limits, maxFee: toPpm(2_000) }, retryForSeconds: 10 },
    ...{ budget: { total: 2n * HUNDRED_USDC }, carry: { maxMultiple: toPpm(3_000_000) } },
  });
}

const runsOf = ({ db, store }: Life) =>
  db
    .prepare<[], string>("SELECT id FROM runs ORDER BY slot_ms")
    .pluck()
    .all()
    .flatMap((id) => store.run(id) ?? []);

function hasCompleted(life: Life): boolean {
  const open = runsOf(life).some((run) => run.swaps.some(({ state }) => !isSwapEnd(state)));
  return life.store.mode(life.context.settings.strategies[0]?.spec.id ?? "") !== undefined && !open;
}

async function liveOn(outside: Outside, killAt?: (label: string, passed: readonly string[]) => boolean): Promise<Life> {
  const life = openLife(outside, killAt === undefined ? {} : { killAt });
  await life.engine.start();
  await turnUntil(outside, life, { maxSeconds: 150, isDone: () => hasCompleted(life) });
  expect(life.errors).toEqual([]);
  return life;
}

function outflows({ chain }: Outside): readonly bigint[] {
  const sent = chain.receipts().flatMap(({ logs }) => logs);
  return sent
    .filter(
      ({ address, topics }) =>
        address === USDC.address && topics[1] === topicOf(ACCOUNT) && topics[2] === topicOf(POOL),
    )
    .map(({ data }) => BigInt(data));
}

function expectOneOrderOfTwoSlots(outside: Outside, life: Life): void {
  expect(outflows(outside)).toEqual([2n * HUNDRED_USDC]);
  expect(runsOf(life).map(({ slotMs, state, reason }) => [slotMs - SLOT_MS, state, reason])).toEqual([
    [0, "skipped", "FEE_CAP_EXCEEDED"],
    [MINUTE_MS, "filled", undefined],
  ]);
  const { id } = outside.spec;
  expect(life.store.mode(id)).toMatchObject({
    mode: "paused",
    setBy: "strategy",
    reason: "completed: spent 200 USDC of 200 USDC",
  });
  expect(JSON.parse(life.store.strategy(id)?.memory ?? "")).toEqual({ version: 1, runs: 1, carry: {} });
}

test("DCA-18 waits until the fees fit, sells both slots' amounts in one swap, and completes with one notice", async () => {
  const outside = createCostlyOutside();
  const life = await liveOn(outside);
  expectOneOrderOfTwoSlots(outside, life);
  expect(outside.told.filter(({ code }) => code === "strategy_completed")).toHaveLength(1);
  // Its slots are let pass until a person resumes it.
  await turnUntil(outside, life, { maxSeconds: 70, isDone: () => false });
  expect(runsOf(life)).toHaveLength(2);
});

test("DCA-18 carries an amount once and sells it once, wherever the process is killed", {
  timeout: 120_000,
}, async () => {
  const { passed } = await liveOn(createCostlyOutside());
  expect(passed.length).toBeGreaterThan(20);
  for (const [index, label] of passed.entries()) {
    // Each kind of commit once, and every decision.
    const isLast = passed.lastIndexOf(label) === index && label.endsWith(".after");
    if (!label.startsWith("commit.view-read.") && !isLast) continue;
    const outside = createCostlyOutside();
    const killed = await liveOn(outside, (_label, places) => places.length === index + 1);
    expect([killed.isDead(), killed.passed.at(-1)], `place ${index}`).toEqual([true, label]);
    killed.db.close();
    expectOneOrderOfTwoSlots(outside, await liveOn(outside));
  }
});
