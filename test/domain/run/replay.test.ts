import { expect, test } from "vitest";
import { replayRun, type StoredRun } from "../../../src/domain/run/replay.ts";
import { dcaSpec } from "../../support/builders.ts";
import { ImaginedWorld } from "../../support/imagined-world.ts";

/** A run that filled, as it would be stored. */
function filledRun(): StoredRun {
  const spec = dcaSpec();
  const setting = { spec, live: true, signatureHasNonce: true, isApproved: true, windowMs: 60_000 };
  const world = new ImaginedWorld(setting, () => undefined);
  world.start();
  world.settle();
  const transitions = world.taken.flatMap(({ result }) => result.transitions);
  return { run: world.run, transitions, steps: world.taken };
}

test("a run comes out as it is stored, step by step", () => {
  const stored = filledRun();
  const { results, difference } = replayRun(stored);
  expect(difference).toBeUndefined();
  expect(stored.run.state).toBe("filled");
  expect(results.at(-1)?.run).toEqual(stored.run);
});

test("what is stored and does not come out is named with its place and both values", () => {
  const stored = filledRun();
  const [swap] = stored.run.swaps;
  if (swap === undefined) throw new Error("the run has no swap");
  const more = { ...stored.run, swaps: [{ ...swap, gross: 1n }] };
  expect(replayRun({ ...stored, run: more }).difference).toEqual({
    ...{ path: "run.swaps.0.gross", stored: 1n, replayed: swap.gross },
  });
  const [first, ...others] = stored.transitions;
  const moved = first === undefined ? others : [{ ...first, reason: "none" }, ...others];
  expect(replayRun({ ...stored, transitions: moved }).difference).toMatchObject({
    ...{ path: "transitions.0.reason", stored: "none", replayed: undefined },
  });
  expect(replayRun({ ...stored, transitions: others }).difference?.path).toBe("transitions.0.from");
});

test("steps that are missing in between do not follow one another", () => {
  const stored = filledRun();
  const [started, , ...others] = stored.steps;
  if (started === undefined) throw new Error("the run has no step");
  expect(() => replayRun({ ...stored, steps: [started, ...others] })).toThrow("has no swap");
});
