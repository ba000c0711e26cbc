import { expect, test } from "vitest";
import { type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

const told = ({ refusals }: LaneWorld): readonly string[] => refusals.flatMap(({ detail }) => detail ?? []);

async function goesOnOnceShown(world: LaneWorld): Promise<void> {
  world.proxy.clear();
  await world.step(2);
  expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
  expect(world.refusals.findLast(({ intentId }) => intentId === "a")?.detail).toBeUndefined();
  expect(world.intent("b").nonce).toBe(1);
}

test("what is in a final block, and nodes keep no receipt of, is told of until one shows it", async () => {
  const world = await startLaneWorld();
  world.submit("a");
  world.submit("b");
  await world.tick();
  world.proxy.fault("eth_getTransactionReceipt", { kind: "answer", result: null });
  await world.step(30);
  expect(world.halted()).toBeUndefined();
  expect([world.intent("a").state, world.intent("b").nonce]).toEqual(["broadcast", undefined]);
  expect(told(world).at(-1)).toContain("archive node");
  await goesOnOnceShown(world);
});

test("and so is what was seen in that block before its receipt was gone", async () => {
  const world = await startLaneWorld();
  world.submit("a");
  world.submit("b");
  await world.tick();
  await world.step(1);
  expect(world.intent("a").state).toBe("mined");
  world.proxy.fault("eth_getTransactionReceipt", { kind: "answer", result: null });
  await world.step(30);
  expect([world.intent("a").state, world.intent("b").nonce]).toEqual(["mined", undefined]);
  expect(told(world).at(-1)).toContain("archive node");
  await goesOnOnceShown(world);
});
