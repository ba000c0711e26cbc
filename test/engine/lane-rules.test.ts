import { expect, onTestFinished, test } from "vitest";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { laneRules } from "../../src/engine/lane-rules.ts";
import { SLOT_MS } from "../support/builders.ts";
import { createOutside, openLife, turn } from "../support/engine-life.ts";

test("what was planned under an older policy waits while gas costs more than today's allows, and goes on when it does not", async () => {
  const schedule = { kind: "every", seconds: 7_200, anchorSeconds: SLOT_MS / 1_000 } as const;
  const outside = createOutside(SLOT_MS - 1_500, {
    gasless: "never",
    retryForSeconds: 1_800,
    schedule,
  } as Partial<StrategySpec>);
  const before = openLife(outside, { killAt: (passed) => passed === "commit.facts-read.after" });
  await before.engine.start();
  await turn(outside, before, 30);
  expect([before.isDead(), outside.signed]).toEqual([true, []]);
  before.db.close();
  const { policy } = before.context.settings;
  const strict = openLife(outside, { settings: { policy: { ...policy, maxFeePerGas: 1n } } });
  await strict.engine.start();
  await turn(outside, strict, 60);
  expect([outside.signed, strict.errors]).toEqual([[], []]);
  await strict.engine.stop();
  strict.db.close();
  const after = openLife(outside);
  onTestFinished(() => after.engine.stop());
  await after.engine.start();
  await turn(outside, after, 120);
  expect(after.db.prepare("SELECT state FROM runs").pluck().all()).toEqual(["filled"]);
});

test("the lane's ceiling of gas prices is today's policy's, whatever stood when a transaction was planned", () => {
  const outside = createOutside(SLOT_MS);
  const first = openLife(outside);
  const { policy } = first.context.settings;
  first.db.close();
  const life = openLife(outside, { settings: { policy: { ...policy, maxFeePerGas: 7n } } });
  onTestFinished(() => void life.db.close());
  expect(laneRules(life.context).maxFeePerGas()).toBe(7n);
});
