import { describe, expect, test } from "vitest";
import { Killed, type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

/** A lane that was killed when "a" had its nonce, at this label; what is signed for "a" then is stored nowhere. */
async function diedAt(label: string): Promise<LaneWorld> {
  const world = await startLaneWorld();
  world.submit("a");
  world.switches.crashAt = (passed) => passed === label;
  await expect(world.tick()).rejects.toThrow(Killed);
  world.restart();
  expect(world.intent("a")).toMatchObject({ state: "planned", nonce: 0 });
  return world;
}

describe("a transaction that has its nonce, and that a halt of its strategy keeps from being signed", () => {
  test.each(["lane.reserve.after", "lane.sign.before", "lane.signed.before"])(
    "does not keep another strategy's waiting after a kill at %s",
    async (label) => {
      const world = await diedAt(label);
      world.switches.barred.push("a");
      const to = world.submit("b");
      await world.step(5);
      expect(world.intent("a")).toMatchObject({ state: "dropped", nonce: undefined });
      expect(world.intent("b")).toMatchObject({ state: "final", nonce: 0, outcome: "succeeded" });
      expect([await world.received(to), await world.count()]).toEqual([5n, 1]);
      expect(new Set(world.sends())).toEqual(new Set(world.attempts("b").map(({ raw }) => raw)));
      expect(world.heard("a")).toEqual(["dropped"]);
    },
  );

  test("is signed once the halt is over where nothing else waited, or nothing that may be signed", async () => {
    const world = await diedAt("lane.reserve.after");
    world.switches.barred.push("a", "b");
    await world.step(2);
    world.submit("b");
    await world.step(2);
    expect([world.intent("a").state, world.sends()]).toEqual(["planned", []]);
    world.switches.barred.shift();
    await world.step(4);
    expect(world.intent("a")).toMatchObject({ state: "final", nonce: 0 });
  });

  test("keeps its nonce where a block has something with that", async () => {
    const world = await diedAt("lane.reserve.after");
    world.switches.barred.push("a");
    world.submit("b");
    await world.sendForeign(0);
    await world.step(4);
    expect([world.intent("a").state, world.intent("b").nonce, world.sends()]).toEqual(["planned", undefined, []]);
  });

  test("keeps its nonce wherever in a turn the halt ends before it was let go", async () => {
    const kept: boolean[] = [];
    for (let n = 1; n < 50; n++) {
      const world = await diedAt("lane.reserve.after");
      world.switches.barred.push("a");
      world.submit("b");
      let answers = 0;
      let then = "";
      world.switches.between = async () => {
        answers += 1;
        if (answers !== n) return;
        then = world.intent("a").state;
        world.switches.barred.splice(0);
      };
      await world.tick();
      world.switches.between = undefined;
      await world.step(6);
      if (then === "") break;
      kept.push(then === "planned");
      expect([n, world.heard("a").includes("dropped")]).toEqual([n, then === "dropped"]);
      const nonces = then === "dropped" ? [undefined, 0] : [0, 1];
      expect([n, world.intent("a").nonce, world.intent("b").nonce]).toEqual([n, ...nonces]);
      expect([n, await world.count()]).toEqual([n, then === "dropped" ? 1 : 2]);
    }
    expect(new Set(kept).size).toBe(2);
    expect(kept.length).toBeGreaterThan(5);
  });

  test("keeps its nonce where its bytes are stored, though nobody was sent them", async () => {
    const world = await startLaneWorld();
    world.submit("a");
    world.switches.crashAt = (passed) => passed === "lane.signed.after";
    await expect(world.tick()).rejects.toThrow(Killed);
    world.restart();
    world.switches.barred.push("a");
    world.submit("b");
    await world.step(3);
    expect([world.intent("a").state, world.intent("b").nonce, world.sends()]).toEqual(["signed", undefined, []]);
  });
});
