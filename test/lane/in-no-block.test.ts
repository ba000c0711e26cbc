import { expect, test } from "vitest";
import { GWEI, type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

const told = ({ refusals }: LaneWorld): readonly string[] => refusals.flatMap(({ detail }) => detail ?? []);

test("what nodes took and no block has, and that is replaced no more, is told of: all of its account waits for it", async () => {
  const world = await startLaneWorld({ maxReplacements: 1, bumpAfterBlocks: 2 });
  world.submit("a", { purpose: "approve" });
  world.submit("b");
  await world.tick();
  // Blocks have no room for what it offers.
  await world.fullStep(5);
  expect(world.attempts("a").map(({ kind, state }) => [kind, state])).toEqual([
    ["original", "broadcast"],
    ["replacement", "broadcast"],
  ]);
  expect(told(world)).toEqual([]);
  await world.fullStep();
  expect(told(world).at(-1)).toMatch(/approve a of 0x.* \(nonce 0\) .*no block has it.* swapd tx cancel a/);
  expect(world.intent("b").nonce).toBeUndefined();
  await world.lane.cancel("a", "ann");
  await world.step(2);
  expect(world.refusals.findLast(({ intentId }) => intentId === "a")?.detail).toBeUndefined();
  expect(world.intent("b").nonce).toBe(1);
});

test("the same where fees stay above what it may offer, and where its cancellations are used up", async () => {
  const world = await startLaneWorld({ maxCancellations: 1, bumpAfterBlocks: 2 });
  world.submit("a", { purpose: "revoke", maxFeePerGasCap: 3n * GWEI });
  await world.tick();
  await world.fullStep(4);
  expect(world.attempts("a")).toHaveLength(1);
  expect(told(world).at(-1)).toContain("offers at most 3 gwei");
  await world.lane.cancel("a", "ann");
  await world.fullStep(5);
  expect(world.attempts("a").map(({ kind }) => kind)).toEqual(["original", "cancel"]);
  expect(told(world).at(-1)).not.toContain("tx cancel");
});

test("nothing is told of an order that has a deadline: past that it is cancelled", async () => {
  const world = await startLaneWorld({ maxReplacements: 0, bumpAfterBlocks: 2 });
  world.submit("a", { deadlineSeconds: Math.floor(world.clock.nowMs() / 1_000) + 3_600 });
  await world.tick();
  await world.fullStep(8);
  expect([world.attempts("a").length, told(world)]).toEqual([1, []]);
});
