import { expect, test } from "vitest";
import { GWEI, type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

const told = ({ refusals }: LaneWorld): readonly string[] => refusals.flatMap(({ detail }) => detail ?? []);

/** An order that nodes took, and that is past its deadline by chain and clock; "b" waits behind it. */
async function overdue(change: Parameters<typeof startLaneWorld>[0] = {}, cap = 100n * GWEI): Promise<LaneWorld> {
  const world = await startLaneWorld({ bumpAfterBlocks: 2, maxReplacements: 1, ...change });
  const deadlineSeconds = Math.floor(world.clock.nowMs() / 1_000) + 60;
  world.submit("a", { deadlineSeconds, maxFeePerGasCap: cap });
  world.submit("b", { purpose: "approve" });
  await world.tick();
  await world.fullStep();
  return world;
}

async function pass(world: LaneWorld, seconds: number): Promise<void> {
  world.clock.advance(seconds * 1_000);
  await world.anvil.rpc.call("anvil_increaseTime", [seconds]);
}

test("an order past its deadline whose cancellation may not pay what gas costs is told of, until it ends", async () => {
  const world = await overdue({}, 3n * GWEI);
  await pass(world, 120);
  for (let n = 0; n < 12; n++) {
    await world.baseFee(30);
    await world.step();
  }
  expect(world.attempts("a").map(({ kind }) => kind)).not.toContain("cancel");
  expect(world.intent("b").nonce).toBeUndefined();
  expect(told(world).at(-1)).toMatch(/swap a of 0x.* deadline is past, .*may offer 6 gwei.*base fee is /);
  expect(told(world).at(-1)).toContain("Wait until gas is cheaper: no setting raises that");
  await world.baseFee(1);
  await world.step(4);
  expect(world.intent("a").outcome ?? world.attempts("a").at(-1)?.kind).toMatch(/cancel/);
  await world.step(2);
  expect(world.refusals.findLast(({ intentId }) => intentId === "a")?.detail).toBeUndefined();
  expect(world.intent("b").nonce).toBe(1);
});

test("max_gas_price is advised only where a policy bounds what the cancellation may offer", async () => {
  const world = await overdue({ maxFeePerGas: () => 3n * GWEI }, 3n * GWEI);
  await pass(world, 120);
  for (let n = 0; n < 4; n++) {
    await world.baseFee(30);
    await world.step();
  }
  expect(told(world).at(-1)).toContain("Wait until gas is cheaper, or raise max_gas_price");
});

test("and so is one whose strategy alone is halted, while another one waits behind it", async () => {
  const world = await overdue();
  world.switches.barred.push("a");
  await pass(world, 120);
  await world.fullStep(12);
  expect(world.attempts("a").map(({ kind }) => kind)).not.toContain("cancel");
  expect(world.intent("b").nonce).toBeUndefined();
  expect(told(world).at(-1)).toContain("nothing of its strategy may be signed now, `swapd status` says why");
  world.switches.barred.splice(0);
  await world.step(4);
  expect(world.refusals.findLast(({ intentId }) => intentId === "a")?.detail).toBeUndefined();
  expect(world.intent("b").nonce).toBe(1);
});

test("an approval that was signed while its strategy was halted is told of: it is sent once that is resumed", async () => {
  const world = await startLaneWorld();
  world.submit("a", { purpose: "approve" });
  let n = 0;
  world.switches.between = async () => {
    if (world.signed.length > 0 && n++ === 0) world.switches.barred.push("a");
  };
  await world.tick();
  world.switches.between = undefined;
  world.submit("b");
  await world.step(30);
  expect([world.intent("a").state, world.intent("b").nonce]).toEqual(["signed", undefined]);
  expect(told(world).at(-1)).toMatch(/approve a of .* may not be sent: nothing of its strategy may be signed now/);
  expect(world.sends()).toEqual([]);
  world.switches.barred.splice(0);
  await world.step(4);
  expect(world.intent("a")).toMatchObject({ state: "final", nonce: 0, outcome: "succeeded" });
  expect(world.refusals.findLast(({ intentId }) => intentId === "a")?.detail).toBeUndefined();
});
