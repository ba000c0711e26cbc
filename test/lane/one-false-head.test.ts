import { describe, expect, it } from "vitest";
import { type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

const FALSE_NUMBER = 50_000_000;

/** The head of another chain, with a number that this one never comes to. */
async function falseHead({ anvil }: LaneWorld): Promise<{ readonly kind: "answer"; readonly result: unknown }> {
  const head = (await anvil.rpc.call("eth_getBlockByNumber", ["latest", false])) as Record<string, unknown>;
  return { kind: "answer", result: { ...head, number: `0x${FALSE_NUMBER.toString(16)}` } };
}

/** A turn asks for its newest block first. */
async function tickAtFalseHead(world: LaneWorld): Promise<void> {
  world.proxy.fault("eth_getBlockByNumber", await falseHead(world), 1);
  await world.tick();
}

// As an approval or a revocation: without a deadline, so that no cancellation comes to its help.
const WITHOUT_END = { deadlineSeconds: undefined };

describe("one head of another chain", () => {
  it.each(["lost by the pool", "too cheap"])(
    "at its broadcast does not keep a transaction that is %s from being sent again or replaced, for ever",
    async (trouble) => {
      const world = await startLaneWorld();
      const to = world.submit("a", WITHOUT_END);
      const behind = world.submit("b", WITHOUT_END);
      await tickAtFalseHead(world);
      expect(world.intent("a").state).toBe("broadcast");
      expect(world.attempts("a")[0]?.lastBroadcastBlock).toBe(FALSE_NUMBER);
      if (trouble === "lost by the pool") {
        await world.anvil.rpc.call("anvil_dropAllTransactions", []);
        world.restart();
      } else {
        await world.fullStep(6);
        expect(world.attempts("a").length).toBeGreaterThan(1);
      }
      await world.step(8);
      expect(world.sends().length).toBeGreaterThan(1);
      expect(await world.received(to)).toBe(5n);
      expect(await world.received(behind)).toBe(5n);
    },
  );

  it("at a replacement does not keep the next one from being signed", async () => {
    const world = await startLaneWorld();
    world.submit("a", WITHOUT_END);
    await world.tick();
    await world.fullStep(3);
    await tickAtFalseHead(world);
    expect(world.attempts("a").at(-1)).toMatchObject({ kind: "replacement", firstBroadcastBlock: FALSE_NUMBER });
    await world.fullStep(6);
    expect(world.attempts("a").length).toBe(3);
  });

  it("does not hide from people what no node takes", async () => {
    const world = await startLaneWorld();
    world.proxy.fault("eth_sendRawTransaction", { kind: "error", message: "exceeds block gas limit" });
    world.submit("a", WITHOUT_END);
    await tickAtFalseHead(world);
    expect(world.attempts("a")[0]?.firstBroadcastBlock).toBe(FALSE_NUMBER);
    await world.step(6);
    expect(world.refusals[0]?.detail).toMatch(/no node takes swap a/);
  });

  it("at which a gap was first seen does not keep it from being filled", async () => {
    const world = await startLaneWorld();
    await world.anvil.mine(3);
    await world.sendForeign(0);
    await world.anvil.mine();
    const to = world.submit("a", WITHOUT_END);
    await world.tick();
    await world.anvil.reorg(1);
    await tickAtFalseHead(world);
    await world.step(12);
    expect(await world.received(to)).toBe(5n);
  });

  it("that is called final does not keep the account from being halted where somebody uses its key", async () => {
    const world = await startLaneWorld();
    world.submit("a");
    await world.tick();
    await world.step(3);
    await world.sendForeign(1);
    await world.anvil.mine();
    world.submit("b");
    const isFinal = ([asked]: readonly unknown[]): boolean => asked === "finalized";
    world.proxy.faultWhere({ method: "eth_getBlockByNumber", where: isFinal }, await falseHead(world));
    // Of a state that nobody else has.
    const isAtBlock = ([, block]: readonly unknown[]): boolean => block !== "latest";
    world.proxy.faultWhere({ method: "eth_getTransactionCount", where: isAtBlock }, { kind: "answer", result: "0x2" });
    await world.tick();
    world.proxy.clear();
    expect(world.halted()).toBeUndefined();
    await world.step(5);
    expect(world.halted()?.reason).toContain("another program uses its key");
  });
});

describe("a rollup that is rolled back below a broadcast", () => {
  it("gets the bytes again before it has grown as high as it was", async () => {
    const world = await startLaneWorld();
    const snapshot = await world.anvil.rpc.call("evm_snapshot", []);
    await world.anvil.mine(40);
    const to = world.submit("a", WITHOUT_END);
    await world.tick();
    await world.anvil.rpc.call("anvil_dropAllTransactions", []);
    await world.anvil.rpc.call("evm_revert", [snapshot]);
    await world.step(6);
    expect(await world.received(to)).toBe(5n);
  });
});
