import { expect, test } from "vitest";
import { ANVIL_ACCOUNT } from "../support/bare-anvil.ts";
import { decode, type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

/** Blocks until an intent is over, at most so many. */
async function finish(world: LaneWorld, id: string): Promise<void> {
  for (let turn = 0; turn < 20 && !["final", "dropped"].includes(world.intent(id).state); turn++) await world.step();
}

test("an open transaction is cancelled by a self-transfer at its nonce, under twice its own cap", async () => {
  const world = await startLaneWorld();
  const to = world.submit("a");
  world.submit("b");
  await world.fullStep();
  expect(await world.lane.cancel("a", "ops")).toEqual({ kind: "cancelling", nonce: 0 });
  await world.tick();
  const cancel = decode(world.attempts("a").at(-1)?.raw);
  expect(cancel).toMatchObject({ nonce: 0, value: 0n, data: "0x" });
  expect(cancel.to?.toLowerCase()).toBe(ANVIL_ACCOUNT);
  expect(cancel.maxFeePerGas).toBeLessThanOrEqual(2n * world.intent("a").maxFeePerGasCap);
  await finish(world, "a");
  await finish(world, "b");
  expect(world.intent("a")).toMatchObject({ state: "final", outcome: "cancelled" });
  const end = world.events.findLast(({ intentId }) => intentId === "a");
  expect(end).toMatchObject({ kind: "final", outcome: "cancelled", cancelledBy: "ops" });
  expect(world.intent("b")).toMatchObject({ state: "final", outcome: "succeeded", nonce: 1 });
  expect(await world.received(to)).toBe(0n);
});

test("the chain decides: where the original lands first, it counts and nothing more is sent", async () => {
  const world = await startLaneWorld();
  const to = world.submit("a");
  await world.fullStep();
  expect((await world.lane.cancel("a", "ops")).kind).toBe("cancelling");
  await world.anvil.mine();
  await finish(world, "a");
  expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
  expect(world.events.findLast(({ intentId }) => intentId === "a")?.cancelledBy).toBeUndefined();
  expect(world.attempts("a").map(({ kind }) => kind)).toEqual(["original"]);
  expect(await world.received(to)).toBe(5n);
});

test("what was not signed yet is dropped, and gives its nonce back", async () => {
  const world = await startLaneWorld();
  world.submit("a");
  world.submit("b");
  expect(await world.lane.cancel("a", "ops")).toEqual({ kind: "dropping" });
  await world.tick();
  expect(world.intent("a")).toMatchObject({ state: "dropped", nonce: undefined });
  expect(world.events[0]).toMatchObject({
    intentId: "a",
    kind: "dropped",
    cancelledBy: "ops",
    reason: "ops cancelled it",
  });
  await finish(world, "b");
  expect(world.intent("b")).toMatchObject({ outcome: "succeeded", nonce: 0 });
});

test("what is in a block, over, unknown, or asked for already is left as it is", async () => {
  const world = await startLaneWorld();
  world.submit("a");
  await world.fullStep();
  await world.lane.cancel("a", "ops");
  expect(await world.lane.cancel("a", "somebody")).toEqual({ kind: "asked before", by: "ops" });
  await finish(world, "a");
  expect(await world.lane.cancel("a", "ops")).toEqual({ kind: "too late", state: "final" });
  world.submit("b");
  await world.tick();
  await world.step();
  expect(await world.lane.cancel("b", "ops")).toMatchObject({ kind: "too late" });
  expect(await world.lane.cancel("c", "ops")).toEqual({ kind: "not here" });
});

test("a signed one is refused while nothing may be signed, an unsigned one is dropped all the same", async () => {
  const world = await startLaneWorld();
  world.submit("a");
  await world.fullStep();
  world.submit("b");
  world.switches.signing = false;
  expect(await world.lane.cancel("a", "ops")).toEqual({ kind: "barred" });
  expect(await world.lane.cancel("b", "ops")).toEqual({ kind: "dropping" });
  await world.tick();
  expect(world.intent("b").state).toBe("dropped");
  expect(world.attempts("a")).toHaveLength(1);
});
