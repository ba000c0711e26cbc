import { describe, expect, it } from "vitest";
import { type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

function refuse(world: LaneWorld, message: string, times?: number): void {
  world.proxy.fault("eth_sendRawTransaction", { kind: "error", message }, times);
}

describe("a node that calls our bytes malformed", () => {
  it.each(["invalid sender", "intrinsic gas too low: have 1, want 2", "address already reserved"])(
    "halts the account and keeps the transaction, which the chain may still take: %s",
    async (message) => {
      const world = await startLaneWorld();
      refuse(world, message, 2);
      const to = world.submit("a");
      world.submit("b");
      await world.tick();
      const halt = world.lane.halted();
      expect(halt?.reason).toContain(message);
      expect(halt?.reason).toContain(world.attempts("a")[0]?.hash);
      expect(halt?.reason).toContain("RPC endpoints");
      await world.step();
      world.restart();
      expect(world.logger.lines.filter(({ level }) => level === "error").length).toBe(1);
      expect(world.intent("a")).toMatchObject({ state: "signed", nonce: 0 });
      await world.step(5);
      expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
      expect(await world.received(to)).toBe(5n);
      expect(world.intent("b")).toMatchObject({ state: "planned", nonce: undefined });
      expect(world.signed.length).toBe(1);
      world.lane.release("ann");
      await world.step(4);
      expect(world.intent("b")).toMatchObject({ state: "final", outcome: "succeeded", nonce: 1 });
    },
  );

  it("halts it again after a release, as long as the answer is the same", async () => {
    const world = await startLaneWorld();
    refuse(world, "invalid chain id for signer");
    world.submit("a");
    await world.tick();
    world.lane.release("ann");
    expect(world.lane.halted()).toBeUndefined();
    await world.step();
    expect(world.lane.halted()).toBeDefined();
    expect(world.signed.length).toBe(1);
  });
});

describe("a pool that prefers another transaction", () => {
  it("halts the account when ours is the first at its nonce: somebody else uses the key", async () => {
    const world = await startLaneWorld();
    world.proxy.gethRules(true);
    await world.sendForeign(0);
    const to = world.submit("a");
    world.submit("b");
    await world.tick();
    const halt = world.lane.halted();
    expect(halt?.reason).toContain(`another transaction at nonce 0 than ours (${world.attempts("a")[0]?.hash})`);
    expect(world.intent("a")).toMatchObject({ state: "signed", nonce: 0 });
    world.lane.release("ann");
    await world.step(3);
    // The release accepted nothing that was not in a block: the stranger's transaction is judged when it is final.
    expect(world.lane.halted()?.reason).toContain("finalised block");
    expect(world.intent("a").state).toBe("signed");
    world.lane.release("bob");
    await world.step();
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "cancelled" });
    expect(world.intent("b").nonce).toBe(1);
    expect(await world.received(to)).toBe(0n);
  });

  it("is no reason to halt when that is an older version of ours", async () => {
    const world = await startLaneWorld();
    world.submit("a");
    await world.tick();
    await world.fullStep(3);
    refuse(world, "replacement transaction underpriced");
    await world.fullStep(2);
    expect(world.attempts("a").map(({ kind, state }) => [kind, state])).toEqual([
      ["original", "broadcast"],
      ["replacement", "signed"],
    ]);
    expect(world.lane.halted()).toBeUndefined();
    world.proxy.clear();
    await world.step(4);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
  });

  it("is no reason to halt when it only refuses a fee, or says what nobody knows", async () => {
    const world = await startLaneWorld();
    refuse(world, "tx fee (1.10 ether) exceeds the configured cap (1.00 ether)", 1);
    refuse(world, "something unheard of", 1);
    world.submit("a");
    await world.tick();
    await world.step();
    expect(world.lane.halted()).toBeUndefined();
    await world.step(4);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
  });
});
