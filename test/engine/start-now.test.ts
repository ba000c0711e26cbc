import { expect, test } from "vitest";
import { runsOf } from "../support/budget-life.ts";
import { NOW_MS, SLOT_MS } from "../support/builders.ts";
import { createOutside, type Life, openLife, turnUntil } from "../support/engine-life.ts";

const HOURLY = { schedule: { kind: "every" as const, seconds: 3_600 }, startsNow: true as const };

function slotsOf(life: Life) {
  return runsOf(life).map(({ slotMs, state }) => [slotMs, state]);
}

test("DCA-21 buys at the moment at which it is first seen, once, and then at its slots", async () => {
  const outside = createOutside(SLOT_MS - 1_500, HOURLY);
  const life = openLife(outside);
  await life.engine.start();
  const isDone = (): boolean => runsOf(life).some(({ state }) => state === "filled");
  expect(await turnUntil(outside, life, { maxSeconds: 60, isDone })).toBe(true);
  expect(slotsOf(life)).toEqual([[SLOT_MS - 2_000, "filled"]]);
  await life.engine.stop();
  life.db.close();
  // A second life knows it already.
  const again = openLife(outside);
  await again.engine.start();
  await turnUntil(outside, again, { maxSeconds: 30, isDone: () => false });
  expect(runsOf(again)).toHaveLength(1);
  expect(again.errors).toEqual([]);
});

test("DCA-21 a kill around the first commit makes no second slot, and loses none", async () => {
  const outside = createOutside(SLOT_MS - 1_500, HOURLY);
  const killed = openLife(outside, { killAt: (label) => label === "commit.started.before" });
  await killed.engine.start();
  expect(await turnUntil(outside, killed, { maxSeconds: 20, isDone: () => killed.isDead() })).toBe(true);
  killed.db.close();
  const life = openLife(outside);
  await life.engine.start();
  const isDone = (): boolean => runsOf(life).some(({ state }) => state === "filled");
  expect(await turnUntil(outside, life, { maxSeconds: 60, isDone })).toBe(true);
  expect(runsOf(life)).toHaveLength(1);
});

test("DCA-21 a daemon that is halted passes the first slot over, with its reason", async () => {
  const outside = createOutside(SLOT_MS - 1_500, HOURLY);
  const life = openLife(outside);
  life.store.setMode({ scope: "global", mode: "halted", setBy: "ops", reason: "r", atMs: NOW_MS - 10_000 });
  await life.engine.start();
  await turnUntil(outside, life, { maxSeconds: 10, isDone: () => false });
  expect(runsOf(life)).toEqual([]);
  expect(life.db.prepare("SELECT reason, count FROM gaps").all()).toEqual([{ reason: "halted", count: 1 }]);
});
