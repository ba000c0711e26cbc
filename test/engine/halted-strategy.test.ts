import { expect, test } from "vitest";
import { SLOT_MS } from "../support/builders.ts";
import { createOutside, type Life, openLife, turn } from "../support/engine-life.ts";

const HALT = { mode: "halted", setBy: "ops", reason: "dry run", atMs: 1 } as const;

function intentsOf(life: Life): unknown[] {
  return life.db.prepare("SELECT purpose, state FROM lane_intents ORDER BY created_at_ms, id").all();
}

function strategyOf(life: Life): string {
  return life.db.prepare<[], string>("SELECT strategy FROM runs").pluck().get() ?? "none";
}

/** A life that ended when the lane had its first transaction and had not signed it. */
async function dieBefore(label: string) {
  const outside = createOutside(SLOT_MS - 1_500);
  const life = openLife(outside, { killAt: (passed) => passed === label });
  await life.engine.start();
  await turn(outside, life, 10);
  expect(life.isDead()).toBe(true);
  expect(intentsOf(life)).toEqual([{ purpose: "approve", state: "planned" }]);
  expect(outside.signed).toEqual([]);
  return { outside, strategy: strategyOf(life) };
}

test("what was handed to the lane for a strategy that is halted meanwhile is not signed, and ends unsigned", async () => {
  const { outside, strategy } = await dieBefore("lane.reserve.after");
  const life = openLife(outside);
  life.store.setMode({ ...HALT, scope: strategy });
  await life.engine.start();
  await turn(outside, life, 120);
  expect(life.errors).toEqual([]);
  expect(outside.signed).toEqual([]);
  expect(outside.chain.sent).toEqual([]);
  expect(intentsOf(life)).toEqual([{ purpose: "approve", state: "dropped" }]);
});

test("and the halt of another strategy does not hold it up", async () => {
  const { outside } = await dieBefore("lane.reserve.after");
  const life = openLife(outside);
  life.store.setMode({ ...HALT, scope: "another" });
  await life.engine.start();
  await turn(outside, life, 30);
  expect(life.errors).toEqual([]);
  expect(intentsOf(life)).toEqual([
    { purpose: "approve", state: "final" },
    { purpose: "swap", state: "final" },
  ]);
});
