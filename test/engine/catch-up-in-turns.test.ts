import { expect, test } from "vitest";
import { toAddress } from "../../src/domain/money/address.ts";
import type { EngineDeps } from "../../src/engine/engine-context.ts";
import { beginUnchecked } from "../../src/engine/reconcile/begin.ts";
import { registerStrategies } from "../../src/engine/register-strategies.ts";
import { insertDueRuns, insertSomeDueRuns } from "../../src/engine/scheduler.ts";
import { SLOT_MS } from "../support/builders.ts";
import { ACCOUNT, createOutside, openLife } from "../support/engine-life.ts";

const DAY_MS = 86_400_000;
const STRATEGIES = 40;
/** As if each check of the monotonic clock came so much after the one before. */
const LOOK_MS = 10;
const OTHER_WALLET = { name: "other", address: toAddress(`0x${"b0".repeat(20)}`) };

/**
 * A daemon of many strategies after ten days, whose clock moves with each check of it.
 * @param count so many strategies; the last one is of another wallet
 */
async function backAfterDays(count = STRATEGIES) {
  const outside = createOutside(SLOT_MS - 10_000, { schedule: { kind: "every", seconds: 30 } });
  const life = openLife(outside);
  const [first] = life.context.settings.strategies;
  if (first === undefined) throw new Error("the life has no strategy");
  const strategies = Array.from({ length: count }, (_, index) => ({
    specHash: first.specHash,
    spec: { ...first.spec, id: `s${index}`, ...(index === count - 1 && { wallet: OTHER_WALLET }) },
  }));
  const passed = { ms: 0, sleeps: 0 };
  const monotonicMs = (): number => {
    passed.ms += LOOK_MS;
    return passed.ms;
  };
  const sleep = async (): Promise<void> => {
    passed.sleeps += 1;
  };
  const clock = {
    nowMs: () => outside.clock.nowMs(),
    monotonicMs,
    sleep,
    sinceBoot: () => outside.clock.sinceBoot(),
  };
  const { settings, deps } = life.context;
  const context = { settings: { ...settings, strategies }, deps: { ...deps, clock } };
  await registerStrategies(context);
  outside.clock.jumpTo(SLOT_MS + 10 * DAY_MS);
  return { outside, life, context, passed };
}

/** The store of a slow disk: each commit takes so long. */
function slowly({ store }: EngineDeps, passed: { ms: number }): EngineDeps["store"] {
  const commit: typeof store.commit = async (units) => {
    passed.ms += 200;
    return await store.commit(units);
  };
  return { ...store, commit };
}

test("after a jump of days no turn holds the event loop for long, and together they leave out nobody", async () => {
  const { life, context, passed } = await backAfterDays();
  const handled: number[] = [];
  for (let isDone = false; !isDone && handled.length < STRATEGIES; ) {
    const before = passed.ms;
    const turn = await insertSomeDueRuns(context);
    isDone = turn.isDone;
    handled.push(turn.runs.length);
    expect(passed.ms - before).toBeLessThanOrEqual(100);
  }
  expect(handled.length).toBeGreaterThan(STRATEGIES / 10);
  expect(handled.reduce((sum, count) => sum + count, 0)).toBe(STRATEGIES);
  const gaps = life.db.prepare("SELECT DISTINCT reason, count FROM gaps").all();
  expect(gaps).toEqual([{ reason: "missed", count: 28_800 }]);
});

test("a turn whose rows took long to read decides on as many slots as any other: a slow disk makes no turn of one", async () => {
  const { context, passed } = await backAfterDays();
  const slow = { ...context, deps: { ...context.deps, store: slowly(context.deps, passed) } };
  const { runs, isDone } = await insertSomeDueRuns(slow);
  expect([runs.length >= 4, isDone]).toEqual([true, false]);
});

test.each([STRATEGIES, 2_001])(
  "a wallet that is not checked yet keeps no other waiting, and goes on within a second once it is: %i strategies",
  async (count) => {
    const { outside, context, passed } = await backAfterDays(count);
    await beginUnchecked(context, [ACCOUNT]);
    const slow = { ...context, deps: { ...context.deps, store: slowly(context.deps, passed) } };
    const last = context.settings.strategies.slice(-1);
    const begun: string[] = [];
    let turns = 0;
    for (let isDone = false; !isDone && turns < 5; turns += 1) {
      const turn = await insertSomeDueRuns(slow);
      begun.push(...turn.runs);
      isDone = turn.isDone;
    }
    expect([begun.length, turns < 5]).toEqual([last.length, true]);
    const decide = () => ({ changes: [{ kind: "checked", wallet: ACCOUNT }] as const, atMs: 1, value: undefined });
    await context.deps.store.commit([{ question: { kind: "nothing" }, decide }]);
    outside.clock.jumpTo(context.deps.clock.nowMs() + 1_000);
    expect((await insertSomeDueRuns(context)).runs.length).toBeGreaterThanOrEqual(4);
  },
);

test("the slots that are due before a request of an operator leave the event loop free between their turns", async () => {
  const { context, passed } = await backAfterDays();
  expect(await insertDueRuns(context)).toHaveLength(STRATEGIES);
  expect(passed.sleeps).toBeGreaterThan(STRATEGIES / 10);
});
