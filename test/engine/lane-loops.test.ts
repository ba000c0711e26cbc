import { expect, test } from "vitest";
import { createLaneLoops } from "../../src/engine/lane-loops.ts";
import { NOW_MS } from "../support/builders.ts";
import { ACCOUNT, createOutside, openLife } from "../support/engine-life.ts";
import { quiet } from "../support/fake-clock.ts";

/** A lane whose first look at the chain lasts until it is answered. */
function looping() {
  const outside = createOutside(NOW_MS);
  const life = openLife(outside);
  const answer = Promise.withResolvers<void>();
  const state = { ticks: 0 };
  const tick = async (): Promise<void> => {
    state.ticks += 1;
    await answer.promise;
  };
  const lanes = new Map([[ACCOUNT, { ...life.lane, tick }]]);
  const loops = createLaneLoops({ ...life.context, deps: { ...life.context.deps, lanes } });
  const stop = new AbortController();
  for (const loop of loops.start(stop.signal)) void loop();
  return { ...{ outside, loops, answer, stop }, ticks: () => state.ticks };
}

test("what a lane is handed while it looks at the chain is looked at next, and not at the next poll", async () => {
  const { outside, loops, answer, stop, ticks } = looping();
  loops.wake([ACCOUNT]);
  answer.resolve();
  await quiet();
  await outside.clock.advance(0);
  const after = ticks();
  await outside.clock.advance(0);
  stop.abort();
  expect([after, ticks()]).toEqual([2, 2]);
});

test("a lane that was handed nothing looks again at the next poll", async () => {
  const { outside, answer, stop, ticks } = looping();
  answer.resolve();
  await quiet();
  await outside.clock.advance(0);
  const before = ticks();
  await outside.clock.advance(500);
  stop.abort();
  expect([before, ticks()]).toEqual([1, 2]);
});
