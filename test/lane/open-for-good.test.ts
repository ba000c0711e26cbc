import { expect, test } from "vitest";
import { type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

/** Of a transaction whose nonce was used long ago, as after a copy of yesterday was put back, no node keeps the state. */
function hideOlderStates({ proxy }: LaneWorld): void {
  const where = ([, block]: readonly unknown[]): boolean => /^0x/.test(String(block)) && Number(block) < 30;
  proxy.faultWhere({ method: "eth_getTransactionCount", where }, { kind: "error", message: "missing trie node" });
}

/** Ours did not arrive, and something that no row knows has its nonce; the account was halted and released. */
async function releasedWithoutATrace(): Promise<LaneWorld> {
  const world = await startLaneWorld();
  world.proxy.fault("eth_sendRawTransaction", { kind: "drop-before" });
  world.submit("a");
  world.submit("b");
  await world.tick();
  await world.sendForeign(0);
  await world.anvil.mine(40);
  hideOlderStates(world);
  await world.step(3);
  expect(world.halted()?.reason).toContain("no node shows the transaction");
  world.release("ann");
  expect(world.refusals).toEqual([]);
  await world.step(3);
  return world;
}

test("what used a nonce is shown by no node: who released the account is told what waits, until that is known", async () => {
  const world = await releasedWithoutATrace();
  expect(world.halted()).toBeUndefined();
  expect([world.intent("a").state, world.intent("b").nonce]).toEqual(["signed", undefined]);
  expect(world.refusals.at(-1)).toMatchObject({ intentId: "a", detail: expect.stringContaining("archive node") });
  expect(world.refusals.at(-1)?.detail).toContain("nonce 0 was used in a finalised block");
  world.proxy.clear();
  await world.step();
  expect(world.intent("a")).toMatchObject({ state: "final", outcome: "cancelled" });
  expect(world.refusals.findLast(({ intentId }) => intentId === "a")?.detail).toBeUndefined();
  expect(world.intent("b").nonce).toBe(1);
});

test("a cancellation of a transaction whose nonce is used is refused: it could come into no block", async () => {
  const world = await releasedWithoutATrace();
  expect(await world.lane.cancel("a", "ann")).toEqual({ kind: "nonce used", nonce: 0 });
  await world.step(2);
  expect(world.attempts("a").map(({ kind }) => kind)).toEqual(["original"]);
});
