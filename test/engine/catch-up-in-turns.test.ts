import { expect, test } from "vitest";
import { registerStrategies } from "../../src/engine/register-strategies.ts";
import { insertSomeDueRuns } from "../../src/engine/scheduler.ts";
import { SLOT_MS } from "../support/builders.ts";
import { createOutside, openLife } from "../support/engine-life.ts";

const DAY_MS = 86_400_000;
const STRATEGIES = 40;
/** As if each check of the monotonic clock came so much after the one before. */
const LOOK_MS = 10;

/** A daemon of many strategies after ten days, whose clock moves with each check of it. */
async function backAfterDays() {
  const outside = createOutside(SLOT_MS - 10_000, { schedule: { kind: "every", seconds: 30 } });
  const life = openLife(outside);
  const [first] = life.context.settings.strategies;
  if (first === undefined) throw new Error("the life has no strategy");
  const strategies = Array.from({ length: STRATEGIES }, (_, index) => ({
    specHash: first.specHash,
    spec: { ...first.spec, id: `s${index}` },
  }));
  const passed = { ms: 0 };
  const monotonicMs = (): number => {
    passed.ms += LOOK_MS;
    return passed.ms;
  };
  const { sleep } = outside.clock;
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
  return { life, context, passed };
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
  const { store } = context.deps;
  const commit: typeof store.commit = async (units) => {
    passed.ms += 200;
    return await store.commit(units);
  };
  const slow = { ...context, deps: { ...context.deps, store: { ...store, commit } } };
  const { runs, isDone } = await insertSomeDueRuns(slow);
  expect([runs.length >= 4, isDone]).toEqual([true, false]);
});
