import { describe, expect, it } from "vitest";
import type { LaneOptions } from "../../src/lane/lane-context.ts";
import { type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

/** A transaction of the owner's took nonce 0, ours got nonce 1, and a reorganisation took the owner's back for good. */
async function beginBehindAGap(options: Partial<LaneOptions> = {}): Promise<LaneWorld> {
  const world = await startLaneWorld(options);
  await world.anvil.mine(3);
  await world.sendForeign(0);
  await world.anvil.mine();
  world.submit("a");
  await world.tick();
  expect(world.intent("a").nonce).toBe(1);
  await world.anvil.reorg(1);
  expect(await world.count()).toBe(0);
  return world;
}

function fillers(world: LaneWorld): unknown[] {
  return world.db.prepare("SELECT nonce, state FROM lane_intents WHERE id LIKE 'gap.%'").all();
}

describe("a nonce below ours that nothing uses any more", () => {
  it("is filled once the block is final in which it was first seen, by a transaction that moves nothing", async () => {
    const world = await beginBehindAGap({ emptyGasLimit: 1_000_000n });
    await world.step(2);
    expect(fillers(world), "anyone who sent it may send it again").toEqual([]);
    await world.step(3);
    const filler = world.signed.at(-1);
    expect(filler).toMatchObject({ nonce: 0, to: filler?.to, data: "0x", value: 0n, gasLimit: 1_000_000n });
    expect(world.refusals.map(({ intentId, detail }) => [intentId, detail !== undefined])).toContainEqual(["a", true]);
    expect(world.refusals.find(({ detail }) => detail !== undefined)?.detail).toContain("waits for nonce 0");
    await world.step(6);
    expect(fillers(world)).toEqual([{ nonce: 0, state: "final" }]);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    const reported = world.refusals.filter(({ intentId }) => intentId === "a");
    expect(reported.at(-1), "that is over").toEqual({ intentId: "a", detail: undefined });
    expect([await world.count(), world.signed.length, world.halted()]).toEqual([2, 2, undefined]);
  });

  it("is filled once, whatever place the process is killed at", async () => {
    for (const label of ["lane.sign.before", "lane.signed.before", "lane.signed.after", "lane.broadcast.after"]) {
      const world = await beginBehindAGap();
      await world.step(3);
      world.switches.crashAt = (passed) => passed === label;
      await world.step(2).catch(() => undefined);
      world.restart();
      await world.step(10);
      expect(fillers(world), label).toEqual([{ nonce: 0, state: "final" }]);
      expect(world.intent("a"), label).toMatchObject({ state: "final", outcome: "succeeded" });
      expect(await world.count()).toBe(2);
    }
  });

  it("needs nothing where its own transaction comes back", async () => {
    const world = await beginBehindAGap();
    await world.step(2);
    await world.sendForeign(0);
    await world.step(6);
    expect([fillers(world), world.signed.length]).toEqual([[], 1]);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(world.halted()).toBeUndefined();
  });

  it("is reported while nothing may be signed, and what a person has to send", async () => {
    const world = await beginBehindAGap();
    world.switches.signing = false;
    await world.step(8);
    expect([fillers(world), world.signed.length]).toEqual([[], 1]);
    expect(world.refusals.at(-1)?.detail).toContain("send an empty transaction of that account with nonce 0");
    world.switches.signing = true;
    await world.step(12);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
  });

  it("and that the rows know as used gets the same bytes again", async () => {
    const world = await startLaneWorld();
    await world.anvil.mine(3);
    const first = world.submit("a");
    await world.tick();
    await world.step(3);
    expect(world.intent("a").state).toBe("final");
    const next = world.submit("b");
    await world.tick();
    await world.anvil.reorg(4);
    expect(await world.count()).toBe(0);
    await world.step(12);
    expect(world.refusals.find(({ detail }) => detail !== undefined)?.detail).toContain("of a, which is sent again");
    expect(world.intent("b")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect([await world.received(first), await world.received(next), world.signed.length]).toEqual([5n, 5n, 2]);
  });

  it("and that an order had used whose deadline is past is left to a person: sent again it could only revert", async () => {
    const world = await startLaneWorld();
    await world.anvil.mine(3);
    world.submit("a", { deadlineSeconds: Math.floor(world.clock.nowMs() / 1_000) + 60 });
    await world.tick();
    await world.step(3);
    expect(world.intent("a").state).toBe("final");
    world.submit("b");
    await world.tick();
    await world.anvil.reorg(4);
    world.clock.advance(61_000);
    await world.step(12);
    expect(world.refusals.at(-1)?.detail).toContain("send an empty transaction of that account with nonce 0");
    expect(await world.count()).toBe(0);
  });

  it("and that an archived transaction had is left to a person: other bytes than what was signed must not take it", async () => {
    const world = await startLaneWorld();
    await world.anvil.mine(3);
    world.submit("a");
    await world.tick();
    await world.step(3);
    world.submit("b");
    await world.tick();
    world.store.transaction(() => {
      world.db.prepare("INSERT INTO lane_leaving (intent_id) VALUES ('a')").run();
      for (const table of ["lane_costs", "lane_transitions", "lane_signings", "lane_attempts"])
        world.db.prepare(`DELETE FROM ${table} WHERE intent_id = 'a'`).run();
      world.db.prepare("DELETE FROM lane_intents WHERE id = 'a'").run();
      world.db.prepare("DELETE FROM lane_leaving").run();
    });
    await world.anvil.reorg(4);
    await world.step(12);
    expect(world.refusals.at(-1)?.detail).toContain("send an empty transaction of that account with nonce 0");
    expect([fillers(world), await world.count(), world.signed.length]).toEqual([[], 0, 2]);
  });
});
