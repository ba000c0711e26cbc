import { expect, test } from "vitest";
import { runsOf } from "../support/budget-life.ts";
import { SLOT_MS, usd } from "../support/builders.ts";
import { createOutside, type Life, type Outside, openLife, turn, turnUntil } from "../support/engine-life.ts";

/** The slot sells a hundred dollars, which a person has to approve. */
const APPROVED = {
  schedule: { kind: "every" as const, seconds: 3_600, anchorSeconds: SLOT_MS / 1_000 },
  ...{ retryForSeconds: 20, approveAboveUsd: usd("99.99"), approveWithinSeconds: 120 },
};

test("wherever the process is killed, what was not approved is never signed, and what was trades once", async () => {
  const play = async (outside: Outside, killAt?: number): Promise<Life> => {
    const life = openLife(outside, { killAt: (_label, passed) => passed.length === killAt });
    await life.engine.start();
    await turn(outside, life, 15);
    return life;
  };
  const whole = createOutside(SLOT_MS - 1_500, APPROVED);
  const places = (await play(whole)).passed.length;
  expect(places).toBeGreaterThan(10);
  for (let place = 1; place <= places; place += 1) {
    const outside = createOutside(SLOT_MS - 1_500, APPROVED);
    const killed = await play(outside, place);
    killed.kill();
    killed.db.close();
    const life = openLife(outside);
    await life.engine.start();
    await turn(outside, life, 15);
    expect([place, outside.signed, codesOf(life)]).toMatchObject([place, [], ["APPROVAL_NEEDED"]]);
    life.store.addRequest({
      command: "approve",
      arguments: { run: runsOf(life)[0]?.id ?? "" },
      madeBy: "ada",
      madeAtMs: outside.clock.nowMs(),
    });
    await turn(outside, life, 3);
    life.kill();
    life.db.close();
    const last = openLife(outside);
    await last.engine.start();
    expect([
      place,
      await turnUntil(outside, last, { maxSeconds: 60, isDone: () => runsOf(last)[0]?.state === "filled" }),
    ]).toEqual([place, true]);
    await turn(outside, last, 30);
    const sales = runsOf(last).flatMap(({ swaps }) => swaps.filter(({ fill }) => fill !== undefined));
    expect([place, sales.length, last.errors]).toEqual([place, 1, []]);
    last.db.close();
  }
});

const codesOf = ({ db }: Life): unknown[] =>
  db.prepare("SELECT code FROM alerts WHERE over_at_ms IS NULL").pluck().all();
